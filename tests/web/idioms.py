"""Small chat pages with the idioms of known products, each of which misleads a reader in its own way.

Each page has a function `reply(q, a)` that shows a question and its answer. The answers are those of `ANSWERS`.
"""

# ruff: noqa: E501 - scripts of pages are long

from __future__ import annotations

import json

#: Questions and answers: the page gives them, and they must be read exactly so.
ANSWERS = {
    "When does the museum open?": "The museum opens at nine in the morning.",
    "Who wrote the report?": "Ann Lee, in 2019, with two of her students.",
    "Where is the old archive?": "In the harbour, behind the fish market.",
    "Which fruits are red?": "Apples and cherries are.",
    "At what time does the train leave?": "10:30",
}

_TALK = """
const ANSWERS = DATA, chat = document.querySelector("#chat"), box = document.querySelector("#box");
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const make = (html, place = chat) => { const t = document.createElement("template"); t.innerHTML = html.trim(); const e = t.content.firstElementChild; place.append(e); return e; };
let count = 0;
const now = () => new Date().toLocaleString("en-US", {month: "long", day: "numeric", hour: "numeric", minute: "2-digit"}).replace(",", " at").replace(" at at", " at");
const type = async (element, a) => { for (const word of a.split(" ")) { element.textContent += (element.textContent ? " " : "") + word; await sleep(120); } };
const ask = async () => { const q = box.value; if (!q) return; box.value = ""; count++; await reply(q, ANSWERS[q] || "I have no answer to " + q); };
const wire = () => { box.addEventListener("keydown", (e) => { if (e.key === "Enter") { e.preventDefault(); ask(); } }); };
wire();
"""
_FORM = "<div id=chat></div><textarea id=box></textarea>"
_PAIR = "make(`<div class=msg><b>You:</b> <span>${q}</span></div>`);"

#: What each page has at its beginning, and its function.
_PAGES = {
    "bot_colon": (_FORM, "make(`<div class=line><strong>You:</strong> ${q}</div>`); await sleep(200); make(`<div class=line><strong>Bot:</strong> ${a}</div>`);"),
    "bot_colon_text": (_FORM, "make(`<p>You: ${q}</p>`); await sleep(200); make(`<p>Bot: ${a}</p>`);"),
    "read_aloud": (_FORM + "<style>.vh { position: absolute; width: 1px; height: 1px; overflow: hidden; } .far { position: absolute; left: -9999px; }</style>",
        "make(`<div class=row><span class=vh>You said:</span><div class=text>${q}</div></div>`); await sleep(200); make(`<div class=row><span class=vh>Assistant said:</span><div class=text>${a}</div><div class=far>The assistant said ${a}</div></div>`);"),
    "helpful": (_FORM, "make(`<div class=you>${q}</div>`); await sleep(200); make(`<div class=it><div>${a}</div><div><span>Was this helpful?</span> <span>Yes</span> <span>No</span></div></div>`);"),
    "sent_at": (_FORM, "make(`<div class=bubble><div class=content><p>${q}</p></div><span class=status>Sent at ${now()}</span></div>`); await sleep(200); make(`<div class=bubble><div class=content><p>${a}</p></div><span class=status>Sent at ${now()}</span></div>`);"),
    "sent_at_without_names": (_FORM, "make(`<div><p>${q}</p><span>You, sent at ${now()}</span></div>`); await sleep(200); make(`<div><p>${a}</p><span>Helper, sent at ${now()}</span></div>`);"),
    "counts": (_FORM, "make(`<div class=q>${q}</div>`); await sleep(200); make(`<div class=a><p>${a}</p><small>GPT-4o · ${200 + 7 * q.length} tokens</small><span>Copy</span> <span>Regenerate</span></div>`);"),
    "chips": (_FORM + "<style>.next span { border: 1px solid }</style>", "make(`<div class=q>${q}</div>`); await sleep(200); make(`<div class=a><p>${a}</p><div class=suggestions><span>More about ${q.slice(0, 8)}</span> <span>And ${q.slice(-9)}</span></div></div>`);"),
    "sources": (_FORM, "make(`<div class=q>${q}</div>`); await sleep(200); make(`<div class=a><div class=md><p>${a}</p></div><div class=refs><b>Sources</b><ul class=source-list><li><a href='/doc/${count}'>Document ${q.slice(0, 5)}</a></li></ul></div></div>`);"),
    "thoughts_that_stay": (_FORM, "make(`<div class=q>${q}</div>`); const m = make(`<div class=a><div class=reasoning>I should look for ${q.slice(5, 16)}</div></div>`); await sleep(300); m.append(make(`<div class=md><p>${a}</p></div>`));"),
    "alerts": (_FORM, "make(`<div role=alert class=msg-q>${q}</div>`); await sleep(200); make(`<div role=alert class=msg-a><p>${a}</p></div>`);"),
    "box_that_goes": (_FORM, "make(`<div class=q>${q}</div>`); box.remove(); const p = make(`<div class=a></div>`); await type(p, a); document.body.append(box);"),
    "spinner_before": (_FORM + "<style>@keyframes t { to { transform: rotate(1turn) } } .spin { animation: t 1s infinite; width: 9px; height: 9px }</style>",
        "make(`<div class=q>${q}</div>`); const s = make(`<div class=spin>.</div>`); await sleep(500); s.remove(); const p = make(`<div class=a></div>`); await type(p, a.slice(0, 9)); await sleep(3000); p.textContent = ''; await type(p, a);"),
    "stop_button": (_FORM, "make(`<div class=q>${q}</div>`); const s = make(`<button aria-label='Stop generating'>x</button>`, document.body); const p = make(`<div class=a></div>`); await type(p, a); s.remove();"),
    "banner": ("<div class=cookies style='position: fixed; inset: 0; background: #fff'><p>We use cookies.</p><button id=agree onclick='this.parentNode.remove()'>I agree</button></div>" + _FORM,
        "make(`<div class=q>${q}</div>`); await sleep(200); make(`<div class=a><p>${a}</p></div>`);"),
    "bubble": ("<input type=search placeholder='Search the shop'><div id=window hidden>" + _FORM + "</div><button id=open onclick='document.querySelector(\"#window\").hidden = false'>Chat</button>",
        "make(`<div class=q>${q}</div>`); await sleep(200); make(`<div class=a><p>${a}</p></div>`);"),
    "buttons_as_links": (_FORM, "make(`<div class=q>${q}</div>`); await sleep(200); make(`<p class=bot><span class=m>${a.replace(/ (\\w+) /, ' <button type=button>$1</button> ')}</span></p>`);"),
    "line_numbers": (_FORM, "make(`<div class=q>${q}</div>`); await sleep(200); make(`<div class=a><p>${a}</p><div class=code><div class=ln>1<br>2</div><pre><code>${q}\\nend</code></pre></div></div>`);"),
    "citations": (_FORM, "make(`<div class=q>${q}</div>`); await sleep(200); const n = 1 + q.length % 3; make(`<div class=a><p>${a}<a href='#s${n}'>${n}</a> <sup><a href='https://example.com/${n}'>[${n}]</a></sup></p></div>`);"),
    "katex": (_FORM + "<style>.katex-mathml { position: absolute; clip: rect(1px, 1px, 1px, 1px); width: 1px; height: 1px; overflow: hidden }</style>",
        "make(`<div class=q>${q}</div>`); await sleep(200); make(`<div class=a><p>${a} <span class=katex><span class=katex-mathml><math><semantics><mi>${q}</mi><annotation encoding='application/x-tex'>x^${q.length}</annotation></semantics></math></span><span class=katex-html aria-hidden=true>x2</span></span></p></div>`);"),
    "tick": ("<div id=chat></div><label><input type=checkbox id=terms onchange='box.disabled = !this.checked'> I accept the privacy policy</label><input id=box disabled>",
        "make(`<div class=q>${q}</div>`); await sleep(200); make(`<div class=a><p>${a}</p></div>`);"),
    "text_log": ("<textarea id=log readonly>Welcome.\n</textarea><div id=chat></div><input id=box>", "log.value += `You: ${q}\n`; await sleep(300); log.value += `Bot: ${a}\n`;"),
    "terminal": ("<pre id=log>Welcome.\n\n</pre><div id=chat></div><input id=box>", "log.firstChild.data += `> ${q}\n`; await sleep(300); log.firstChild.data += `${a}\n\n`;"),
    "two_bubbles": (_FORM, "make(`<div class=q>${q}</div>`); await sleep(200); make(`<div class=a>Let me look that up for you.</div>`); await sleep(700); make(`<div class=a>${a}</div>`);"),
    "cells": ("<table id=chat></table><textarea id=box></textarea>", "make(`<tr><td>${now()}</td><td>Guest</td><td>${q}</td></tr>`); await sleep(200); make(`<tr><td>${now()}</td><td>Helper</td><td>${a}</td></tr>`);"),
    "more": (_FORM, "make(`<div class=q>${q}</div>`); await sleep(200); const m = make(`<div class=a><p>${a.slice(0, 12)}</p><button class=show-more>Show more</button></div>`); m.querySelector('button').onclick = () => { m.innerHTML = `<p>${a}</p>`; };"),
}  # fmt: skip
PAGES = {
    name: f"{start}<script>const reply = async (q, a) => {{ {action} }};{_TALK.replace('DATA', json.dumps(ANSWERS))}</script>"
    for name, (start, action) in _PAGES.items()
}


def expected(name: str, question: str) -> str:
    """What must be read."""
    added = {"katex": f" $x^{len(question)}$", "line_numbers": f"\n\n```\n{question}\nend\n```"}
    return ANSWERS[question] + added.get(name, "")
