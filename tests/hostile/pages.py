"""Hostile pages: what they do when they are opened, and when a question has "bad" in it. Others are answered.

`add(who, text)` adds a message to the chat, `box` is the box. A message of the class "done" ends an answer.
"""

# ruff: noqa: E501 - scripts of pages are long

from __future__ import annotations

from dataclasses import dataclass

ANSWERED = "Answer to bad: it is so."
_REPLY = 'const reply = (q) => { add("user", q); const d = add("bot", "Answer to " + q + ": it is so."); d.classList.add("done"); return d; };'
_FOR_EVER = "const forEver = (work, pause = 0) => { work(); setInterval(work, pause); };"
_FILL = "const fill = (count, place) => { for (let i = 0; i < count; i++) { const e = document.createElement('div'); e.textContent = i; place.before(e); } };"
_FIELDS = ["parentElement", "parentNode", "childNodes", "children", "tagName", "nodeType", "getAttribute", "textContent", "querySelectorAll", "classList", "id"]  # fmt: skip


@dataclass(frozen=True)
class Hostile:
    """A page: what it does at once, what it does with a bad question, and how that question's row may begin."""

    bad: str = "reply(q);"
    setup: str = ""
    row: tuple[str, ...] = (ANSWERED,)
    sibling: bool = False  # like another one, or nearly as slow as a huge one: not among the usual tests
    slow: bool = False
    always: bool = False  # hostile to all questions

    @property
    def may_be_late(self) -> bool:
        """Whether its row may be one without an answer in time."""
        return LATE in self.row

    def script(self) -> str:
        """What comes before its listener."""
        return f"{_REPLY} {_FOR_EVER} {_FILL} {self.setup}"

    def action(self) -> str:
        """What it does with a question `q`."""
        return f'if (!q.includes("bad")) {{ reply(q); return; }} {self.bad}'


LATE = "timeout: "
BUSY = "the page does not respond, a script of its own keeps it busy"
PAGES = {
    # its thread
    "blocks_after_text": Hostile('add("bot", "Some words"); setTimeout(() => { while (true); }, 300);', row=(LATE,)),
    "blocks_at_once": Hostile("while (true);", row=(LATE,)),
    "blocks_by_promises": Hostile(sibling=True, bad="const again = () => Promise.resolve().then(again); again();", row=(LATE,)),
    "blocks_in_an_observer": Hostile(sibling=True, bad="""new MutationObserver(() => { document.body.dataset.n = Math.random(); }).observe(document.body, {attributes: true});
        document.body.dataset.n = 1;""", row=(LATE,)),
    "blocks_by_a_regular_expression": Hostile(sibling=True, bad='add("bot", "Some words"); setTimeout(() => /^(a+)+$/.test("a".repeat(40) + "!"), 100);', row=(LATE,)),
    "blocks_when_typed": Hostile(setup='box.addEventListener("input", () => { if (box.value.includes("bad")) setTimeout(() => { while (true); }); });', row=(LATE,)),
    # dialogs
    "alerts_in_a_loop": Hostile('while (true) alert("no way out");', row=(LATE,)),
    "asks_in_a_loop": Hostile(sibling=True, bad='forEver(() => { confirm("sure?"); prompt("why?"); });', row=(LATE,)),
    "asks_at_length": Hostile(sibling=True, bad='alert("x".repeat(5e6)); reply(q);'),
    "will_not_be_left": Hostile("window.onbeforeunload = (e) => { e.preventDefault(); e.returnValue = 1; }; reply(q);"),
    "asks_before_it_reloads": Hostile(sibling=True, bad="window.onbeforeunload = (e) => { e.preventDefault(); e.returnValue = 1; }; location.reload();", row=(LATE,)),
    # coming and going
    "loads_again_and_again": Hostile("sessionStorage.again = 1; location.reload();", "if (sessionStorage.again) location.reload();", row=(LATE,)),
    "closes_itself": Hostile("window.close();", row=("page_crashed: the page has closed itself", LATE)),
    "wipes_itself": Hostile('document.open(); document.write("<p>gone</p>"); document.close();', row=(LATE,)),
    "removes_everything": Hostile(sibling=True, bad="document.documentElement.remove();", row=(LATE,)),
    "opens_windows": Hostile(sibling=True, bad='forEver(() => window.open("about:blank"), 5);', row=("target_error: the page has opened more than 20 windows",)),
    "removes_its_box": Hostile(setup='box.addEventListener("input", () => { if (box.value.includes("bad")) box.remove(); });', row=("Answer to", LATE)),
    "removes_its_form": Hostile(sibling=True, setup="""box.addEventListener("input", () => { if (box.value.includes("bad")) document.querySelectorAll("textarea, button").forEach((e) => e.remove()); });""", row=("selector_not_found: ",)),
    # what it has replaced
    "replaces_our_global": Hostile(setup="""const fake = new Proxy({}, {get: () => () => ({value: {text: 1}})}); try { window.__ragmeter = fake; } catch {}
        try { delete window.__ragmeter; } catch {} try { Object.defineProperty(window, "__ragmeter", {get: () => fake}); } catch {} try { window.__ragmeter.look = 1; } catch {}"""),
    "replaces_builtins": Hostile(setup="""window.JSON = {stringify: () => "{", parse: () => { throw 1; }}; window.getComputedStyle = () => null; window.Promise = class {};
        window.MutationObserver = null; Object.getOwnPropertyDescriptor = () => null;"""),
    "replaces_maps": Hostile(sibling=True, setup="window.Map = window.Set = null;", row=("Answer to", LATE, "target_error: "), always=True),  # the browser's driver needs them, too
    "replaces_the_dom": Hostile(sibling=True, setup="""for (const owner of [Element, Document, DocumentFragment, Node]) for (const name of ["querySelector", "querySelectorAll", "getAttribute", "getClientRects", "getRootNode", "compareDocumentPosition", "attachShadow"])
        if (owner.prototype[name]) owner.prototype[name] = () => { throw new Error("mine"); };"""),
    "hides_the_dom": Hostile(setup=f"""const form = document.createElement("form"); chat.before(form); form.append(chat);
        for (const name of {_FIELDS}) {{ const field = document.createElement("input"); field.type = "hidden"; field.name = name; form.append(field); }}"""),
    "replaces_arrays": Hostile(setup="Array.prototype.map = Array.prototype.filter = Array.prototype.push = () => 1;", row=(LATE, "target_error: ", "navigation_error: "), always=True),
    "replaces_objects": Hostile(sibling=True, setup="""Object.prototype.toJSON = Array.prototype.toJSON = () => "mine"; Object.prototype.text = 5; Object.prototype.limit = 7;"""),
    "replaces_functions": Hostile(sibling=True, setup="Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => { throw 1; };", row=("Answer to", LATE, "target_error: ", "navigation_error: "), always=True),
    # too much
    "never_stops_changing": Hostile('const d = add("bot", ""); forEver(() => { d.textContent = "Some words and " + Math.random() + " more"; });', row=(LATE,)),
    "never_stops_replacing": Hostile(sibling=True, bad='forEver(() => { chat.replaceChildren(); add("bot", "Some words and " + Math.random() + " more"); });', row=(LATE,)),
    "logs_for_ever": Hostile('reply(q); forEver(() => console.error("x".repeat(1e5)), 20);'),
    "says_11_million_characters": Hostile(sibling=True, bad='reply(q).textContent = "word ".repeat(2.2e6);', row=("target_error: the answer has more characters than 10,000,000",)),
    "nests_its_answer": Hostile(sibling=True, bad='let d = reply(q); for (let i = 0; i < 20000; i++) { const inner = document.createElement("div"); d.append(inner); d = inner; }', row=("Answer to", LATE, "page_crashed: ")),
    "has_400_frames": Hostile(setup='for (let i = 0; i < 400; i++) document.body.append(document.createElement("iframe"));', slow=True),
    "has_a_frame_that_blocks": Hostile(setup="""const other = document.createElement("iframe"); other.src = location.href.replace("127.0.0.1", "localhost").replace(/has_.*/, "blocks_when_opened"); document.body.append(other);"""),
    "has_300_000_elements": Hostile(setup="fill(3e5, chat);", row=(ANSWERED, LATE), slow=True),
    "answers_with_300_000_elements": Hostile('fill(3e5, reply(q).firstChild);', row=(LATE, "0\n\n1\n\n2", "0\n1\n2"), slow=True),
    "has_1_million_elements": Hostile('reply(q); const all = document.createElement("div"); for (let i = 0; i < 1.1e6; i++) all.append(document.createElement("i")); chat.before(all);', row=("target_error: the page has more elements and texts than 1,000,000",), slow=True),
    "says_50_million_characters": Hostile('reply(q).textContent = "word ".repeat(1e7);', row=("target_error: the answer has more characters than 10,000,000",), slow=True),
    "has_50_million_characters": Hostile(setup='add("old", "word ".repeat(1e7));', row=(ANSWERED, LATE), slow=True),
}  # fmt: skip
