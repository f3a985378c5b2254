// Runs in every frame of a page under test, after dom.js and text.js, and before the page's own code. It remembers what
// was there when a question was sent, finds the answer among what is new, and returns it as text that a person could read.
// A page may have very many elements: whatever is done for each of them must not go through all of them again.
const state = { mark: null, home: null };

// -- what the page still has in mind: timers that will go off soon, and what was written since the question -----------
const SOON = 5000, LATER = 120000; // milliseconds; a later timer is hardly one that writes an answer, or that adds a box
const timers = new Map();
const remember = (start, stop, repeats, animation) => {
  const begin = window[start], end = window[stop];
  const name = (id) => (animation ? "frame" : "timer") + id;
  window[start] = function (work, delay, ...more) {
    if (typeof work !== "function" || delay > LATER) return apply(begin, window, [work, delay, ...more]);
    const id = apply(begin, window, [function (...given) {
      if (!repeats) timers.delete(name(id));
      return apply(work, this, given);
    }, delay, ...more]);
    timers.set(name(id), { repeats, soon: !(delay > SOON) });
    return id;
  };
  window[stop] = function (id) {
    timers.delete(name(id));
    return apply(end, window, [id]);
  };
};
remember("setTimeout", "clearTimeout", false, false);
remember("setInterval", "clearInterval", true, false);
remember("requestAnimationFrame", "cancelAnimationFrame", false, true);

const MOST_TOUCHED = 100000; // a page that never stops changing would have us remember all that it ever had
const observer = new MutationObserver((records) => {
  if (!state.mark) return;
  const { touched } = state.mark;
  for (const { target } of records) if (touched.size < MOST_TOUCHED) touched.add(nodeType(target) === 3 ? parentElement(target) : target);
});
const watch = (root) => observer.observe(root, { childList: true, characterData: true, subtree: true });
watch(document);

const skipped = (element) => element === state.box || SKIP.has(tagName(element)) || tagName(element) === "BUTTON"
  || attribute(element, "role") === "button" || attribute(element, "aria-hidden") === "true" || element.isContentEditable;
const focused = () => {
  let active = document.activeElement;
  while (active && shadow(active) && shadow(active).activeElement) active = shadow(active).activeElement;
  return active === document.body || (active && tagName(active) === "IFRAME") ? null : active;
};

// -- the pieces of text on the page -------------------------------------------------------------------------------
// One piece is the text that stands directly in a block, with what is inline in it. `aside` are those in something
// that is there to be clicked, `passing` those that float over the page and are not where the box is, like a notice.
const pieces = () => {
  const read = [], count = counter(MOST_NODES, "the page has more elements and texts than ");
  const block = (element, style, cursor, about) => {
    if (attribute(element, "role") === "alert" || (style.position === "fixed" && !within(state.box, element))) about = { ...about, passing: element };
    if (tagName(element) !== "A" && clickable(style, cursor)) about = { ...about, aside: true };
    const own = [], piece = { element, text: "", ...about };
    read.push(piece);
    const inline = (node, outer) => {
      for (const child of children(node)) {
        count(1);
        const type = nodeType(child);
        if (type === 3) own.push(child.data);
        if (type !== 1 || skipped(child)) continue;
        const its = styleOf(child);
        if (!visible(its)) continue;
        if (tagName(child) === "TEXTAREA") read.push({ element: child, text: squeezed(child.value), ...about });
        else if (isBlock(its) || shadow(child)) block(child, its, outer, about);
        else {
          if (tagName(child) === "BR") own.push(" ");
          inline(child, its.cursor);
        }
      }
    };
    inline(element, style.cursor);
    piece.text = squeezed(own.join(""));
  };
  if (document.body) block(document.body, styleOf(document.body), "auto", {});
  return read.filter((piece) => piece.text);
};

// -- the question's own echo ----------------------------------------------------------------------------------------
// As it is, or by its lines; cut short, as a title; or with a word or two beside it, a name and a time.
const letters = (text) => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");
const words = (text) => (text.match(/\p{L}+/gu) || []).length;
const echoes = (question, news) => {
  const plain = squeezed(question), whole = letters(question), bare = letters(question.replace(/<[^<>]*>/g, " "));
  const exact = new Set([whole, bare, ...question.split("\n").map(letters)].filter(Boolean));
  const few = (text) => words(text) - words(plain) <= 2;
  const isSure = ({ text }) => (letters(text) ? exact.has(letters(text)) : text === plain) || (text.endsWith(": " + plain) && few(text));
  const isTitle = ({ text }) => /(\.\.\.|…)$/.test(text) && letters(text) && whole.startsWith(letters(text));
  const isFramed = ({ text }) => few(text) && words(plain) > 2 && [whole, bare].some((key) => letters(text).startsWith(key) || letters(text).endsWith(key));
  const longest = 2 * question.length + 200;
  const outside = news.filter(({ element, text }) => text.length <= longest && tagName(element) !== "TD" && tagName(element) !== "TH"); // a keyword, in a table
  const sure = outside.some(isSure);
  return outside.filter((piece) => isSure(piece) || isTitle(piece) || (!sure && isFramed(piece)));
};

// -- the mark: what is there when a question is sent ----------------------------------------------------------------
const STOP = /^\W*(stop|detener|parar|interrumpir|arr[eê]ter|stopp|anhalten|abbrechen|interromper|停止|中止)(\W+\w+){0,2}\W*$/i;
const STOP_NAME = /(^|[-_\s])stop|[a-z]Stop(?![a-z])/;
const BUTTONS = "button, [role='button'], input[type='button'], input[type='submit']";
const caption = (button) => (textContent(button).length > 500 ? "" : squeezed(textContent(button)));
const isStop = (e) => ["aria-label", "title", "value"].some((name) => STOP.test(attribute(e, name) || "")) || STOP.test(caption(e))
  || ["data-testid", "id", "class"].some((name) => STOP_NAME.test(attribute(e, name) || ""));
const working = () => [...all(BUTTONS).filter((e) => !e.disabled && isStop(e)), ...all("[aria-busy='true']")].filter(seen);
const isOff = (box) => Boolean(box && box.isConnected && (box.disabled || box.readOnly || attribute(box, "aria-disabled") === "true" || attribute(box, "contenteditable") === "false"));
const count = (selector) => (selector ? all(selector).filter(seen).length : 0);

// A text, or a short stand-in for a long one. What is remembered of a page also goes to the page that follows it.
const hash = (text) => {
  let a = 0xdeadbeef, b = 0x41c6ce57;
  for (let place = 0; place < text.length; place++) {
    const code = text.charCodeAt(place);
    a = Math.imul(a ^ code, 2654435761);
    b = Math.imul(b ^ code, 1597334677);
  }
  return (4294967296 * (2097151 & (b ^ (b >>> 13))) + ((a ^ (a >>> 16)) >>> 0)).toString(36);
};
const key = (text) => (text.length < 24 ? "=" + text : "#" + text.length.toString(36) + "#" + hash(text));
const packed = (counts) => [...counts].map(([text, times]) => text + "\t" + times).join("\n"); // no text has a tab in it
const unpacked = (lines) => new Map(lines.split("\n").map((line) => line.split("\t")).map(([text, times]) => [text, Number(times)]));

const mark = ({ question, answer, ready, sources }) => {
  state.box = focused();
  const now = pieces(), answers = answer ? all(answer) : [];
  const texts = new Map();
  for (const { text } of now) texts.set(key(text), (texts.get(key(text)) || 0) + 1);
  for (const [timer, { repeats }] of [...timers]) if (!repeats) timers.delete(timer);
  const memory = {
    question, answer, ready, sources, home: state.home,
    answers: answers.length, last: answers.length ? key(squeezed(textContent(answers[answers.length - 1]))) : "",
    listed: sources ? all(sources).length : 0, working: working().length, shown: count(ready),
  };
  state.mark = {
    ...memory, texts, touched: new Set(), was: new Map(now.map((piece) => [piece.element, piece.text])),
    notices: new Set([undefined, ...now.map((piece) => piece.passing)]), there: new WeakSet(all("*")),
  };
  return { ...memory, texts: packed(texts) }; // for the page that comes next: a form may load a page with the answer
};
const restore = (memory) => {
  state.home = memory.home;
  state.mark = {
    ...memory, texts: unpacked(memory.texts), listed: 0, touched: new Set(), was: new Map(), notices: new Set([undefined]),
    there: new WeakSet(), reloaded: true,
  };
  return true;
};

// -- the answer -----------------------------------------------------------------------------------------------------
const fresh = (now) => {
  const left = new Map(state.mark.texts);
  return now.filter((piece) => {
    const name = key(piece.text), times = left.get(name) || 0;
    if (times > 0) left.set(name, times - 1);
    return times === 0;
  });
};
const depth = (element) => {
  let count = 0;
  for (let e = element; e; e = parent(e)) count++;
  return count;
};
const follows = (one, other) => Boolean(compare(other, one) & 4); // Node.DOCUMENT_POSITION_FOLLOWING
const rewritten = (element) => {
  const outer = lineage([element]);
  return state.mark.reloaded || [...state.mark.touched].some((node) => outer.has(node) || within(node, element));
};
const known = (element) => {
  let e = element;
  while (e && !state.mark.there.has(e)) e = parent(e);
  return e;
};
const CLOCK = /^\D{0,12}\d{1,2}[:.]\d{2}\D{0,12}$/;
const digits = (text) => text.replace(/\d+/g, "0");

// Of what is new, what may be an answer: not a number that counts on by itself, nor a notice, nor what stands around the
// question's echo, nor what is far from it if something is near.
const MOST_ECHOES = 20;
const likely = (news, echo) => {
  const { was, notices, there } = state.mark;
  const counts = ({ element, text }) => was.has(element) && digits(was.get(element)) === digits(text) && !(state.home && element.closest(state.home));
  const echoed = echo.slice(0, MOST_ECHOES).map(({ element }) => ({ element, outer: lineage([element]) }));
  const common = ({ outer }, element) => { // the smallest element around both
    let e = element;
    while (e && !outer.has(e)) e = parent(e);
    return e;
  };
  const beside = (piece) => echoed.every((said) => {
    const outer = common(said, piece.element);
    if (follows(piece.element, said.element)) return there.has(outer) || !CLOCK.test(piece.text);
    return piece.text.length > 40 || (there.has(outer) && !within(state.box, outer));
  });
  let left = news.filter((piece) => !counts(piece) && notices.has(piece.passing) && beside(piece));
  if (echoed.length) {
    const depths = new Map();
    const deep = (outer) => {
      if (!depths.has(outer)) depths.set(outer, depth(known(outer)));
      return depths.get(outer);
    };
    const near = left.map((piece) => echoed.reduce((most, said) => Math.max(most, deep(common(said, piece.element))), 0));
    const nearest = near.reduce((most, place) => Math.max(most, place), 0);
    left = left.filter((piece, place) => near[place] === nearest);
  }
  const straight = left.filter((piece) => !piece.aside);
  return straight.length ? straight : left;
};

// The longest new text with all that is new around it: as far up as nothing old comes in, and its neighbours that are
// new as well. A word that changes elsewhere on the page, a status for one, is not part of it.
const around = (news, unused, now) => {
  const seed = news.reduce((best, piece) => (piece.text.length > best.text.length ? piece : best)).element;
  const elements = (some) => some.map((piece) => piece.element);
  const isNew = new Set(elements([...news, ...unused]));
  const holdsOld = lineage(elements(now).filter((element) => !isNew.has(element))), holdsNew = lineage(elements(news));
  let top = seed;
  while (parent(top) && parent(top) !== document.body && !holdsOld.has(parent(top))) top = parent(top);
  const outer = parentNode(top), siblings = outer ? [...(nodeType(outer) === 1 ? elementsIn(outer) : outer.children)] : [];
  return siblings.filter((element) => element === top || (!holdsOld.has(element) && holdsNew.has(element)));
};

const locate = (selector) => {
  const { question, answers, last } = state.mark;
  const now = pieces(), news = fresh(now), echo = echoes(question, news), isEcho = new Set(echo);
  // Words that were there before count as said again where they were written again, and not above the new question.
  const again = (element) => rewritten(element) && echo.every((piece) => follows(element, piece.element));
  if (selector) {
    const matches = all(selector), element = matches[matches.length - 1];
    const isNew = element && (matches.length > answers || key(squeezed(textContent(element))) !== last || again(element));
    const inner = isNew ? now.filter((piece) => within(piece.element, element)) : [];
    return isNew && !(inner.length && inner.every((piece) => isEcho.has(piece))) ? [element] : []; // a selector of all messages
  }
  const rest = news.filter((piece) => !isEcho.has(piece)), chosen = likely(rest, echo);
  if (chosen.length) return around(chosen, rest, now);
  const home = state.home && all(state.home).pop();
  return home && again(home) ? [home] : [];
};

const path = (element) => {
  const id = attribute(element, "id"), test = attribute(element, "data-testid"), names = [...classes(element)];
  if (id) return "#" + CSS.escape(id);
  if (test) return `[data-testid="${CSS.escape(test)}"]`;
  const name = tagName(element).toLowerCase() + names.slice(0, 2).map((each) => "." + CSS.escape(each)).join("");
  const outer = parentElement(element);
  return names.length || !outer || tagName(outer) === "BODY" ? name : path(outer) + " > " + name;
};

// Sources of this answer: those that came after the ones that were there, or all if the page shows one list only.
const shownSources = (selector, length) => {
  const matches = all(selector), before = state.mark.listed;
  return (matches.length > before ? matches.slice(before) : matches).filter(seen).map((source) => ({
    text: readable(source, skipped, length).replace(/^(-|\d+\.) /, ""),
    href: source.href || (query(source, "a[href]")[0] || {}).href || null,
  }));
};

// Without those elements that hold sources and nothing else: such a list beside an answer is no part of it.
const withoutLists = (elements, sources) => {
  const held = new Map(elements.map((element) => [element, []]));
  for (const source of sources) for (let e = source; e; e = parent(e)) if (held.has(e)) held.get(e).push(source);
  const text = (node) => textContent(node).replace(/\s+/g, "");
  return elements.filter((element) => !held.get(element).length || text(element) !== held.get(element).map(text).join(""));
};

// One look: the text and the signals are of the same moment. Nothing if this page knows of no question.
const look = () => {
  if (!state.mark) return null;
  const { answer, ready, sources, shown } = state.mark;
  const located = locate(answer), now = count(ready), at = working();
  const elements = located.length > 1 && sources && !answer ? withoutLists(located, all(sources)) : located;
  const length = counter(LONGEST, "the answer has more characters than ");
  return {
    text: elements.map((element) => readable(element, skipped, length)).filter(Boolean).join("\n\n"),
    selector: elements.length ? path(elements[0]) : null,
    sources: sources ? shownSources(sources, length) : null,
    busy: at.length > state.mark.working ? path(at[at.length - 1]) : null,
    off: isOff(state.box), timers: [...timers.values()].some(({ soon }) => soon), ready: now > 0, newly: now > shown,
  };
};
// The answer was read: the same words in the same place may be the next one.
const done = (selector) => {
  state.home = selector;
  return true;
};

// What became of the question: nothing to say once it is in the conversation, or another text is new; else whether it is
// still in the box, or the box is empty and nothing else has happened.
const EDITABLE = "textarea, input:not([type]), input[type=text], input[type=search], [contenteditable=true], [contenteditable='']";
const typed = (box) => ("value" in box && typeof box.value === "string" ? box.value : textContent(box));
const unsent = () => {
  if (!state.mark || state.mark.reloaded) return "";
  const wanted = squeezed(state.mark.question), isThere = (box) => box !== document.body && squeezed(typed(box)) === wanted;
  const inBox = state.box && state.box.isConnected ? isThere(state.box) : all(EDITABLE).some((box) => seen(box) && isThere(box));
  if (fresh(pieces()).length || working().length > state.mark.working) return "";
  return inBox ? "text" : isOff(state.box) ? "" : "empty";
};
// Whether a page that was opened still grows: its boxes, its elements, and timers that may add to them.
const signs = () => ({
  boxes: all(EDITABLE).filter(seen).length, elements: query(document, "*").length,
  timers: [...timers.values()].some(({ repeats }) => !repeats), repeats: [...timers.values()].some(({ repeats }) => repeats),
});

// For messages: what there is on the page, and where an answer seems to be.
const label = (element) => squeezed((element.placeholder || textContent(element) || element.value || "").slice(0, 500)).slice(0, 40);
const candidates = () => all(EDITABLE + ", button, [type=submit]")
  .filter(seen).slice(0, 20).map((element) => path(element) + (label(element) ? "  " + quoted(label(element)) : ""));
const guess = () => {
  const located = state.mark && !all(state.mark.answer).length ? locate(null) : [];
  return located.length ? path(located[0]) : null;
};
const wrong = (selectors) => selectors.findIndex((selector) => {
  try {
    return selector !== null && !query(document.createDocumentFragment(), selector);
  } catch {
    return true;
  }
});

// The button that sends what is in a box: the nearest that says so, or that submits the box's own form.
const SEND = /^\W*(send|submit|ask|go|search|query|enviar|preguntar|consultar|buscar|senden|absenden|fragen|suchen|envoyer|demander|rechercher|invia|chiedi|perguntar|verstuur|versturen|отправить|спросить|发送|提交|送信|전송|보내기|[➤→↑⏎▶►➔➜✈🚀]+)(\W+\w+){0,2}\W*$/iu;
const SEND_NAME = /(^|[-_\s])(send|submit|ask)|[a-z](Send|Submit|Ask)(?![a-z])/;
const sends = (button, box) => !button.disabled && seen(button) && !isStop(button) && (
  ["aria-label", "title", "value"].some((name) => SEND.test(attribute(button, name) || "")) || SEND.test(caption(button))
  || ["data-testid", "id", "class", "name"].some((name) => SEND_NAME.test(attribute(button, name) || ""))
  || (button.type === "submit" && Boolean(button.form) && button.form === box.form));
const sender = (box) => {
  for (let outer = parent(box); outer; outer = parent(outer)) {
    const buttons = all(BUTTONS, outer).filter((button) => sends(button, box));
    if (buttons.length) return buttons.find((button) => follows(button, box)) || buttons[buttons.length - 1];
  }
  return null;
};

// What the driver calls. A value, a limit that the page exceeds, or the problem with reading it; the page can't replace it.
const safely = (work) => (argument) => {
  try {
    return { value: work(argument) };
  } catch (error) {
    return error instanceof Limit ? { limit: error.message } : { problem: String(error).slice(0, 200) };
  }
};
const api = { sender };
for (const [name, work] of Object.entries({ mark, restore, look, done, candidates, guess, wrong, path, unsent, signs })) api[name] = safely(work);
Object.defineProperty(window, "__ragmeter", { value: Object.freeze(api) });
