"""Pages that are hard to read: what they do when a question is sent, by what makes them hard.

`say(text, pauses)` types a text word by word, resting after some of them; `show(html)` adds a block to the chat.
"""

# ruff: noqa: E501 - scripts of pages are long

TOOLS = """
const show = (html, place = chat) => { const d = document.createElement("div"); d.innerHTML = html; place.append(d); return d; };
const say = async (text, pauses = {}, d = add("bot", "")) => { for (const w of text.split(" ")) { d.textContent += w + " "; await sleep(pauses[w] || 30); } };
const told = (q) => "Answer to " + q + ": it is so.";
const stop = async (html, q) => { add("user", q); const s = show(html); await say(told(q), {to: 4300}); s.remove(); };
"""

#: Kinds of pages whose answer is "Answer to QUESTION: it is so."
WHOLE = {
    "typed_after_the_request": 'add("user", q); const t = await (await post("/answer", q)).text(); await say(t, {Answer: 2500, is: 1500});',
    "animated": """add("user", q); const t = await (await post("/answer", q)).text(), d = add("bot", ""), begun = performance.now();
        const draw = () => { d.textContent = performance.now() - begun < 2000 ? t.slice(0, 6) : t; if (d.textContent !== t) requestAnimationFrame(draw); }; draw();""",
    "line_open_before": 'add("user", q); window.d = add("bot", ""); await post("/push?id=" + line, q);',
    "polled": 'add("user", q); window.d = add("bot", ""); await post("/push?id=" + line, q);',
    "stop_by_text": 'add("user", q); const b = document.getElementById("submit-button"); b.textContent = "Stop generating"; await say(told(q), {to: 4300}); b.textContent = "Send";',
    "stop_by_title": 'await stop("<button title=Stop>&#9632;</button>", q);',
    "stop_by_class": 'await stop("<div role=button class=btn-stop><svg width=9 height=9></svg></div>", q);',
    "stop_in_spanish": 'await stop("<button>Detener</button>", q);',
    "stop_for_ever": 'add("user", q); add("bot", await (await post("/answer", q)).text());',
    "busy_until_it_begins": 'add("user", q); const d = add("bot", ""); d.setAttribute("aria-busy", "true"); await sleep(300); d.removeAttribute("aria-busy"); await say(told(q), {to: 1500}, d);',
    "box_off": 'add("user", q); box.disabled = true; await say(told(q), {to: 4300}); box.disabled = false;',
    "clock": 'add("user", q); add("bot", await (await post("/answer", q)).text());',
    "counter": 'add("user", q); show.count(); await sleep(4600); add("bot", told(q));',
    "is_typing": 'add("user", q); const w = add("bot", "The assistant is typing"); await sleep(4300); w.textContent = "Reading the documents..."; await sleep(500); w.textContent = told(q);',
    "wrapper_without_box": 'add("user", q); add("bot", await (await post("/answer", q)).text());',
    "field": 'await sleep(200); document.getElementById("out").value = told(q);',
    "read_aloud": """add("user", q); await say(told(q)); const d = show("Bot said, and a screen reader reads it: " + told(q), document.body);
        d.style = "position: absolute; clip: rect(0, 0, 0, 0)";""",
    "form": "",
    "closed_root": "",
}  # fmt: skip

#: Kinds of pages whose answer is "Paris."; what else is new on them is longer.
SHORT = {
    "notice": 'add("user", q); show("Your question was saved in the history", document.body).style = "position: fixed; top: 0"; await sleep(4600); add("bot", "Paris.");',
    "next_questions": 'add("user", q); add("bot", "Paris."); await sleep(300); show("<p>Tell me more about this city, please</p>", document.body).style = "cursor: pointer";',
    "named_echo": 'show("<b>You</b> " + q); await sleep(4600); add("bot", "Paris.");',
    "quoted_echo": 'add("user", "\\u201c" + q.toUpperCase() + "\\u201d 10:32"); await sleep(4600); add("bot", "Paris.");',
    "newest_first": 'chat.prepend(add("user", q)); await post("/answer", q); chat.prepend(add("bot", "Paris."));',
    "titled": 'add("user", q); document.querySelector("h1").textContent = q.slice(0, 12) + "..."; await sleep(4600); add("bot", "Paris.");',
}  # fmt: skip

#: What else such a page has from its beginning: in its body, and in its script.
FORMS = {
    "covered": "<div id=banner style='position: fixed; inset: 0'>Do you like cookies?</div>",
    "stop_for_ever": "<button aria-label='Stop sharing'>x</button><p aria-busy=true>.</p>",
    "field": "<textarea id=out readonly></textarea>",
}
SETUP = {
    "line_open_before": 'const line = Math.random(); new EventSource("/events?id=" + line).onmessage = (m) => { window.d.textContent += m.data + " "; };',
    "polled": """const line = Math.random(); setInterval(async () => { const t = await (await fetch("/pushed?id=" + line)).text();
        if (window.d && d.textContent !== t) d.textContent = t; }, 500);""",
    "clock": 'const c = add("clock", "0", document.body); setInterval(() => { c.textContent = Date.now(); }, 200);',
    "counter": 'const c = add("count", "5 people are here", document.body); show.count = () => { c.textContent = "7 people are here"; };',
}  # fmt: skip
FORM_PAGE = (
    '<form method=post action=/form><input id="query-input" name=q><button id="submit-button">Send</button></form>'
)
CLOSED_PAGE = """<my-chat></my-chat><script>customElements.define("my-chat", class extends HTMLElement { connectedCallback() {
  const root = this.attachShadow({mode: "closed"}), find = (s) => root.querySelector(s);
  root.innerHTML = '<input id="query-input"><button id="submit-button">Go</button>';
  find("button").onclick = () => { const p = document.createElement("p"); p.textContent = "Answer to " + find("input").value + ": it is so.";
    if (this.shadowRoot === null) root.append(p); }; } });</script>"""
RICH = """<p>One<br>two</p><ul><li><p>loose</p></li><li>tight<ol><li>inner</li></ol></li></ul><pre><code>def f():
    return 1</code></pre><div style="white-space: pre-wrap">a
  b</div><table><tr><th>x</th><td>1</td></tr><tr><th>y</th><td>2</td></tr></table><p>See &#8203;<a href="https://example.org/doc">the doc</a>&#8203;<sup style="cursor: pointer">[1]</sup>
<math><semantics><mi>x</mi><annotation encoding="application/x-tex">x^2</annotation></semantics></math></p><details><summary>More</summary>folded</details><button>Copy</button>"""

#: A page that reaches for another origin in every way, and answers once each has come to its end. The window comes last:
#: in Chromium's headless shell a frame that fails to load while a window opens never has its load event.
REACHES = """const to = new URLSearchParams(location.search).get("to"), tries = [];
const attempt = (start) => tries.push(new Promise((done) => start(done)));
const asked = (path) => attempt((done) => fetch(path, {mode: "no-cors"}).then(done, done));
const loaded = (tag, fields) => attempt((done) => { const e = document.createElement(tag); e.onload = e.onerror = done; Object.assign(e, fields); document.body.append(e); });
asked(to + "/fetch"); asked("/redirect?to=" + to + "/redirected");
loaded("iframe", {src: to + "/iframe"}); loaded("iframe", {src: "/redirect?to=" + to + "/iframe-redirected"}); loaded("img", {src: to + "/image"}); loaded("script", {src: to + "/script"});
loaded("link", {rel: "stylesheet", href: to + "/style"});
attempt((done) => { const s = new WebSocket(to.replace("http", "ws") + "/socket"); s.onclose = done; });
attempt((done) => { const s = new EventSource(to + "/events"); s.onerror = () => { s.close(); done(); }; });
const work = (name) => URL.createObjectURL(new Blob([`const end = (port) => { fetch("${to}/${name}", {mode: "no-cors"}).catch(() => {}).then(() => {
    const s = new WebSocket("${to.replace("http", "ws")}/${name}-socket"); s.onclose = () => port.postMessage(1); }); }; self.onconnect = (e) => end(e.ports[0]); if (self.postMessage) end(self);`]));
attempt((done) => { new Worker(work("worker")).onmessage = done; });
attempt((done) => { new SharedWorker(work("shared-worker")).port.onmessage = done; });
navigator.sendBeacon(to + "/beacon", "x");
document.body.append(Object.assign(document.createElement("link"), {rel: "preconnect", href: to}));
Promise.all(tries).then(() => window.open(to + "/window"));
"""
#: Where that page goes.
REACHED = {
    "fetch", "redirected", "iframe", "iframe-redirected", "image", "script", "style", "socket", "events", "worker",
    "worker-socket", "shared-worker", "shared-worker-socket", "beacon", "window",
}  # fmt: skip

_ASK = 'const ask = () => { const q = box.value; box.value = ""; add("user", q); add("bot", told(q)); };'
#: Pages that do not take a question at once, or not by Enter: the box alone, and what is done with it. An answer is given.
RELUCTANT = {
    "ready_later": _ASK + ' setTimeout(() => box.addEventListener("keydown", (e) => { if (e.key === "Enter") { e.preventDefault(); ask(); } }), 3000);',
    "button_only": _ASK + ' document.getElementById("submit-button").onclick = ask;',
    "loses_its_text": _ASK + ' setTimeout(() => { box.value = ""; box.addEventListener("keydown", (e) => { if (e.key === "Enter") { e.preventDefault(); ask(); } }); }, 1500);',
    "keeps_its_text": 'box.addEventListener("keydown", async (e) => { if (e.key !== "Enter") return; e.preventDefault(); window.n = (window.n || 0) + 1; const r = await post("/answer?wait=4", box.value); add("bot", (await r.text()).replace("so", n === 1 ? "so" : "asked again")); });',
    "never_takes": "",
}  # fmt: skip

#: Pages that show an error, or something that looks like one.
ERRORS = {
    "toast": 'add("user", q); await sleep(200); const t = show("The model can\'t be reached, try again", document.body); t.setAttribute("role", "alert");',
    "red_box": 'add("user", q); await sleep(200); show("<div class=message-error>No quota left</div>");',
    "says_so": 'add("user", q); await sleep(200); add("bot", "Something went wrong. Please try again later.");',
    "refused": 'add("user", q); await post("/nowhere", q);',
    "breaks_off": 'add("user", q); const d = add("bot", "Answer to "); await sleep(300); show("<div class=error>Connection lost</div>");',
    "gives_up": 'add("user", q); const s = show("<button aria-label=Stop>x</button>"); await sleep(500); s.remove();',
    "about_errors": 'add("user", q); const d = add("bot", ""); d.innerHTML = "<p>An error of 5% was found</p><pre><code>Traceback (most recent call last):\\n  x</code></pre><p>it is so.</p>";',
    "error_elsewhere": 'add("user", q); const d = add("bot", "Answer to "); await sleep(200); show("Could not save the history", document.body).setAttribute("role", "alert"); for (let i = 0; i < 30; i++) { await sleep(100); d.textContent += "word "; } d.textContent += "it is so.";',
}  # fmt: skip
KINDS = {
    "loads_again": 'add("user", q); const asked = await (await fetch("/log")).text(), t = await (await post("/answer", q)).text(); if (asked.includes(q)) add("bot", t); else location.reload();',
    "keeps_all": """const known = [localStorage, sessionStorage, document.cookie, window.name].map((s) => s.length).reduce((a, b) => a + b) + history.length - 2; add("user", q);
        const t = await (await post("/answer", q)).text(); add("bot", t + " I know of " + known); localStorage.a = sessionStorage.b = window.name = q; document.cookie = "c=" + encodeURIComponent(q);
        history.pushState(q, ""); for (const event of ["beforeunload", "pagehide", "unload"]) addEventListener(event, () => { sessionStorage.c = window.name = localStorage.d = q; });""",
    "numbered_ids": 'window.n = (window.n || 8) + 1; add("user", q); const t = await (await post("/answer", q)).text(); const d = show(t); d.id = "c" + n; d.className = "reply css-1x2y3z";',
    "label_only": 'add("user", q); show("<div class=name>Bot</div><div>" + new Date().toTimeString().slice(0, 5) + "</div>"); window.d = show(""); let n = 0; setInterval(() => { d.textContent = "0." + n++ + "/3.1s"; }, 100);',
    "no_font": 'add("user", q); const f = new FontFace("f", "url(/nowhere.woff2)"); f.load().catch(() => {}); console.error("Failed to decode downloaded font: /nowhere.woff2");',
}  # fmt: skip
