// Readable text of an element: line breaks, lists, tables, code, formulas, links.
const FAR = new Set(["P", "H1", "H2", "H3", "H4", "H5", "H6", "PRE", "TABLE", "BLOCKQUOTE", "HR"]);

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

const readable = (root, skipped, length = counter(LONGEST, "the answer has more characters than ")) => {
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
    let text = data.replace(space === "pre-line" ? /[ \t\r\f]+/g : /[ \t\r\n\f]+/g, " ");
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
    say("| " + [...node.cells].map((cell) => squeezed(readable(cell, skipped, length))).join(" | ") + " |");
    apart(1);
  };
  const fenced = (code) => { apart(2); say("```\n" + code.replace(/^\n+/, "").trimEnd() + "\n```"); apart(2); };
  const SPECIAL = {
    BR: () => { breaks = Math.min(2, breaks + 1); },
    IMG: (node) => { if (node.alt && !isPortrait(node)) flow(" " + node.alt + " ", "normal"); },
    TEXTAREA: (node) => { length(node.value.length); if (node.value) say(node.value); },
    INPUT: (node) => { if (node.value) say(node.value); },
    PRE: (node) => { const code = query(node, "code"); fenced(part(code.length === 1 ? code[0] : node)); },
    LI: item,
    TR: row,
    A: (node) => {
      if (!/^https?:/.test(node.href)) return inside(node);
      const label = squeezed(part(node));
      flow(!label || label === node.href ? node.href : "[" + label + "](" + node.href + ")", "normal");
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
    if (type === 3 && state.labels.has(node)) return;
    if (type === 3) length(node.data.length);
    if (type === 3) return flow(node.data, parentElement(node) ? styleOf(parentElement(node)).whiteSpace : "normal");
    if (type !== 1 || (node !== root && skipped(node))) return;
    const style = styleOf(node), tag = tagName(node);
    if (!visible(style) || (node !== root && tag !== "A" && clickable(style, cursor))) return;
    const formula = tag === "math" && query(node, "annotation[encoding='application/x-tex']")[0];
    if (formula) return say("$" + textContent(formula).trim() + "$");
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
