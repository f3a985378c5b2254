// Which of the new pieces of text are the answer, and which of them only label it.
const depth = (element) => {
  let count = 0;
  for (let e = element; e; e = parent(e)) count++;
  return count;
};
const follows = (one, other) => Boolean(compare(other, one) & 4); // Node.DOCUMENT_POSITION_FOLLOWING
const digits = (text) => text.replace(/\d+/g, "0");
const known = (element) => {
  let e = element;
  while (e && !state.mark.there.has(e)) e = parent(e);
  return e;
};
const CLOCK = /^\D{0,12}\d{1,2}[:.]\d{2}\D{0,12}$/;
const MOST_ECHOES = 20;
const surroundings = (echo) => echo.slice(0, MOST_ECHOES).map(({ element }) => ({ element, outer: lineage([element]) }));
const common = ({ outer }, element) => { // the smallest element around both
  let e = element;
  while (e && !outer.has(e)) e = parent(e);
  return e;
};
// Whether two elements stand in the same way in an element around them, as two messages do.
const isParallel = (one, other, outer) => {
  const tags = (element) => {
    const path = [];
    for (let e = element; e && e !== outer; e = parent(e)) path.push(tagName(e));
    return path.join(" ");
  };
  return !isNow(squeezed(textContent(one))) && tags(one) === tags(other);
};

// -- labels: what a message has beside its text ---------------------------------------------------------------------------
// A place in a message: the element, what is around it, and their classes, but for those that say whose message it is.
const SIDE = /(^|[-_])(sent|received|incoming|outgoing|user|bot|assistant|ai|human|me|mine|own|you|self|other|left|right|start|end|system|model)($|[-_])/i;
const place = (element) => {
  const names = [];
  for (let e = element, steps = 0; e && steps < 3; e = parent(e), steps++) {
    names.push(tagName(e) + [...classes(e)].map((name) => name.replace(SIDE, "*")).sort().join("."));
  }
  return names.join("<");
};
const MOST_PIECES = 3000, LABEL = 60; // of a message that is compared with the question's, and characters of a label
// The places that hold something else than the question in the question's own message, and are in the answer's as well.
const labelPlaces = (echo, rest) => {
  const places = new Set(), elements = new Map(), small = new Map(), own = new Set(echo.map(({ element }) => place(element)));
  if (!echo.length || rest.length > MOST_PIECES) return places;
  const around = lineage(echo.slice(0, 3).map(({ element }) => element));
  for (const { element } of rest) {
    if (!elements.has(place(element))) elements.set(place(element), []);
    elements.get(place(element)).push(element);
  }
  for (const { element, text } of rest) {
    const alike = elements.get(place(element));
    if (text.length > LABEL || own.has(place(element)) || alike.length < 2) continue;
    let top = element;
    while (parent(top) && !around.has(parent(top))) top = parent(top);
    const outer = parent(top);
    if (!outer || outer === document.body || state.mark.there.has(outer)) continue;
    if (!small.has(outer)) small.set(outer, isSmall(outer, echo));
    if (small.get(outer) && alike.some((other) => !within(other, outer))) places.add(place(element)); // not the whole conversation
  }
  return places;
};
// Whether an element holds the question and little else: its message, not the conversation.
const isSmall = (element, echo) => squeezed(textOf(element)).length <= Math.max(...echo.map(({ text }) => text.length)) + 2 * LABEL;
const textOf = (element, longest = 20000) => {
  let text = "";
  const collect = (node) => {
    if (text.length > longest) return;
    if (nodeType(node) === 3) text += node.data;
    else if (nodeType(node) === 1 && !SKIP.has(tagName(node)) && !isTool(node) && !isIcon(node)) {
      if (!visible(styleOf(node))) return;
      if (isBlock(styleOf(node))) text += "\n";
      for (const child of children(node)) collect(child);
    }
  };
  collect(element);
  return text;
};
// Numbers that run: the same words with other numbers, again and again.
const runs = (piece) => {
  const { running } = state.mark, last = running.get(piece.element), pattern = digits(piece.text);
  if (!/\d/.test(piece.text) || piece.text.length > LABEL) return false;
  if (!last || last.pattern !== pattern) running.set(piece.element, { pattern, text: piece.text, changes: 0 });
  else if (last.text !== piece.text) running.set(piece.element, { pattern, text: piece.text, changes: last.changes + 1 });
  return running.get(piece.element).changes >= 2;
};
// What the messages of two questions have in common at the same place, while they differ elsewhere. Each message of earlier
// questions, perhaps on other pages, is a list of places and texts.
const inCommon = (messages) => {
  const places = new Map();
  for (const parts of messages) {
    for (const [where, text] of parts) {
      if (!places.has(where)) places.set(where, { text, messages: [] });
      const known = places.get(where);
      if (known.text !== text) known.text = null; // it differs
      known.messages.push(parts);
    }
  }
  return places;
};
const MOST_PARTS = 100;
const partsOf = (some) => some.slice(0, MOST_PARTS).map(({ element, text }) => [key(place(element)), key(text)]);
const SENTENCES = "p, ul, ol, table, pre, blockquote";
const isShared = ({ element, text }, current) => {
  if (!state.mark.shared.size || text.split(" ").length > 4 || /[.:!?…]$/.test(text) || inSentence(element)) return false;
  const shared = state.mark.shared.get(key(place(element)));
  if (!shared || shared.text !== key(text)) return false;
  const outer = parentElement(element), inText = tagName(element) === "P" && outer && [...query(outer, SENTENCES)].some((other) => other !== element);
  return !inText && shared.messages.some((parts) => !parts.every(([where, own]) => current.has(where + own)));
};
const SPEAKER = /^\W*((\w+ )?(bot|chatbot|assistant|copilot|agent|helper)|ai|gpt-?\w*|chatgpt|claude|gemini|llama\S*|mistral\S*|qwen\S*)\W*$/i;
// A short text that was alone in the message at first, and stays as it is while others come beside it: a name.
const wasAlone = (rest) => {
  const { mark } = state, [only] = rest;
  if (rest.length === 1 && only.text.split(" ").length <= 4 && !/[.:!?…,]$/.test(only.text) && !SENTENCE.has(tagName(only.element))) mark.alone = { element: only.element, text: only.text };
  const alone = mark.alone && rest.find(({ element, text }) => element === mark.alone.element && text === mark.alone.text);
  return alone && rest.length > 1 && rest.every((piece) => piece === alone || parent(piece.element) !== parent(alone.element)) ? alone : null;
};
const NEVER = new Set(["LI", "TD", "TH", "PRE", "CODE", "H1", "H2", "H3", "H4", "H5", "H6"]);
const isLabel = (piece, places, current) => {
  const { element, text } = piece;
  if (text.length > LABEL || (NEVER.has(tagName(element)) && !isCodeLabel(element, text))) return false;
  if (!state.lenient && (isNow(text) || isInitials(element, text) || (SPEAKER.test(text) && tagName(element) !== "P"))) return true;
  return isState(text) || isShared(piece, current) || runs(piece) || isCodeLabel(element, text) || (places.size > 0 && places.has(place(element)));
};

// -- where an answer is not: beside the box, or outside the region that the page reads aloud --------------------------------
const currentBox = () => (state.box && state.box.isConnected ? state.box : all(EDITABLE).filter(seen).pop());
const isBesideBox = (piece, echo) => {
  if (!echo.length || piece.text.length > 400) return false;
  const { boxSide } = state.mark;
  if (boxSide.look !== state.looks) {
    const around = lineage(echo.map(({ element }) => element));
    let top = currentBox();
    while (top && parent(top) && !around.has(parent(top))) top = parent(top);
    Object.assign(boxSide, { look: state.looks, top: top && around.has(parent(top)) ? top : null });
  }
  return Boolean(boxSide.top) && within(piece.element, boxSide.top);
};

// A message that was there before the question, and stands above it: a greeting that is written late, for one.
const below = (element, outer) => { // the element inside the outer one that holds this one
  let top = element;
  while (parent(top) && parent(top) !== outer) top = parent(top);
  return top;
};
const olderThan = (echo) => {
  const { there } = state.mark, echoed = state.lenient ? [] : surroundings(echo);
  return ({ element }) => echoed.length > 0 && echoed.every((said) => {
    const outer = common(said, element);
    if (!outer || outer === element || outer === said.element || follows(element, said.element)) return false;
    return there.has(below(element, outer)) && !there.has(below(said.element, outer));
  });
};

// Of what is new, what may be an answer: not a number that counts on by itself, nor a notice, nor what stands around the
// question's echo, nor what is far from it if something is near.
const likely = (news, echo) => {
  const { was, notices, there } = state.mark;
  const counts = ({ element, text }) => was.has(element) && digits(was.get(element)) === digits(text) && !(state.home && element.closest(state.home));
  const echoed = surroundings(echo);
  const beside = (piece) => echoed.every((said) => {
    const outer = common(said, piece.element);
    if (follows(piece.element, said.element)) return there.has(outer) || !CLOCK.test(piece.text) || isParallel(piece.element, said.element, outer);
    return piece.text.length > 40 || (there.has(outer) && !within(state.box, outer));
  });
  let left = news.filter((piece) => !counts(piece) && notices.has(piece.passing) && beside(piece) && !isBesideBox(piece, echo));
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

// -- messages whose author the page names -----------------------------------------------------------------------------------
const ASSISTANT = [
  ...["data-message-author-role", "data-message-role", "data-role", "data-author", "data-author-role", "data-sender"].flatMap((name) => [`[${name}="assistant" i]`, `[${name}="bot" i]`, `[${name}="ai" i]`]),
  "[data-testid='assistant-message']", "[data-testid='bot-message']",
  "[data-step-type='assistant_message'] .message-content", // Chainlit
  "[data-testid='bot']", // Gradio
  "[data-testid='stChatMessageContent'][aria-label*='assistant' i]", // Streamlit
  ".q-message-received .q-message-text-content", // NiceGUI and others on Quasar
  ".chat-assistant", // Open WebUI
  ".agent-turn .message-content", // LibreChat
  ".chat-answer-container", // Dify
  ".chatbot-host-bubble", // Flowise
].join(", ");
// Pieces in what a page calls the content of a message, or in the region with the question that it has read aloud; all of
// them if it has no such thing.
const inContent = (pieces, echo) => {
  const holds = (outer, some) => some.filter(({ element }) => outer.some((e) => within(element, e)));
  const contents = all(".message-content").filter((e) => !echo.some(({ element }) => within(element, e)));
  const own = contents.length ? holds(contents, pieces) : [];
  if (own.length || !echo.length) return own.length ? own : pieces;
  const regions = all("[role='log'], [aria-live='polite'], [aria-live='assertive']").filter((e) => echo.some(({ element }) => within(element, e)));
  return regions.length && !state.lenient ? holds(regions, pieces) : pieces;
};
// New messages of the assistant's; null if the page names none.
const marked = (rest, echo) => {
  const messages = all(ASSISTANT).filter(seen);
  if (!messages.length) return null;
  const holdsNew = lineage(rest.map(({ element }) => element)), last = echo[echo.length - 1];
  const isNew = (message) => holdsNew.has(message) || (!state.mark.there.has(message) && (!last || follows(message, last.element)));
  const fresh = messages.filter(isNew), inner = new Set(fresh);
  return fresh.filter((message) => {
    for (let e = parent(message); e; e = parent(e)) if (inner.has(e)) return false;
    return true;
  });
};
