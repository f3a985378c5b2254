// Readable text of an element: line breaks, lists, tables, code, formulas, links. It is the same for every page.
const FAR = new Set(["P", "H1", "H2", "H3", "H4", "H5", "H6", "PRE", "TABLE", "BLOCKQUOTE", "HR"]);
const SENTENCE = new Set(["P", "LI", "TD", "TH", "BLOCKQUOTE", "H1", "H2", "H3", "H4", "H5", "H6", "A", "EM", "STRONG"]);
const PICTOGRAM = /(^|\s)(material-icons|material-symbols|notranslate)/;
const isIcon = (element) => PICTOGRAM.test(attribute(element, "class") || "");
// A button is no text, but for one in a sentence: some pages make their links so.
const isButton = (element) => tagName(element) === "BUTTON" || attribute(element, "role") === "button";
const isText = (node) => Boolean(node) && nodeType(node) === 3 && /\S/.test(node.data);
const inSentence = (element) => (SENTENCE.has(tagName(parent(element) || element)) || (isText(previousOf(element)) && isText(nextOf(element)))) && /\p{L}{2}/u.test(textContent(element)) && textContent(parent(element)).trim().length > textContent(element).trim().length;
const isTool = (element) => (isButton(element) && !inSentence(element)) || attribute(element, "aria-hidden") === "true";
const isPortrait = (image) => {
  const [box] = rects(image);
  return /avatar|logo|profile|icon|portrait/i.test((attribute(image, "alt") || "") + " " + (attribute(image, "class") || "")) || Boolean(box && box.width <= 64 && box.height <= 64 && !SENTENCE.has(tagName(parent(image) || image)));
};
// The source of a formula, or its characters; nothing if the element is none.
const formula = (element) => {
  const tag = tagName(element);
  if (tag !== "math" && tag !== "MJX-CONTAINER" && !classes(element).contains("katex")) return "";
  const source = query(element, "annotation[encoding='application/x-tex']")[0], math = tag === "math" ? element : query(element, "math")[0];
  const text = source ? textContent(source) : math ? attribute(math, "alttext") || textContent(math) : textContent(element);
  return "$" + squeezed(text) + "$";
};
// -- labels of code: its language, tools and line numbers -------------------------------------------------------------
const TOOLS = /^\W*(copy( code)?|copied!?|run|save|edit|download|wrap|collapse|expand|preview|kopieren|copiar|copier)\W*$/i;
const LANGUAGE = /^(python|py|javascript|js|typescript|ts|jsx|tsx|java|kotlin|scala|swift|c|c\+\+|cpp|c#|csharp|go|golang|rust|ruby|php|perl|r|julia|bash|sh|shell|zsh|powershell|sql|html|xml|css|scss|json|yaml|yml|toml|ini|markdown|md|latex|dockerfile|makefile|text|txt|plaintext|plain text|code|console|diff|graphql|lua|dart|matlab|haskell|elixir)$/i;
const CODE = "pre, .cm-editor, .CodeMirror, .monaco-editor, .ace_editor";
const isCounting = (text) => {
  const digits = text.replaceAll(" ", "");
  let count = "";
  for (let line = 1; count.length < digits.length; line++) count += line;
  return digits !== "" && count === digits;
};
const isCodeLabel = (element, text) => {
  if (!isCounting(text) && (text.length > 30 || !(LANGUAGE.test(text) || TOOLS.test(text)))) return false;
  let outer = element;
  for (let steps = 0; steps < 6 && outer; steps++, outer = parent(outer)) {
    const code = query(outer, CODE);
    if (code.length > 1) return false;
    if (code.length === 1) return !within(element, code[0]) && squeezed(textContent(outer)).length <= squeezed(textContent(code[0])).length + 60;
  }
  return false;
};

// -- code in an editor that only shows it ---------------------------------------------------------------------------------
const EDITOR = /(^|\s)(cm-editor|CodeMirror|monaco-editor|ace_editor)(\s|$)/;
const isEditor = (element) => EDITOR.test(attribute(element, "class") || "");
const inEditor = (element) => {
  for (let e = element, steps = 0; e && steps < 12; e = parent(e), steps++) if (isEditor(e) || tagName(e) === "PRE" || attribute(e, "aria-readonly") === "true") return true;
  return false;
};
// All of its text, where the editor has only the lines in the document that can be seen.
const wholeText = (element) => {
  try {
    const content = query(element, ".cm-content")[0] || {}, view = (content.cmView || content.cmTile || {}).view;
    const text = view ? String(view.state.doc) : element.CodeMirror ? element.CodeMirror.getValue() : element.env ? element.env.editor.getValue() : null;
    return typeof text === "string" ? text : null;
  } catch {
    return null;
  }
};
const editorText = (element) => {
  const whole = wholeText(element);
  if (whole !== null) return whole;
  const lines = [...query(element, ".cm-line, .CodeMirror-line, .view-line, .ace_line")];
  const top = (line) => parseFloat(line.style.top) || 0;
  if (query(element, ".view-line").length) lines.sort((one, other) => top(one) - top(other));
  return lines.map((line) => textContent(line).replace(/\u00a0/g, " ").replace(/\u200b/g, "")).join("\n");
};

// A link that only numbers a source: of the page itself, raised, or called a citation.
const SOURCE_MARK = /(^|[\s_-])(cit(e|ation)|footnote|reference)s?([\s_-]|$)/i;
const isCitation = (link) => /^\[?\d{1,3}\]?$/.test(squeezed(textContent(link))) && (
  /^#/.test(attribute(link, "href") || "")
  || [link, parent(link)].some((element) => element && (tagName(element) === "SUP" || SOURCE_MARK.test(attribute(element, "class") || ""))));

// Text in pieces: joined only once, since it may have very many.
class Text {
  parts = [];
  get last() { return this.parts.length ? this.parts[this.parts.length - 1] : ""; }
  get endsInSpace() { return /\s/.test(this.last.slice(-1)); }
  add(text) { if (text) this.parts.push(text); }
  trimLine() {
    while (this.parts.length) {
      const last = this.last;
      let end = last.length;
      while (end && (last[end - 1] === " " || last[end - 1] === "\t")) end--;
      if (end) return void (this.parts[this.parts.length - 1] = last.slice(0, end));
      this.parts.pop();
    }
  }
  toString() { return this.parts.join(""); }
}

const readable = (root, skipped, length = counter(LONGEST, "the answer has more characters than "), links = []) => {
  let out = new Text(), breaks = 0, marker = "", depth = 0;
  const cursor = styleOf(root).cursor, places = new Map();
  const apart = (lines) => { if (!marker) breaks = Math.max(breaks, lines); };
  const say = (text) => {
    if (breaks && out.last) {
      out.trimLine();
      out.add("\n".repeat(breaks));
    }
    out.add(marker + text);
    breaks = 0;
    marker = "";
  };
  const flow = (data, space) => {
    if (/^(pre|break-spaces)/.test(space) && space !== "pre-line") return void (data && say(data));
    let text = data.replace(/\u200b/g, "").replace(space === "pre-line" ? /[ \t\r\f]+/g : /[ \t\r\n\f]+/g, " ");
    if (breaks || marker || !out.last || out.endsInSpace) text = text.replace(/^ /, "");
    if (text) say(text);
  };
  const place = (list, node) => { // the items of a list are counted once
    if (!places.has(list)) places.set(list, new Map([...elementsIn(list)].map((item, index) => [item, index])));
    return places.get(list).get(node);
  };
  const item = (node) => {
    const list = parentElement(node), ordered = list && tagName(list) === "OL";
    apart(1);
    marker = "  ".repeat(Math.max(0, depth - 1)) + (ordered ? place(list, node) + (list.start || 1) + ". " : "- ");
    inside(node);
    marker = "";
    apart(1);
  };
  const inside = (node) => { for (const child of children(node)) write(child); };
  const row = (node) => {
    apart(1);
    say("| " + [...node.cells].map((cell) => squeezed(readable(cell, skipped, length, links))).join(" | ") + " |");
    apart(1);
  };
  const fenced = (code) => { apart(2); say("```\n" + code.replace(/^\n+/, "").trimEnd() + "\n```"); apart(2); };
  const SPECIAL = {
    BR: () => { breaks = Math.min(2, breaks + 1); },
    IMG: (node) => { if (node.alt && !isPortrait(node)) flow(" " + node.alt + " ", "normal"); },
    TEXTAREA: (node) => { length(node.value.length); if (node.value) say(node.value); },
    INPUT: (node) => { if (node.value) say(node.value); },
    PRE: (node) => { const code = query(node, "code"); node === root ? say(part(node).trim()) : fenced(part(code.length === 1 ? code[0] : node)); },
    LI: item,
    TR: row,
    A: (node) => {
      if (/^https?:/.test(node.href)) links.push(node.href);
      if (!isCitation(node)) inside(node);
    },
  };
  const part = (node) => { // the text of an element on its own
    const outer = [out, breaks, marker];
    [out, breaks, marker] = [new Text(), 0, ""];
    inside(node);
    const text = String(out);
    [out, breaks, marker] = outer;
    return text;
  };
  const write = (node) => {
    const type = nodeType(node);
      if (type === 3) length(node.data.length);
    if (type === 3) return flow(node.data, parentElement(node) ? styleOf(parentElement(node)).whiteSpace : "normal");
    if (type !== 1 || (node !== root && skipped(node))) return;
    const style = styleOf(node), tag = tagName(node);
    if (!formula(node) && (!visible(style, node) || (node !== root && tag !== "A" && !(isButton(node) && inSentence(node)) && clickable(style, cursor)))) return;
    if (!FAR.has(tag) && tag !== "CODE" && !SENTENCE.has(tag) && !inSentence(node) && isCodeLabel(node, squeezed(textContent(node)))) return;
    const source = formula(node);
    if (source) return flow(source, "normal");
    if (isEditor(node)) return fenced(editorText(node));
    if (SPECIAL[tag]) return SPECIAL[tag](node);
    const isList = tag === "UL" || tag === "OL";
    const lines = FAR.has(tag) || isList ? (depth ? 1 : 2) : isBlock(style) ? 1 : 0;
    apart(lines);
    depth += isList;
    inside(node);
    depth -= isList;
    apart(lines);
  };
  write(root);
  return String(out).trim();
};
