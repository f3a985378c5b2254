"""Solara's chat, as in its example: `solara run solara_app.py --no-open --production --port PORT`."""

import solara
import solara.lab
from answers import astream

messages = solara.reactive([])


@solara.lab.task
async def answer():
    text = ""
    before = messages.value
    messages.value = [*before, {"role": "assistant", "content": ""}]
    async for word in astream(before[-1]["content"]):
        text += word
        messages.value = [*before, {"role": "assistant", "content": text}]


@solara.component
def Page():
    def send(text):
        messages.value = [*messages.value, {"role": "user", "content": text}]
        answer()

    with solara.Column(style={"width": "700px", "height": "80vh"}):
        with solara.lab.ChatBox():
            for message in messages.value:
                is_user = message["role"] == "user"
                with solara.lab.ChatMessage(user=is_user, avatar=False, name="User" if is_user else "Assistant"):
                    solara.Markdown(message["content"])
        if answer.pending:
            solara.Text("I'm thinking...")
        solara.lab.ChatInput(send_callback=send, disabled=answer.pending)
