// What is on the page, and what of it is new since the question: a walk over all that can be seen. The learner gets it as
// a flat list, and decides in Python what of it is the answer.
const state = { mark: null, box: null, button: null, located: [] };
const isWritten = (element) => element === state.box || (element.isContentEditable && !inEditor(element));
const skipped = (element) => isWritten(element) || SKIP.has(tagName(element)) || isTool(element) || isIcon(element);
const FLOATS = new Set(["fixed", "sticky"]);

// Blocks, in their order: each with the text that stands directly in it and in what is inline in it.
const walk = () => {
  let order = 0;
  const blocks = [], count = counter(MOST_NODES, "the page has more elements and texts than ");
  const block = (element, style, outer, about) => {
    if (FLOATS.has(style.position) && !within(state.box, element)) about = { ...about, passing: element };
    if (tagName(element) !== "A" && clickable(style, outer)) about = { ...about, aside: true };
    const own = [], one = { element, text: "", nodes: [], ...about };
    blocks.push(one);
    const say = (node, text) => {
      own.push(text);
      if (/\S/.test(text)) one.nodes.push({ node, text, order: order++ });
    };
    const inline = (node, cursor) => {
      for (const child of children(node)) {
        count(1);
        const type = nodeType(child);
        if (type === 3) say(node, child.data);
        if (type !== 1 || isWritten(child)) continue;
        const source = formula(child);
        if (source) { say(child, source); continue; }
        if (skipped(child) || (tagName(child) === "A" && isCitation(child))) continue;
        const its = styleOf(child);
        if (!visible(its, child)) continue;
        if (isEditor(child) || tagName(child) === "TEXTAREA") say(child, isEditor(child) ? editorText(child) : child.value);
        else if (isBlock(its) || shadow(child)) block(child, its, cursor, about);
        else {
          if (tagName(child) === "BR") own.push(" ");
          inline(child, its.cursor);
        }
      }
    };
    inline(element, style.cursor);
    one.text = squeezed(own.join(""));
  };
  if (document.body) block(document.body, styleOf(document.body), "auto", {});
  return blocks.filter(({ text }) => text);
};

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
const counts = (texts) => {
  const all = new Map();
  for (const text of texts) all.set(text, (all.get(text) || 0) + 1);
  return all;
};
const packed = (all) => [...all].map(([text, times]) => text + "\t" + times).join("\n"); // no text has a tab in it
const unpacked = (lines) => new Map(lines ? lines.split("\n").map((line) => line.split("\t")).map(([text, times]) => [text, Number(times)]) : []);
// Of texts in their order, those that are there more often than they were.
const beyond = (items, textOf, before) => {
  const left = new Map(before);
  return items.filter((item) => {
    const times = left.get(textOf(item)) || 0;
    if (times > 0) left.set(textOf(item), times - 1);
    return times === 0;
  });
};

// -- the question's own echo: as it is, or by its lines; cut short, as a title; or with a word or two beside it ------------
const letters = (text) => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");
const words = (text) => (text.match(/\p{L}+/gu) || []).length;
const isEcho = (text) => {
  const { question } = state.mark, plain = squeezed(question), whole = letters(question), bare = letters(question.replace(/<[^<>]*>/g, " ")), said = letters(text);
  if (text.length > 2 * question.length + 200) return false;
  if (!said || !whole) return text === plain;
  const few = words(text) - words(plain) <= 2;
  return [whole, bare, ...question.split("\n").map(letters)].filter(Boolean).includes(said) || (text.endsWith(": " + plain) && few)
    || (/(\.\.\.|…)$/.test(text) && whole.startsWith(said)) || (few && words(plain) > 2 && [whole, bare].some((part) => said.startsWith(part) || said.endsWith(part)));
};
// Texts that are there more often than they were; what stands in an old element is old, as long as it can be.
const news = () => {
  const { there, texts } = state.mark, blocks = walk(), left = new Map(texts), textOf = ({ text }) => key(text);
  const fresh = new Set(beyond([...blocks.filter(({ element }) => there.has(element)), ...blocks.filter(({ element }) => !there.has(element))], textOf, left));
  return blocks.filter((block) => fresh.has(block));
};

// -- the tree ---------------------------------------------------------------------------------------------------------------
// No ids and classes that a program has made up.
const GENERATED = /\d[a-z]|\d{3}|\d.*[a-z].*\d|^(css|sc|jss|svelte|emotion|st-emotion|radix|headlessui|mui|ember|ng)-|[[\]/:!]/i;
const NAMES = ["data-testid", "data-test", "data-message-author-role", "data-message-role", "data-role", "data-author", "data-sender", "data-step-type", "data-type", "role", "itemprop", "part"];
const TABLE = new Set(["TD", "TH"]);
const tokens = (element) => {
  const id = attribute(element, "id"), own = [];
  if (id && !/\d/.test(id) && !GENERATED.test(id)) own.push("#" + CSS.escape(id));
  for (const name of NAMES) {
    const value = attribute(element, name);
    if (value && value.length <= 40 && !/\d/.test(value)) own.push(`[${name}="${value.replace(/["\\]/g, "\\$&")}"]`);
  }
  for (const name of classes(element)) if (!GENERATED.test(name) && name.length <= 60) own.push("." + CSS.escape(name));
  const place = TABLE.has(tagName(element)) ? [`:nth-child(${[...elementsIn(parentElement(element))].indexOf(element) + 1})`] : [];
  return [...own.slice(0, 12), ...place];
};
// Of a text that has grown since the question, as in a terminal, what was added; and of lines, the question's own.
const textsOf = (blocks) => {
  const texts = new Map();
  for (const { node, text } of blocks.flatMap(({ nodes }) => nodes)) {
    if (!texts.has(node)) texts.set(node, []);
    texts.get(node).push(text);
  }
  return texts;
};
const grown = (nodes) => {
  const places = new Map();
  return nodes.map((part) => {
    const place = places.get(part.node) || 0, was = (state.mark.grown.get(part.node) || [])[place];
    places.set(part.node, place + 1);
    return { ...part, text: was && part.text.startsWith(was) ? part.text.slice(was.length) : part.text };
  }).filter(({ text }) => /\S/.test(text));
};
const isLine = (line) => letters(line) === letters(state.mark.question) || letters(line.replace(/^[^:>]{0,30}[:>]/, "")) === letters(state.mark.question);
const inLines = (part) => {
  const lines = part.text.split("\n"), place = lines.findIndex((line) => /\S/.test(line) && isLine(line));
  if (lines.length < 2 || place < 0) return [part];
  const rest = lines.slice(place + 1).join("\n");
  return [{ ...part, text: lines[place], echoed: true }, ...(/\S/.test(rest) ? [{ ...part, text: rest }] : [])];
};
const isRound = (element) => {
  const [box] = rects(element);
  return Boolean(box) && box.width <= 64 && box.height <= 64 && box.width >= 8 && Math.abs(box.width - box.height) <= 6 && parseFloat(styleOf(element).borderTopLeftRadius) >= (styleOf(element).borderTopLeftRadius.endsWith("%") ? 45 : 0.45 * box.width);
};
const MOST_IN_TREE = 6000, LONGEST_IN_TREE = 4000;
// [place of what is around it, tag, tokens, flags] for an element, [place, text] for a text. Nothing where that is too much.
const tree = () => {
  const list = [], places = new Map(), blocks = news();
  const place = (element) => {
    if (!element) return -1;
    if (!places.has(element)) {
      const chain = [];
      for (let e = element; e && !places.has(e); e = parent(e)) chain.push(e);
      for (const e of chain.reverse()) {
        const its = styleOf(e), isNew = !state.mark.there.has(e);
        const flags = [[isNew, "n"], [isBlock(its), "b"], [!parentElement(e) && parent(e), "r"], [isButton(e), "c"], [isRound(e), "i"], [tagName(e) === "A" && e.href, "l"], [e === state.picked, "p"]].filter(([holds]) => holds).map(([, flag]) => flag).join("");
        list.push([parent(e) ? places.get(parent(e)) : -1, tagName(e), tokens(e), flags]);
        places.set(e, list.length - 1);
      }
    }
    return places.get(element);
  };
  const texts = blocks.flatMap(({ element, text, nodes, aside, passing }) => {
    const flags = (aside ? "a" : "") + (passing && !state.mark.floating.has(passing) ? "f" : ""), isWhole = (said) => isEcho(said) && words(said) >= Math.max(2, words(state.mark.question));
    const echoed = TABLE.has(tagName(element)) ? isWhole(text) : isEcho(text);
    return grown(nodes).flatMap((part) => inLines(part).map((line) => ({ ...line, flags: (echoed || line.echoed || isWhole(squeezed(line.text)) ? "e" : "") + flags })));
  });
  for (const { node, text, flags } of texts.sort((one, other) => one.order - other.order)) {
    list.push([place(node), text.slice(0, LONGEST_IN_TREE), flags]);
    if (list.length > MOST_IN_TREE) return [];
  }
  return list;
};
// The tree with an element that a person has clicked marked in it, if that has something new that is not the question.
const pick = (element) => {
  const isIn = ({ element: block, text }) => !isEcho(text) && (within(element, block) || within(block, element));
  if (!state.mark || within(state.box, element) || !news().some(isIn)) return null;
  state.picked = element;
  return tree();
};
