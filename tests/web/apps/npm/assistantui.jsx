// assistant-ui's primitives, in the structure of its template. Bundled by esbuild.
import { AssistantRuntimeProvider, ComposerPrimitive, ErrorPrimitive, MessagePrimitive, ThreadPrimitive, useLocalRuntime } from "@assistant-ui/react";
import { createRoot } from "react-dom/client";
import React from "react";

const model = {
  async *run({ messages, abortSignal }) {
    const question = messages.at(-1).content.map((part) => part.text).join("");
    const reply = await fetch("/answer", { method: "POST", body: question, signal: abortSignal });
    if (!reply.ok) throw new Error((await reply.json()).error);
    const reader = reply.body.getReader(), decoder = new TextDecoder();
    let text = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      text += decoder.decode(value, { stream: true });
      yield { content: [{ type: "text", text }] };
    }
  },
};
const UserMessage = () => <MessagePrimitive.Root className="aui-user-message-root" data-role="user"><div className="aui-user-message-content"><MessagePrimitive.Parts /></div></MessagePrimitive.Root>;
const AssistantMessage = () => (
  <MessagePrimitive.Root className="aui-assistant-message-root" data-role="assistant">
    <div className="aui-assistant-message-content" style={{ whiteSpace: "pre-wrap" }}><MessagePrimitive.Parts />
      <MessagePrimitive.Error><ErrorPrimitive.Root className="aui-message-error-root"><ErrorPrimitive.Message /></ErrorPrimitive.Root></MessagePrimitive.Error>
    </div>
  </MessagePrimitive.Root>
);
const App = () => (
  <AssistantRuntimeProvider runtime={useLocalRuntime(model)}>
    <ThreadPrimitive.Root className="aui-root aui-thread-root"><ThreadPrimitive.Viewport className="aui-thread-viewport">
      <ThreadPrimitive.Messages components={{ UserMessage, AssistantMessage }} />
      <ComposerPrimitive.Root className="aui-composer-root"><ComposerPrimitive.Input className="aui-composer-input" placeholder="Send a message..." />
        <ThreadPrimitive.If running={false}><ComposerPrimitive.Send className="aui-composer-send">Send</ComposerPrimitive.Send></ThreadPrimitive.If>
        <ThreadPrimitive.If running><ComposerPrimitive.Cancel className="aui-composer-cancel" aria-label="Stop generating">x</ComposerPrimitive.Cancel></ThreadPrimitive.If>
      </ComposerPrimitive.Root>
    </ThreadPrimitive.Viewport></ThreadPrimitive.Root>
  </AssistantRuntimeProvider>
);
createRoot(document.getElementById("root")).render(<App />);
