// Runs in every frame of a page under test, after the other scripts, and before the page's own code. It remembers what was
// there when a question was sent, finds the answer among what is new, and returns it as text that a person could read.
// A page may have very many elements: whatever is done for each of them must not go through all of them again.
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
  noticeWork();
});
const watch = (root) => observer.observe(root, { childList: true, characterData: true, subtree: true });
watch(document);

const focused = () => {
  let active = document.activeElement;
  while (active && shadow(active) && shadow(active).activeElement) active = shadow(active).activeElement;
  return active === document.body || (active && tagName(active) === "IFRAME") ? null : active;
};

// -- the mark: what is there when a question is sent ----------------------------------------------------------------
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

const mark = ({ question, answer, ready, sources, messages }) => {
  state.box = boxOf(question);
  const now = pieces(), answers = answer ? all(answer) : [];
  const texts = new Map();
  for (const { text } of now) texts.set(key(text), (texts.get(key(text)) || 0) + 1);
  for (const [name, timer] of [...timers]) {
    if (timer.repeats) timer.before = true;
    else timers.delete(name);
  }
  const memory = {
    question, answer, ready, sources, messages: messages || [], home: state.home, address: location.href,
    answers: answers.length, last: answers.length ? key(squeezed(textContent(answers[answers.length - 1]))) : "",
    listed: sources ? all(sources).length : 0, working: working().length, stops: stopButtons().length, shown: count(ready),
  };
  state.mark = {
    ...memory, texts, touched: new Set(), was: new Map(now.map((piece) => [piece.element, piece.text])),
    notices: new Set([undefined, ...now.map((piece) => piece.passing)]), there: new WeakSet(all("*")),
    running: new Map(), boxSide: {}, shared: inCommon(memory.messages), buttons: all(BUTTONS).filter((button) => !button.disabled).slice(0, 200),
  };
  return { ...memory, texts: packed(texts) }; // for the page that comes next: a form may load a page with the answer
};
const restore = (memory) => {
  state.home = memory.home;
  state.mark = {
    ...memory, texts: unpacked(memory.texts), listed: 0, touched: new Set(), was: new Map(), notices: new Set([undefined]),
    there: new WeakSet(), running: new Map(), boxSide: {}, shared: inCommon(memory.messages), buttons: [],
    reloaded: true,
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
const rewritten = (element) => {
  const outer = lineage([element]);
  return state.mark.reloaded || [...state.mark.touched].some((node) => outer.has(node) || within(node, element));
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

// What labels the message goes into `state.labels`: as long as there is nothing else, there is no answer yet.
const locate = (selector) => {
  const { question, answers, last } = state.mark;
  const now = pieces(), news = fresh(now), echo = echoes(question, news), isEcho = new Set(echo);
  // Words that were there before count as said again where they were written again, and not above the new question.
  const again = (element) => rewritten(element) && echo.every((piece) => follows(element, piece.element));
  const places = labelPlaces(echo, news.filter((piece) => !isEcho.has(piece)));
  const current = new Set(state.mark.shared.size ? partsOf(news.filter((piece) => !isEcho.has(piece))).map(([where, text]) => where + text) : []);
  const labels = new Set(news.filter((piece) => !isEcho.has(piece) && isLabel(piece, places, current)));
  Object.assign(state, { ignored: [...labels].map(({ text }) => text), news, echo: isEcho });
  state.labels = new WeakSet([...labels].flatMap(({ nodes }) => nodes));
  if (selector) {
    const matches = all(selector), element = matches[matches.length - 1];
    const isNew = element && (matches.length > answers || key(squeezed(textContent(element))) !== last || again(element));
    const inner = isNew ? now.filter((piece) => within(piece.element, element)) : [];
    return isNew && !(inner.length && inner.every((piece) => isEcho.has(piece))) ? [element] : []; // a selector of all messages
  }
  const name = wasAlone(news.filter((piece) => !isEcho.has(piece) && !labels.has(piece)));
  if (name) labels.add(name);
  for (const node of name ? name.nodes : []) state.labels.add(node);
  const isOlder = olderThan(echo), rest = news.filter((piece) => !isEcho.has(piece) && !labels.has(piece) && !isOlder(piece));
  const messages = marked(rest, echo);
  if (messages && messages.length) return messages;
  const chosen = likely(inContent(rest, echo), echo);
  if (chosen.length) return around(chosen, [...rest, ...labels], now);
  const home = state.home && all(state.home).pop();
  return home && again(home) ? [home] : [];
};

// A selector for the user that is right for the next message, and tomorrow: no ids and classes that a program has made up.
const GENERATED = /\d[a-z]|\d{3}|\d.*[a-z].*\d|^(css|sc|jss|svelte|emotion|st-emotion|radix|headlessui|mui|ember|ng)-|[[\]/:!]/i;
const isNumbered = (id) => /\d/.test(id) || GENERATED.test(id);
const TEST_IDS = ["data-testid", "data-test", "data-role", "data-message-author-role"];
const path = (element) => {
  const own = ASSISTANT.split(", ").find((selector) => matches(element, selector));
  if (own) return own;
  const id = attribute(element, "id"), test = TEST_IDS.find((name) => attribute(element, name));
  if (id && !isNumbered(id)) return "#" + CSS.escape(id);
  if (test) return `[${test}="${CSS.escape(attribute(element, test))}"]`;
  const names = [...classes(element)].filter((name) => !GENERATED.test(name));
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

// Whether the page has loaded itself again since the question, and shows nothing of it any more.
const isLost = () => Boolean(state.mark.reloaded) && state.mark.address === location.href && state.echo.size === 0;

// One look: the text and the signals are of the same moment. Nothing if this page knows of no question.
const look = (messages) => {
  if (!state.mark) return null;
  if (messages && messages.length !== state.mark.messages.length) Object.assign(state.mark, { messages, shared: inCommon(messages) });
  const { answer, ready, sources, shown } = state.mark;
  const length = counter(LONGEST, "the answer has more characters than ");
  const read = (lenient) => {
    state.lenient = lenient;
    state.looks = (state.looks || 0) + 1;
    const located = locate(answer);
    const parts = located.length > 1 && sources && !answer ? withoutLists(located, all(sources)) : located;
    return { elements: parts, text: parts.map((element) => readable(element, skipped, length)).filter(Boolean).join("\n\n") };
  };
  let { elements, text } = read(false), unsure = "";
  if (!text) {
    const other = read(true);
    state.lenient = false;
    if (other.text) [elements, unsure] = [other.elements, other.text];
  }
  const now = count(ready);
  state.located = elements;
  return {
    text, unsure, problem: trouble(text), lost: !text && !unsure && isLost(), echoed: state.echo.size > 0,
    selector: elements.length ? path(elements[0]) : null,
    sources: sources ? shownSources(sources, length) : null,
    ignored: state.ignored.join(", ").slice(0, 200), ready: now > 0, newly: now > shown, ...work(),
  };
};
// The answer was read: the same words in the same place may be the next one. What its message consists of is for comparison
// with the next one.
const done = (selector) => {
  state.home = selector;
  const located = state.located || [], around = located.map(messageOf);
  const own = state.news.filter((piece) => !state.echo.has(piece) && around.some((element) => within(piece.element, element)));
  return { parts: partsOf(own), suggested: suggested(located) };
};
// A selector for this message of which it is the last match, as it must be for the next one; nothing if there is none.
const suggested = ([first]) => {
  for (let e = first, steps = 0; e && e !== document.body && steps < 3; e = parentElement(e), steps++) {
    const selector = path(e), match = all(selector).pop();
    if (match && selector.length <= 120 && (match === e || within(match, e))) return selector;
  }
  return null;
};
// The message that an answer is in: as far up as there is no other text than new one.
const messageOf = (element) => {
  const old = lineage([...state.echo].map((piece) => piece.element));
  let top = element;
  while (parent(top) && parent(top) !== document.body && !old.has(parent(top)) && !state.mark.there.has(parent(top))) top = parent(top);
  return top;
};

// What became of the question: nothing to say once it is in the conversation, or another text is new; else whether it is
// still in the box, or the box is empty and nothing else has happened.
const EDITABLE = "textarea, input:not([type]), input[type=text], input[type=search], [contenteditable=true], [contenteditable='']";
const typed = (box) => ("value" in box && typeof box.value === "string" ? box.value : textContent(box));
const holds = (box, question) => box !== document.body && squeezed(typed(box)) === squeezed(question);
// The box that a question was typed into: the focus may be elsewhere, in a dialog that has just come.
const boxOf = (question) => {
  const box = focused();
  return box && holds(box, question) ? box : all(EDITABLE).find((other) => seen(other) && holds(other, question)) || box;
};
const unsent = () => {
  if (!state.mark || state.mark.reloaded) return "";
  const { question } = state.mark, isInBox = (box) => holds(box, question);
  const inBox = state.box && state.box.isConnected ? isInBox(state.box) : all(EDITABLE).some((box) => seen(box) && isInBox(box));
  const dialog = dialogOver(state.box), news = fresh(pieces()).filter(({ element }) => !dialog || !within(element, dialog));
  if (news.length || working().length > state.mark.working) return "";
  return inBox ? "text" : isOff(state.box) ? "" : "empty";
};
// Whether a page that was opened still grows: its boxes, its elements, and timers that may add to them.
const signs = () => ({
  boxes: all(EDITABLE).filter(seen).length, elements: query(document, "*").length,
  opened: hasOpened(), login: all("input[type=password]").some(seen), timers: [...timers.values()].some(({ repeats }) => !repeats), repeats: [...timers.values()].some(({ repeats }) => repeats),
});

// The part of an element that the pieces of text in it take.
const textArea = (element) => {
  const own = state.news.filter((piece) => !state.echo.has(piece) && !piece.nodes.some((node) => state.labels.has(node)) && within(piece.element, element));
  const areas = own.flatMap((piece) => [...rects(piece.element)]);
  if (!areas.length) return element;
  const edge = (choose, name) => areas.reduce((best, area) => choose(best, area[name]), areas[0][name]);
  const [left, top] = [edge(Math.min, "left"), edge(Math.min, "top")];
  return [{ left, top, width: edge(Math.max, "right") - left, height: edge(Math.max, "bottom") - top }];
};
// For a picture: frames around the box, the button that was clicked to send, and the answer.
const outline = (clicked) => {
  const draw = (element, colour, name) => {
    const [area] = Array.isArray(element) ? element : element ? rects(element) : [];
    if (!area) return;
    const frame = document.createElement("div"), tag = document.createElement("div");
    const place = `left:${area.left + window.scrollX - 3}px;top:${area.top + window.scrollY - 3}px;`;
    frame.setAttribute("style", `position:absolute;${place}width:${area.width + 6}px;height:${area.height + 6}px;border:3px solid ${colour};box-sizing:border-box;z-index:2147483647;pointer-events:none`);
    tag.setAttribute("style", `position:absolute;left:-3px;top:-19px;white-space:nowrap;background:${colour};color:#fff;font:12px/16px sans-serif;padding:0 4px`);
    tag.textContent = name;
    frame.append(tag);
    document.documentElement.append(frame);
  };
  const box = currentBox();
  if (state.mark && box) draw(box, "#1565c0", "the box");
  const isThere = state.button && state.button.isConnected && seen(state.button); // or another in its place
  const button = isThere ? state.button : box && clicked && all(clicked).find((e) => seen(e) && isNear(e, box));
  if (state.mark && clicked) draw(button, "#ef6c00", "the button");
  for (const element of state.located || []) draw(textArea(element), "#2e7d32", "the answer");
  return true;
};

// For messages: what there is on the page, and where an answer seems to be.
const label = (element) => squeezed((element.placeholder || textContent(element) || element.value || "").slice(0, 500)).slice(0, 40);
const candidates = () => all(EDITABLE + ", button, [type=submit]")
  .filter(seen).slice(0, 20).map((element) => path(element) + (label(element) ? "  " + quoted(label(element)) : ""));
const allText = (longest) => squeezedLines(document.body ? textOf(document.body, longest) : "");
const squeezedLines = (text) => text.split("\n").map(squeezed).filter(Boolean).join("\n");
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
const NEAR = 300; // pixels
const isNear = (button, box) => {
  const [one] = rects(button), [other] = rects(box);
  const apart = (low, high) => Math.max(one[low] - other[high], other[low] - one[high], 0);
  return Boolean(one && other) && Math.max(apart("left", "right"), apart("top", "bottom")) <= NEAR;
};
const sender = (box) => {
  state.button = null;
  for (let outer = parent(box); outer && !state.button; outer = parent(outer)) {
    const buttons = all(BUTTONS, outer).filter((button) => sends(button, box) && ((button.form && button.form === box.form) || isNear(button, box)));
    state.button = buttons.find((button) => follows(button, box)) || buttons[buttons.length - 1] || null;
  }
  return state.button;
};

// What the driver calls. A value, a limit that the page exceeds, or the problem with reading it; the page can't replace it.
const safely = (work) => (argument) => {
  try {
    return { value: work(argument) };
  } catch (error) {
    return error instanceof Limit ? { limit: error.message } : { problem: String(error).slice(0, 200) };
  }
};
const api = { sender, closer };
for (const [name, work] of Object.entries({ mark, restore, look, done, candidates, guess, wrong, path, unsent, signs, outline, allText, dialogText })) api[name] = safely(work);
Object.defineProperty(window, "__ragmeter", { value: Object.freeze(api) });
