"""Small pages with the structure of chat applications: what stands around their messages, and how they show that they work.

Reduced from what the applications write into a browser. Each page has `user(q)`, `bot()`, which returns the functions
`write(html)` and `end()`, and `fail(text)`. The box sends by Enter.
"""

# ruff: noqa: E501 - scripts of pages are long

from __future__ import annotations

CODE = "x = 1\ny = 2"
#: Questions, and what must be read; the last one fails on the page.
ANSWERS = {
    "Please show some code.": f"Use this:\n\n```\n{CODE}\n```\n\nDone.",
    "Please wait before you answer.": "The archive is in the old harbour.",
    "At what time does it leave?": "10:30",
}
FAILS, ERROR = "Please fail.", "the index is down"

#: The news of a version, over the page until somebody closes it: it has come after the page, and has the focus.
_NEWS = """<script>setTimeout(() => {
  const news = document.createElement("div"); news.innerHTML = '<div role=dialog aria-modal=true tabindex=-1 style="position:fixed;inset:0;background:#fff"><h2>What is new</h2><button aria-label=Close>x</button></div>';
  const close = () => news.remove(); document.body.append(news); news.firstChild.focus(); CLOSE;
}, 50);</script>"""
_NEWS_ESCAPE = _NEWS.replace("CLOSE;", 'addEventListener("keydown", (e) => { if (e.key === "Escape") close(); });')
_NEWS_BUTTON = _NEWS.replace("CLOSE;", 'news.querySelector("button").onclick = close;')

_TALK = """
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const make = (html, place) => { const t = document.createElement("template"); t.innerHTML = html.trim(); const e = t.content.firstElementChild; place.append(e); return e; };
const now = () => new Date().toTimeString().slice(0, 5);
const code = window.CODE || ((text) => `<pre><code class="language-python">${text}</code></pre>`);
const talk = async (q) => {
  user(q);
  if (q.includes("fail")) { await sleep(300); fail("the index is down"); return; }
  const { write, end } = bot();
  if (q.includes("wait")) await sleep(5000);
  const html = q.includes("code") ? ["<p>Use this:</p>", code("x = 1\\ny = 2"), "<p>Done.</p>"] : q.includes("wait") ? ["<p>The archive", " is in the", " old harbour.</p>"] : ["<p>10:30</p>"];
  let all = "";
  for (const part of html) { all += part; write(all); await sleep(150); }
  end();
};
const box = document.querySelector("#box");
box.addEventListener("keydown", (e) => { if (e.key !== "Enter") return; e.preventDefault(); const q = box.value ?? box.textContent; if ("value" in box) box.value = ""; else box.textContent = ""; talk(q); });
"""

_CHAINLIT = """<div id=chat></div><div id=composer><textarea id=box></textarea><button id=chat-submit aria-label="Send message"><svg></svg></button><div id=foot></div></div><script>
const chat = document.querySelector("#chat");
window.CODE = (text) => `<div class="rounded-lg border"><div class="flex"><span class="text-sm">python</span><button>copy</button></div><div><pre><code class="language-python hljs">${text}</code></pre></div></div>`;
const article = (html) => html.replaceAll("<p>", '<div role="article" class="leading-7">').replaceAll("</p>", "</div>");
const user = (q) => { make(`<div data-step-type=user_message class=step><div class=message-content><div role=article>${q}</div></div></div>`, chat);
  document.querySelector("#foot").innerHTML = '<div class="note"><div role=article>LLMs can make mistakes. Check important info.</div></div>'; document.querySelector("#chat-submit").id = "stop-button"; };
const stop = () => { document.querySelector("#stop-button").id = "chat-submit"; };
const bot = () => { const m = make(`<div data-step-type=assistant_message class=step><div class="ai-message flex"><span><span class="rounded-full h-5"><img alt="Avatar for Assistant" width=20 height=20></span></span><div><div class=message-content><div class=prose></div></div></div></div></div>`, chat);
  return { write: (html) => { m.querySelector(".prose").innerHTML = article(html); }, end: stop }; };
const fail = (text) => { make(`<div data-step-type=assistant_message class=step><div class="alert alert-error" role=alert>${text}</div></div>`, chat); stop(); };
"""
_GRADIO = """<div class=wrap><div class="progress-text meta-text" id=status></div><div id=chat></div></div><div><textarea id=box></textarea><button class=submit-button data-testid=submit-button><svg></svg></button></div><script>
const status_ = document.querySelector("#status"), button = document.querySelector("button"); let timer, begun;
const row = (who, html) => make(`<div class="message-row bubble ${who}-row"><div class="${who} message"><div data-testid="${who}"><div class=message-content><span class="md prose">${html}</span></div></div></div></div>`, document.querySelector("#messages") || make("<div id=messages class=message-wrap></div>", document.querySelector("#chat")));
const rest = () => { clearInterval(timer); status_.textContent = ""; button.className = "submit-button"; button.dataset.testid = "submit-button"; document.querySelector("#box").disabled = false; };
const user = (q) => { document.querySelector("#box").disabled = true; row("user", `<p>${q}</p>`); button.className = "stop-button"; button.dataset.testid = "stop-button"; begun = Date.now(); timer = setInterval(() => { status_.textContent = `processing | ${((Date.now() - begun) / 1000).toFixed(1)}/3.1s`; }, 100); };
const bot = () => { let m; return { write: (html) => { m = m || row("bot", ""); m.querySelector(".md").innerHTML = html; }, end: rest }; };
const fail = (text) => { rest(); make(`<div class="toast-wrap"><div class="toast-body error" role=alert><div class="toast-title error">Error</div><div class="toast-text error">${text}</div></div></div>`, document.body); };
"""
_STREAMLIT = """<div data-testid=stApp data-test-script-state=notRunning><div id=chat></div><div data-testid=stBottom><textarea id=box data-testid=stChatInputTextArea></textarea><button data-testid=stChatInputSubmitButton aria-label="Send message">&uarr;</button></div></div><script>
const chat = document.querySelector("#chat"), run = (state) => { document.querySelector("[data-testid=stApp]").dataset.testScriptState = state; };
const message = (who, html) => make(`<div data-testid=stChatMessage class="stChatMessage st-emotion-cache-1fee4w7"><div data-testid="stChatMessageAvatar${who === "user" ? "User" : "Assistant"}" aria-hidden=true><span data-testid=stIconMaterial>smart_toy</span></div><div data-testid=stChatMessageContent aria-label="Chat message from ${who}"><div data-testid=stMarkdownContainer>${html}</div></div></div>`, chat);
const user = (q) => { message("user", `<p>${q}</p>`); run("running"); };
const bot = () => { const m = message("assistant", ""); return { write: (html) => { m.querySelector("[data-testid=stMarkdownContainer]").innerHTML = html; }, end: () => run("notRunning") }; };
const fail = (text) => { const m = message("assistant", ""); m.querySelector("[data-testid=stMarkdownContainer]").innerHTML = `<div class=stException data-testid=stException><p>RuntimeError: ${text}</p><div>Traceback:</div><pre><code>File "app.py", line 17</code></pre></div>`; run("notRunning"); };
"""
_NICEGUI = """<div id=chat class=column></div><footer class=q-footer><input id=box class=q-field__native></footer><script>
const chat = document.querySelector("#chat"); let n = 8;
const message = (who, side) => make(`<div class="q-message q-message-${side}" id="c${n++}"><div class="q-message-container row"><div><div class="q-message-name q-message-name--${side}">${who}</div><div class="q-message-text q-message-text--${side}"><div class="q-message-text-content q-message-text-content--${side}"><div><div id="c${n++}" class=nicegui-markdown></div></div></div></div></div></div></div>`, chat);
const user = (q) => { message("You", "sent").querySelector(".nicegui-markdown").textContent = q; };
const bot = () => { const m = message("Bot", "received"); return { write: (html) => { m.querySelector(".nicegui-markdown").innerHTML = html; }, end: () => {} }; };
const fail = (text) => { message("Bot", "received"); make(`<div class=q-notifications><div class="q-notification bg-negative text-white" role=alert><i class="q-icon material-icons" aria-hidden=true>warning</i><div class=q-notification__message>Error: ${text}</div></div></div>`, document.body); };
"""
_PANEL = """<div id=chat></div><div><textarea id=box></textarea><button class=bk-btn>Send</button></div><script>
const chat = document.querySelector("#chat"), button = document.querySelector("button"); let blink;
const nest = (place, name, html) => { const host = make(`<div class="${name}"></div>`, place); const root = host.attachShadow({ mode: "open" }); if (html !== undefined) root.innerHTML = `<div>${html}</div>`; return root; };
const message = (who, face, html) => { const m = nest(chat, "bk-Row chat-message"); nest(nest(m, "left"), "avatar", face); const right = nest(m, "right"), meta = nest(right, "bk-Row meta"); nest(meta, "name", who); const dot = nest(meta, "activity-dot", "");
  const text = nest(nest(nest(right, "bk-Row center"), "placeholder"), "markdown message", html); nest(right, "timestamp", now()); return { text, dot }; };
const user = (q) => { message("User", "U", `<p>${q}</p>`); button.disabled = true; };
const bot = () => { const { text, dot } = message("Assistant", "A", ""); blink = setInterval(() => { dot.firstChild.textContent = dot.firstChild.textContent ? "" : "\\u25cf"; }, 150);
  return { write: (html) => { text.firstChild.innerHTML = html; }, end: () => { button.disabled = false; } }; };
const fail = (text) => { message("Exception", "E", `<p>Encountered <code>RuntimeError('${text}')</code>.</p>`); button.disabled = false; };
"""
_OPEN_WEBUI = """<div id=place></div><div id=composer><div id=box contenteditable=true class=ProseMirror></div><button id=send-message-button type=submit>&uarr;</button><p class=hint>Models can make mistakes</p></div><script>
const conversation = () => document.querySelector("#chat") || make("<div id=chat></div>", document.querySelector("#place"));
window.CODE = (text) => `<div class="code relative"><div class="sticky"><div class=flex-1><div style="display:flex"><span class=truncate>python</span></div></div><div class=tools><button>Copy</button></div></div><div class=cm-editor><div class=cm-scroller><div class=cm-content contenteditable=true role=textbox>${text.split("\\n").map((line) => `<div class=cm-line>${line}</div>`).join("")}</div></div></div></div>`;
const user = (q) => { make(`<div class=user-message><div class=chat-user>${q}</div></div>`, conversation()); make('<button aria-label="Stop">x</button>', document.querySelector("#composer")); };
const stop = () => document.querySelector("[aria-label=Stop]").remove();
const bot = () => { const m = make(`<div class="flex"><img class="rounded-full" alt="profile" width=28 height=28><div><div class=line-clamp-1>llama-3</div><div class="chat-assistant"><div class="markdown-prose"></div></div></div></div>`, conversation()); return { write: (html) => { m.querySelector(".markdown-prose").innerHTML = html; }, end: stop }; };
const fail = (text) => { make(`<div><div class="chat-assistant"><div class="flex border border-red-600/10 bg-red-600/10 text-red-500"><div>${text}</div></div></div></div>`, conversation()); stop(); };
"""
#: A paragraph stands alone, several have a box around them; the form is there only while the page waits for a question.
_PYWEBIO = """<div class=pywebio><div id=pywebio-scope-ROOT><div><div class=webio-scrollable><div class=pywebio-scope-SoF7XxtOqv id=chat></div></div></div></div><div id=input-cards><div class=card><form><input id=box name=data></form></div></div></div><script>
const chat = document.querySelector("#chat"), card = document.querySelector(".card");
const user = (q) => { make(`<p><strong>You</strong>: ${q}</p>`, chat); card.hidden = true; };
const bot = () => { let all; return { write: (html) => { all = html; }, end: () => { const whole = make(`<div>${all}</div>`, document.createElement("div")); chat.append(whole.children.length > 1 ? whole : whole.firstElementChild); card.hidden = false; } }; };
const fail = (text) => { make(`<div class="toastify on">An internal error occurred in the application: ${text}</div>`, document.body); };
"""
#: A page that nobody knows, with names that say little: who wrote a message, a letter in a circle, when, on which side. Its
#: greeting is written when the question is there already.
_UNKNOWN = """<div id=k1><section class="b1 b1-start"><div class=b3><div class=b4>Mira</div><div class=b5 id=greeting></div></div></section></div><div id=k2><textarea id=box></textarea><div class=a0>Version 7</div></div><script>
const message = (who, side, html) => make(`<section class="b1 b1-${side}"><div class=b2 style="width:32px;height:32px;border-radius:50%">${who[0]}</div><div class=b3><div class=b4>${who}</div><div class=b5>${html}</div><div class=b6>${now()}</div></div></section>`, document.querySelector("#k1"));
const user = (q) => { message("Ann Lee", "end", q); document.querySelector("#greeting").innerHTML = "<p>Hello, I am here to help you with whatever you want to know.</p>"; };
const bot = () => { const m = message("Mira", "start", ""); return { write: (html) => { m.querySelector(".b5").innerHTML = html; }, end: () => {} }; };
const fail = (text) => { message("Mira", "start", `Something went wrong: ${text}`); };
"""
#: The same without a name at the question: what the messages of two answers have in common is no part of them.
_NAMELESS = """<div id=k1></div><div id=k2><textarea id=box></textarea></div><script>
const user = (q) => { make(`<p class=q>${q}</p>`, document.querySelector("#k1")); };
const bot = () => { const m = make(`<section class=b1><div class=b4>Mira</div><div class=b5></div></section>`, document.querySelector("#k1")); return { write: (html) => { m.querySelector(".b5").innerHTML = html; }, end: () => {} }; };
const fail = () => {};
"""
NAMELESS = "like_nameless"
#: A conversation that is read aloud, and something else that is new beside it.
_LOG = """<div id=k1 role=log aria-live=polite></div><aside id=k3></aside><div id=k2><textarea id=box></textarea></div><script>
const user = (q) => { make(`<p class=q>${q}</p>`, document.querySelector("#k1")); make("<p>Have you heard of our summer offers? They are longer than any answer.</p>", document.querySelector("#k3")); };
const bot = () => { const m = make("<div></div>", document.querySelector("#k1")); return { write: (html) => { m.innerHTML = html; }, end: () => {} }; };
const fail = (text) => { make(`<p>Error: ${text}</p>`, document.querySelector("#k1")); };
"""
_DIALOGS = {"open_webui": _NEWS_ESCAPE, "unknown": _NEWS_BUTTON}
PAGES = {
    f"like_{name}": f"{page}{_TALK}</script>{_DIALOGS.get(name, '')}"
    for name, page in {
        "chainlit": _CHAINLIT, "gradio": _GRADIO, "streamlit": _STREAMLIT, "nicegui": _NICEGUI, "panel": _PANEL,
        "pywebio": _PYWEBIO,
        "open_webui": _OPEN_WEBUI, "unknown": _UNKNOWN, "log": _LOG,
    }.items()
}  # fmt: skip
OTHERS = {NAMELESS: f"{_NAMELESS}{_TALK}</script>"}
