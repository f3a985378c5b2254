"""Chat pages that are hard to ask, on loopback: `python tests/web/site.py` prints its port and serves until its end.

Each page is /KIND; the answer to "q" is always "Answer to q: ..." in some form, given by the server or by the page's
own script. /log says what was asked, so that tests can tell what was lost, swapped or repeated.
"""

# ruff: noqa: E501 - scripts of pages are long
import asyncio
import base64
import html
import json
import socket
import sys
from collections import defaultdict
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import parse_qs

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Route

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.hostile.pages import PAGES as HOSTILE
from tests.web import hard, idioms, likeness

ASKED: list[str] = []
#: What was pushed by /push, by the line that waits for it.
TASKS: list[asyncio.Task[None]] = []
PUSHED: dict[str, list[str]] = defaultdict(list)
#: What /stream waits for after its first word, and /open opens, by its name.
GATES: dict[str, asyncio.Event] = defaultdict(asyncio.Event)

FORM = '<div id="chat"></div><textarea id="query-input"></textarea><button id="submit-button">Send</button>'
SCRIPT = """
const chat = document.getElementById("chat"), box = document.getElementById("query-input");
const add = (who, text) => { const d = document.createElement("div"); d.className = "message " + who; d.textContent = text; chat.append(d); return d; };
const post = (path, q) => fetch(path, {method: "POST", body: q});
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const take = () => { const q = box.value ?? box.innerText; if ("value" in box) box.value = ""; else box.innerText = ""; return q; };
"""

#: What happens when the button is pressed, by kind of page.
KINDS = {
    "plain": 'add("user", q); const r = await post("/answer", q); add("bot", await r.text());',
    "delayed": 'add("user", q); const w = add("bot", "Thinking..."); const r = await post("/answer?wait=2.5", q); w.textContent = await r.text();',
    "streamed": """add("user", q); const b = document.getElementById("submit-button"); b.disabled = true; const d = add("bot", ""); const r = await post("/stream?" + location.search.slice(1), q);
        const reader = r.body.getReader(), decoder = new TextDecoder();
        for (;;) { const {done, value} = await reader.read(); if (done) break; d.textContent += decoder.decode(value, {stream: true}); } b.disabled = false;""",
    "stream": """add("user", q); const d = add("bot", ""); const r = await post("/stream?" + location.search.slice(1), q);
        const reader = r.body.getReader(), decoder = new TextDecoder();
        for (;;) { const {done, value} = await reader.read(); if (done) break; d.textContent += decoder.decode(value, {stream: true}); }""",
    "drip": 'add("user", q); const d = add("bot", ""); for (const w of ("Answer to " + q + ": one two three").split(" ")) { d.textContent += w + " "; await sleep(w === "two" ? 2500 : 60); }',
    "rerender": """window.log = window.log || []; log.push(["user", q]); render(); const r = await post("/answer", q); const words = (await r.text()).split(" "); log.push(["bot", ""]);
        for (const w of words) { log[log.length - 1][1] += w + " "; render(); await sleep(20); }
        function render() { chat.innerHTML = ""; for (const [who, text] of log) add(who, text); }""",
    "replace": 'const r = await post("/answer", q); chat.innerHTML = "<div id=answer></div>"; await sleep(100); document.getElementById("answer").textContent = await r.text();',
    "same": 'const r = await post("/answer", q); await r.text(); chat.innerHTML = ""; await sleep(100); add("bot", "Always the same answer.");',
    "same_list": 'add("user", q); const r = await post("/answer", q); await r.text(); add("bot", "Always the same answer.");',
    "spinner": 'add("user", q); add("bot", "Loading..."); await sleep(1e9);',
    "alert": 'alert("hello"); add("user", q); const r = await post("/answer", q); add("bot", await r.text()); confirm("sure?");',
    "virtual": """window.log = window.log || []; log.push(q); const r = await post("/answer", q); log.push(await r.text()); chat.innerHTML = "";
        for (const text of log.slice(-2)) add(text === q ? "user" : "bot", text);""",
    "stop": """add("user", q); const d = add("bot", ""); const s = document.createElement("button"); s.setAttribute("aria-label", "Stop"); s.textContent = "x"; document.body.append(s);
        const r = await post("/answer", q); for (const w of (await r.text()).split(" ")) { d.textContent += w + " "; await sleep(w === "to" ? 2500 : 10); } s.remove();""",
    "burst": """add("user", q); const d = add("bot", ""); const s = document.createElement("button"); s.setAttribute("aria-label", "Stop"); s.textContent = "x"; document.body.append(s);
        const r = await post("/answer", q); const t = await r.text(); d.textContent = t.slice(0, 6); await sleep(400 + 80 * q.length); d.textContent = t; s.remove();""",
    "rich": """add("user", q); const r = await post("/answer", q); const t = await r.text(); const d = add("bot", "");
        d.innerHTML = "<h2>Result</h2><p>" + t + " <b>bold</b></p><ul><li>first</li><li>second</li></ul><table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table><pre><code>x = 1\\ny = 2</code></pre><p>See <a href='https://example.org/doc'>the doc</a> <sup>[1]</sup>.</p><button>Copy</button>";
        const s = document.createElement("aside"); s.innerHTML = "<a class='source' href='https://example.org/one'>One</a><a class='source' href='https://example.org/two'>Two</a>"; chat.append(s);""",
    "error": 'add("user", q); console.error("no luck with " + q); if (q.includes("bad")) { await sleep(1e9); } const r = await post("/answer", q); add("bot", await r.text());',
    "memory": 'window.turns = (window.turns || 0) + 1; add("user", q); const r = await post("/answer", q); add("bot", await r.text() + " turn " + window.turns);',
    "formatted": 'add("user", q); add("bot", "").innerHTML = `' + hard.RICH + '`;',
    "forgetful": 'window.log = window.log || []; log.push(["user", q]); render(); await sleep(4600); log.push(["bot", "Always the same answer."]); render(); function render() { chat.innerHTML = ""; for (const [who, text] of log) add(who, text); }',
    "reaches": 'add("user", q); await Promise.all(tries); await sleep(200); const r = await post("/answer", q); add("bot", await r.text());',
    "elsewhere": 'add("user", q); const r = await post(new URLSearchParams(location.search).get("to") + "/answer", q); add("bot", await r.text());',
    "leave_to": 'location.href = new URLSearchParams(location.search).get("to");',
    "limited": 'add("user", q); const r = await post("/limited", q); if (r.ok) add("bot", await r.text());',
    "two_parts": """const d = add("turn", ""); d.innerHTML = "<div class=verdict></div><div class=passages></div>"; const r = await post("/answer", q);
        d.children[1].textContent = "Passage of " + q + ": " + await r.text(); d.children[0].textContent = "Yes to " + q;""",
    "leave": 'location.href = location.href.replace("127.0.0.1", "localhost");',
}  # fmt: skip

SHADOW = """<my-chat></my-chat><script>
customElements.define("my-chat", class extends HTMLElement { connectedCallback() {
  const root = this.attachShadow({mode: "open"});
  root.innerHTML = '<div class="list"></div><input class="q"><button class="go">Go</button>';
  root.querySelector(".go").onclick = async () => { const box = root.querySelector(".q"), q = box.value; box.value = "";
    const list = root.querySelector(".list"); list.innerHTML += "<p>" + q + "</p>"; const r = await fetch("/answer", {method: "POST", body: q});
    const p = document.createElement("p"); p.textContent = await r.text(); list.append(p); };
} });</script>"""


def page(body: str) -> HTMLResponse:
    return HTMLResponse(
        f"<!doctype html><html><head><title>chat</title></head><body><h1>A chat</h1>{body}</body></html>"
    )


async def show(request: Request) -> Response:
    kind = request.path_params["kind"]
    if kind == "shadow":
        return page(SHADOW)
    if kind == "iframe":
        return page('<p>outside</p><iframe src="/plain" width=600 height=400></iframe>')
    if kind == "form":
        return page(hard.FORM_PAGE)
    if (like := {**likeness.PAGES, **likeness.OTHERS}.get(kind)) is not None:
        return page(like)
    if kind.startswith("idiom_"):
        return page(idioms.PAGES[kind.removeprefix("idiom_")])
    if kind == "closed_root":
        return page(hard.CLOSED_PAGE)
    if kind == "login" and request.cookies.get("who") != "me":
        return page("<p>Please log in</p>")
    if kind == "basic":
        wanted = "Basic " + base64.b64encode(b"me:secret-password").decode()
        if request.headers.get("authorization") != wanted:
            return PlainTextResponse("who are you?", 401, {"WWW-Authenticate": "Basic"})
    if kind == "redirect":
        return RedirectResponse(request.query_params.get("to") or f"http://localhost:{request.url.port}/plain")
    if kind == "loop":
        return RedirectResponse("/loop")
    if kind == "blocks_when_opened":
        return page("<script>while (true);</script>")
    if kind == "blocks_once_opened":
        return page("<textarea></textarea><script>setTimeout(() => { while (true); }, 100);</script>")
    if kind == "password":
        return page("<form><input name=user><input name=password type=password><button>Sign in</button></form>")
    if kind == "forbidden":
        return PlainTextResponse("no", 403)
    form = FORM
    if kind == "editable":
        form = FORM.replace(
            '<textarea id="query-input"></textarea>',
            '<div id="query-input" contenteditable="true" style="min-height:2em"></div>',
        )
    if kind == "enter":
        form = FORM.replace(
            '<textarea id="query-input"></textarea><button id="submit-button">Send</button>', '<input id="query-input">'
        )
    if kind == "late":
        form = '<div id="late"></div>'
    form += hard.FORMS.get(kind, "")
    if kind == "wrapper_without_box":
        form = f'<span><div style="display: contents">{form}</div></span>'
    action = {**KINDS, **hard.WHOLE, **hard.SHORT, **hard.ERRORS, **hard.KINDS}.get(kind, KINDS["plain"])
    setup = hard.REACHES if kind == "reaches" else hard.SETUP.get(kind, "")
    if kind in hard.RELUCTANT:
        setup, action = hard.RELUCTANT[kind], ""
    if kind in HOSTILE:
        setup, action = HOSTILE[kind].script(), HOSTILE[kind].action()
    start = "" if kind == "late" or kind in hard.RELUCTANT else "listen();"
    late = (
        f"setTimeout(() => {{ document.getElementById('late').innerHTML = `{FORM}`; wire(); }}, 800);"
        if kind == "late"
        else ""
    )
    listen = (
        'box.addEventListener("keydown", async (e) => { if (e.key !== "Enter") return; e.preventDefault(); const q = take(); ACTION });'
        if kind == "enter"
        else 'document.getElementById("submit-button").addEventListener("click", async () => { const q = take(); ACTION });'
    ).replace("ACTION", action)
    if kind == "late":
        script = f"function wire() {{ {SCRIPT} {listen} }} {late}"
    else:
        script = f"{SCRIPT} {hard.TOOLS} {setup} function listen() {{ {listen} }} {start}"
    return page(f"{form}<script>{script}</script>")


async def answer(request: Request) -> Response:
    question = (await request.body()).decode()
    ASKED.append(question)
    await asyncio.sleep(float(request.query_params.get("wait", "0.05")))
    return PlainTextResponse(f"Answer to {question}: it is so.")


async def limited(request: Request) -> Response:
    """The first time for each question: too many requests."""
    question = (await request.body()).decode()
    ASKED.append(question)
    if ASKED.count(question) == 1:
        return PlainTextResponse("too many requests", 429, {"Retry-After": "1"})
    return PlainTextResponse(f"Answer to {question}: it is so.")


async def stream(request: Request) -> Response:
    question = (await request.body()).decode()
    ASKED.append(question)
    seconds, pause = float(request.query_params.get("seconds", "1")), float(request.query_params.get("pause", "0"))
    words = [
        f"Answer to {question}:",
        *(f"word{i}" for i in range(int(request.query_params.get("words", "10")))),
        "end.",
    ]

    async def send() -> AsyncIterator[str]:
        await asyncio.sleep(float(request.query_params.get("wait", "0")))
        for place, word in enumerate(words):
            yield word + " "
            if "gate" in request.query_params:
                await GATES[request.query_params["gate"]].wait()
            await asyncio.sleep(seconds / len(words))
            if pause and place % 4 == 3:
                await asyncio.sleep(pause)

    return StreamingResponse(send(), media_type="text/plain")


async def form(request: Request) -> Response:
    """A page of the old kind: another one comes, with the answer in it."""
    question = html.escape(parse_qs((await request.body()).decode())["q"][0])
    return page(f"<p>You asked: {question}</p><p class=answer>Answer to {question}: it is so.</p>{hard.FORM_PAGE}")


async def push(request: Request) -> Response:
    """Take a question, and answer it by another line, word by word."""
    words = f"Answer to {(await request.body()).decode()}: it is so.".split(" ")

    async def send() -> None:
        for word in words:
            PUSHED[request.query_params["id"]].append(word)
            await asyncio.sleep(2.0 if word == "Answer" else 0.05)

    TASKS.append(asyncio.create_task(send()))
    return PlainTextResponse("taken")


async def pushed(request: Request) -> Response:
    return PlainTextResponse(" ".join(PUSHED[request.query_params["id"]]))


async def events(request: Request) -> Response:
    async def send() -> AsyncIterator[str]:
        words, sent = PUSHED[request.query_params["id"]], 0
        while not await request.is_disconnected():
            for word in words[sent:]:
                yield f"data: {word}\n\n"
            sent = len(words)
            await asyncio.sleep(0.05)

    return StreamingResponse(send(), media_type="text/event-stream")


async def open_gate(request: Request) -> Response:
    GATES[request.query_params["gate"]].set()
    return PlainTextResponse("open")


async def log(request: Request) -> Response:
    return JSONResponse(ASKED)


app = Starlette(
    routes=[
        Route("/answer", answer, methods=["POST"]),
        Route("/limited", limited, methods=["POST"]),
        Route("/stream", stream, methods=["POST"]),
        Route("/log", log),
        Route("/open", open_gate),
        Route("/form", form, methods=["POST"]),
        Route("/push", push, methods=["POST"]),
        Route("/pushed", pushed),
        Route("/events", events),
        Route("/{kind}", show),
    ]
)


def main() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        print(json.dumps(listening.getsockname()[1]), flush=True)
        server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off"))
        asyncio.run(server.serve(sockets=[listening]))


if __name__ == "__main__":
    main()
