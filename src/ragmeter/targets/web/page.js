// Runs in every frame of a page under test, after the other scripts, and before the page's own code. It remembers what was
// there when a question was sent, reads the answer by the profile's rule, and returns it as text that a person could read.
// A page may have very many elements: whatever is done for each of them must not go through all of them again.
const MOST_TOUCHED = 100000; // a page that never stops changing would have us remember all that it ever had
const observer = new MutationObserver((records) => {
  if (!state.mark) return;
  const { touched } = state.mark;
  for (const { target } of records) if (touched.size < MOST_TOUCHED) touched.add(nodeType(target) === 3 ? parentElement(target) : target);
});
const watch = (root) => observer.observe(root, { childList: true, characterData: true, subtree: true });
watch(document);

const focused = () => {
  let active = document.activeElement;
  while (active && shadow(active) && shadow(active).activeElement) active = shadow(active).activeElement;
  return active === document.body || (active && tagName(active) === "IFRAME") ? null : active;
};

// -- the mark: what is there when a question is sent ----------------------------------------------------------------
const mark = ({ question, rule, learning }) => {
  state.box = boxOf(question);
  state.mark = { question, rule: { ...NONE, ...rule }, learning, reloaded: false };
  const now = walk(), answers = remembered(state.mark.rule.selector);
  const errors = state.mark.rule.errors.flatMap((selector) => all(selector)).map(textKey);
  const memory = { question, rule: state.mark.rule, learning, address: location.href, working: working().length, shown: shown(state.mark.rule.back).length };
  const texts = counts(now.map(({ text }) => key(text))), listed = rule && rule.sources ? all(rule.sources).length : 0;
  Object.assign(state, { located: [], passing: [] });
  state.mark = {
    ...memory, texts, answers, listed, errors: new Set(errors), touched: new Set(), there: new WeakSet(all("*")), reloaded: false,
    grown: textsOf(now), was: new Map(answers.map(([element]) => [element, readable(element, skipped)])),
    floating: new Set(now.map((block) => block.passing).filter(Boolean)), buttons: all(BUTTONS).filter((button) => !button.disabled).slice(0, 200),
  };
  return { ...memory, texts: packed(texts), answers: answers.map(([, text]) => text), facts: learning ? facts() : [] }; // for the page that comes next
};
// A form loads another page with the answer in it: what the page before it had is remembered by its texts.
const restore = (memory) => {
  state.mark = {
    ...memory, texts: unpacked(memory.texts), answers: memory.answers.map((text) => [null, text]), listed: 0, errors: new Set(), touched: new Set(),
    there: new WeakSet(), floating: new Set(), buttons: [], reloaded: true, grown: new Map(), was: new Map(),
  };
  return true;
};

// -- a look: the text and the signals are of the same moment -----------------------------------------------------------
const path = (element) => {
  const own = tokens(element), id = own.find((token) => token.startsWith("#")), named = own.find((token) => token.startsWith("[data-"));
  if (id || named) return id || named;
  const tag = tagName(element).toLowerCase();
  for (const name of ["name", "aria-label", "title", "placeholder"]) {
    const value = attribute(element, name);
    if (value && value.length <= 40 && (isButton(element) || matches(element, EDITABLE))) return `${tag}[${name}="${value.replace(/["\\]/g, "\\$&")}"]`;
  }
  const names = own.filter((token) => token.startsWith(".")), name = tag + names.slice(0, 2).join("");
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
// Whether the page has loaded itself again since the question, and shows nothing of it any more.
const isLost = (echoed) => Boolean(state.mark.reloaded) && state.mark.address === location.href && !echoed;
const look = (rule) => {
  if (!state.mark) return null;
  if (rule) {
    if (rule.selector !== state.mark.rule.selector) state.mark.answers = []; // it was learnt after the question was sent
    state.mark.rule = { ...NONE, ...rule };
  }
  const length = counter(LONGEST, "the answer has more characters than "), { learning } = state.mark;
  const ruled = state.mark.rule.selector ? readByRule(length) : { elements: [], links: [], text: "" };
  const blocks = learning || !ruled.text ? news() : [], others = blocks.filter(({ text }) => !isEcho(text));
  const floating = ({ passing }) => passing && !state.mark.floating.has(passing);
  Object.assign(state, { located: ruled.elements, passing: [...new Set(others.filter(floating).map(({ passing }) => passing))] });
  const guess = others.filter((block) => !floating(block)).map(({ text }) => text).join("\n");
  const isReady = !atWork(state.mark.rule), text = ruled.text, echoed = blocks.length > others.length;
  return {
    text, guess, problem: trouble(text ? [text] : others.filter(({ element }) => !inCode(element)).slice(-20).map((block) => block.text)), lost: !text && !others.length && isLost(echoed), echoed,
    links: [...new Set(ruled.links)], selector: ruled.elements.length ? path(ruled.elements[0]) : null, sources: state.mark.rule.sources ? shownSources(state.mark.rule.sources, length) : null,
    ready: isReady, newly: shown(state.mark.rule.back).length > state.mark.shown, facts: learning ? facts() : [], ...work(),
  };
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
  const dialog = dialogOver(state.box), more = news().filter(({ element }) => !dialog || !within(element, dialog));
  if (more.length || working().length > state.mark.working) return "";
  return inBox ? "text" : isOff(state.box) ? "" : "empty";
};
// Whether a page that was opened still grows: its boxes, and its elements.
const signs = () => ({
  boxes: all(EDITABLE).filter(canBeAsked).length, fields: all(EDITABLE).filter(seen).length, elements: query(document, "*").length,
  login: all("input[type=password]").some(seen) && !all("textarea").some(seen),
});

// For a picture: frames around the box, the button that was clicked to send, and the answer.
const outline = (clicked) => {
  const draw = (element, colour, name, crossed) => {
    const [area] = Array.isArray(element) ? element : element ? rects(element) : [];
    if (!area) return;
    const frame = document.createElement("div"), tag = document.createElement("div");
    const place = `left:${area.left + window.scrollX - 3}px;top:${area.top + window.scrollY - 3}px;`;
    frame.setAttribute("style", `position:absolute;${place}width:${area.width + 6}px;height:${area.height + 6}px;border:3px solid ${colour};box-sizing:border-box;z-index:2147483647;pointer-events:none${crossed ? `;background:linear-gradient(to top right, transparent 48%, ${colour} 48%, ${colour} 52%, transparent 52%)` : ""}`);
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
  if (!state.mark) return true;
  const { rule } = state.mark;
  for (const element of state.located) draw(element, "#2e7d32", "the answer");
  const inAnswer = (element) => state.located.some((answer) => within(element, answer));
  for (const element of [...rule.ignore, ...rule.thinking].flatMap((selector) => all(selector)).filter((e) => seen(e) && inAnswer(e))) draw(element, "#b71c1c", "left out", true);
  for (const element of rule.sources ? all(rule.sources).filter(seen) : []) draw(element, "#6a1b9a", "sources");
  for (const element of shown([...rule.gone, ...rule.back]).slice(0, 5)) draw(element, "#00838f", "sign of the end");
  return true;
};

// For messages: what there is on the page, and where an answer seems to be.
const label = (element) => squeezed((element.placeholder || textContent(element) || element.value || "").slice(0, 500)).slice(0, 40);
const candidates = () => all(EDITABLE + ", button, [type=submit]")
  .filter(seen).slice(0, 20).map((element) => path(element) + (label(element) ? "  " + quoted(label(element)) : ""));
const allText = (longest) => (document.body ? readable(document.body, (e) => isWritten(e) || SKIP.has(tagName(e)) || isIcon(e)).slice(0, longest) : "");
const guess = () => {
  const [first] = state.mark ? news().filter(({ text }) => !isEcho(text)) : [];
  return first ? path(first.element) : null;
};
const which = (marks) => marks.findIndex((mark) => query(document, mark).length > 0);
const wrong = (selectors) => selectors.findIndex((selector) => {
  try {
    return selector !== null && !query(document.createDocumentFragment(), selector);
  } catch {
    return true;
  }
});

const follows = (one, other) => Boolean(compare(other, one) & 4); // Node.DOCUMENT_POSITION_FOLLOWING
const currentBox = () => (state.box && state.box.isConnected ? state.box : all(EDITABLE).filter(seen).pop());
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
const api = { sender, closer, step };
for (const [name, work] of Object.entries({ mark, restore, look, tree, pick, candidates, guess, wrong, which, path, unsent, signs, outline, allText, dialogText, leftOver, chatBox })) api[name] = safely(work);
Object.defineProperty(window, "__ragmeter", { value: Object.freeze(api) });
