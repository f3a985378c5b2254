// The DOM as the browser made it. A page may put its own functions in the place of the DOM's, or hide properties by the
// names of its form fields (<input name="parentElement">); neither changes what our script reads.
if (window.__ragmeter) return; // one window may be set up twice
const { Boolean, CSS, Date, Error, Map, Math, Number, Object, Set, ShadowRoot, String, WeakSet, parseFloat } = window;
const { apply } = Reflect, quoted = JSON.stringify;
const getter = (owner, name) => {
  const { get } = Object.getOwnPropertyDescriptor(owner.prototype, name);
  return (object) => apply(get, object, []);
};
const method = (owner, name) => {
  const native = owner.prototype[name];
  return (object, ...given) => apply(native, object, given);
};
const nodeType = getter(Node, "nodeType"), parentNode = getter(Node, "parentNode"), parentElement = getter(Node, "parentElement");
const childNodes = getter(Node, "childNodes"), textContent = getter(Node, "textContent"), rootNode = method(Node, "getRootNode");
const previousOf = getter(Node, "previousSibling"), nextOf = getter(Node, "nextSibling");
const tagName = getter(Element, "tagName"), elementsIn = getter(Element, "children"), attribute = method(Element, "getAttribute"), classes = getter(Element, "classList");
const rects = method(Element, "getClientRects"), matches = method(Element, "matches"), compare = method(Node, "compareDocumentPosition");
const computed = window.getComputedStyle;
const styleOf = (element) => apply(computed, window, [element]);
const queries = { 1: method(Element, "querySelectorAll"), 9: method(Document, "querySelectorAll"), 11: method(DocumentFragment, "querySelectorAll") };
const query = (root, selector) => queries[nodeType(root)](root, selector);

// -- limits: what is read from a page, in nodes and characters; beyond them the page has no answer that a person would read
const MOST_NODES = 1000000, LONGEST = 10000000;
class Limit extends Error {}
const spell = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, ",");
const counter = (most, message) => {
  let count = 0;
  return (more) => {
    count += more;
    if (count > most) throw new Limit(message + spell(most));
  };
};

// -- closed shadow roots: open to us, which is what a selector needs, and closed to the page as before ------------------
const hidden = new WeakSet();
const attach = Element.prototype.attachShadow;
const rootOf = Object.getOwnPropertyDescriptor(Element.prototype, "shadowRoot");
const shadow = (element) => apply(rootOf.get, element, []);
Element.prototype.attachShadow = function (init) {
  const root = apply(attach, this, [{ ...init, mode: "open" }]);
  if (init && init.mode === "closed") hidden.add(this);
  watch(root);
  return root;
};
Object.defineProperty(Element.prototype, "shadowRoot", {
  ...rootOf,
  get() { return hidden.has(this) ? null : shadow(this); },
});

// -- looking around -------------------------------------------------------------------------------------------------
const SKIP = new Set(["SCRIPT", "STYLE", "NOSCRIPT", "TEMPLATE", "SVG", "svg", "INPUT", "SELECT", "OPTION", "HEAD"]);
const BLOCK = /^(block|flex|grid|table|list-item|flow-root|table-.*)$/;
const squeezed = (text) => text.replace(/\s+/g, " ").trim();
const parent = (element) => {
  const outer = parentElement(element), root = outer ? null : rootNode(element);
  return outer || (root instanceof ShadowRoot ? root.host : null);
};
const within = (element, outer) => {
  for (let e = element; e; e = parent(e)) if (e === outer) return true;
  return false;
};
// These elements and everything around them.
const lineage = (elements) => {
  const all = new Set();
  for (const element of elements) for (let e = element; e && !all.has(e); e = parent(e)) all.add(e);
  return all;
};
// What only a screen reader is given is cut to nothing, or lies outside the page: it repeats what can be seen.
const isAway = (element, style) => {
  if (style.position !== "absolute" && style.position !== "fixed") return false;
  if (style.clip !== "auto" || /inset\((50|100)%/.test(style.clipPath)) return true;
  const [area] = rects(element);
  if (!area) return false;
  return (style.overflow !== "visible" && (area.width <= 1 || area.height <= 1)) || area.right + window.scrollX <= 0 || area.bottom + window.scrollY <= 0;
};
const visible = (style, element) => style.display !== "none" && style.visibility !== "hidden" && style.opacity !== "0" && !isAway(element, style);
const isBlock = (style) => BLOCK.test(style.display);
const children = (node) => {
  if (shadow(node)) return [...childNodes(shadow(node))];
  if (tagName(node) === "SLOT") {
    const given = node.assignedNodes({ flatten: true });
    if (given.length) return given;
  }
  if (tagName(node) === "DETAILS" && !node.open) return [...elementsIn(node)].filter((child) => tagName(child) === "SUMMARY");
  return [...childNodes(node)];
};
// Elements by a selector, through shadow roots.
const all = (selector, root = document, matches = []) => {
  for (const element of query(root, selector)) matches.push(element);
  for (const element of query(root, "*")) if (shadow(element)) all(selector, shadow(element), matches);
  return matches;
};
const seen = (element) => rects(element).length > 0 && visible(styleOf(element), element);
// A block that is there to be clicked, like a question to ask next. A mark in the text, like a citation, is inline.
const clickable = (style, outer) => style.cursor === "pointer" && outer !== "pointer" && style.display !== "inline";
