// Reads answers by a profile: by its selectors, and by nothing else.
const NONE = { selector: "", beside: null, ignore: [], prefixes: [], suffixes: [], thinking: [], sources: "", more: [], gone: [], back: [], errors: [] };
const outermost = (elements) => {
  const set = new Set(elements);
  return elements.filter((element) => {
    for (let e = parent(element); e; e = parent(e)) if (set.has(e)) return false;
    return true;
  });
};
const matching = (selector) => (selector ? outermost(all(selector).filter(seen)) : []);
const isTouched = (element) => {
  const outer = lineage([element]);
  return state.mark.reloaded || [...state.mark.touched].some((node) => outer.has(node) || within(node, element));
};
const deepText = (node) => (nodeType(node) === 3 ? node.data : nodeType(node) !== 1 || SKIP.has(tagName(node)) ? "" : children(node).map(deepText).join(" "));
const hasShadow = (element) => shadow(element) || [...query(element, "*")].some(shadow);
const plainText = (element) => squeezed(tagName(element) === "TEXTAREA" ? element.value : hasShadow(element) ? deepText(element) : textContent(element));
const textKey = (element) => key(plainText(element));
const remembered = (selector) => matching(selector).map((element) => [element, textKey(element)]);
// Words that begin or end a text; a # among them stands for a number.
const pattern = (text) => text.trim().replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/\s+/g, "\\s+").replace(/#/g, "\\d[\\d.,:]*");
const trimmed = (text, { prefixes, suffixes }) => {
  for (const words of prefixes) text = text.replace(new RegExp("^\\s*" + pattern(words) + "\\s*", "u"), "");
  for (const words of suffixes) text = text.replace(new RegExp("\\s*" + pattern(words) + "\\s*$", "u"), "");
  return text.trim();
};
// What is above the question's own message is no answer to it, if something is below: a greeting that is written late.
const belowQuestion = (elements) => {
  if (elements.length < 2) return elements;
  const echoes = news().filter(({ text }) => isEcho(text)), below = elements.filter((element) => echoes.some((echo) => follows(element, echo.element)));
  return below.length ? below : elements;
};
// The matches that are new since the question, or were written again; not the question's own message.
const fresh = (selector, before) => {
  const now = matching(selector), { there } = state.mark, was = new Map(before);
  const changed = now.filter((element) => (was.has(element) ? was.get(element) !== textKey(element) : true));
  const gone = counts(before.filter(([element]) => !element || !element.isConnected).map(([, text]) => text));
  const asks = (element) => isEcho(trimmed(plainText(element), state.mark.rule));
  const left = beyond(changed.filter((element) => !asks(element)), textKey, gone);
  if (left.length) return belowQuestion(left.filter((element) => !there.has(element) || was.has(element) || tagName(element) === "TEXTAREA" || [...state.mark.touched].some((node) => within(node, element))));
  const last = now[now.length - 1]; // the same words as before, written again
  return last && !asks(last) && (!was.has(last) || state.mark.touched.size) && isTouched(last) ? [last] : [];
};

const readByRule = (length) => {
  const { rule } = state.mark;
  const links = [], elements = fresh(rule.selector, state.mark.answers), ignore = new Set([...rule.ignore, ...rule.thinking].flatMap((selector) => all(selector)));
  const isIgnored = (element) => {
    for (let e = element; e; e = parent(e)) if (ignore.has(e)) return true;
    return false;
  };
  const leave = (element) => skipped(element) || ignore.has(element);
  return { elements, links, text: elements.filter((element) => !isIgnored(element)).map((element) => trimmed(added(element, readable(element, leave, length, links)), rule)).filter(Boolean).join("\n\n") };
};
// Of a text that has grown since the question, what was added, without the question's own line.
const added = (element, text) => {
  const was = state.mark.was.get(element) || (state.mark.grown.get(element) || []).join("").trim(), more = was && text.startsWith(was) ? text.slice(was.length).trim() : text;
  const [first, ...rest] = more.split("\n");
  return was && isLine(first) ? rest.join("\n").trim() : more;
};

// What looks like no part of an answer, and is not named in the profile: the answer may have it only now and then.
const STRANGE = /(^|[^a-z])(sources?|citations?|references?|refs|feedback|suggestions?|chips?|related|follow-?ups?|timestamps?|thinking|reasoning|thoughts?|toolbar|tool-?(call|use|result)s?|quick-?repl(y|ies)|disclaimer)([^a-z]|$)/i;
const MORE = /^\W*(show|read|see|view|load|expand|continue|mehr|mostrar|ver|leer|voir|afficher|lire)\b.{0,14}\b(more|all|full|rest|reading|answer|message|anzeigen|más|plus|suite|todo)\W*$|^\W*(more|mehr|más|plus|weiterlesen|read on|expand)\W*$/i;
const PLAIN = new Set(["P", "PRE", "CODE", "TABLE", "THEAD", "TBODY", "TR", "TD", "TH", "A", "SPAN", "SUP", "UL", "OL", "LI", "BLOCKQUOTE"]);
const namesOf = (element) => [...classes(element), attribute(element, "data-testid") || ""].join(" ").replace(/([a-z])([A-Z])/g, "$1 $2");
const HEADING = /^\W*(sources?|references|citations|related( (questions|articles|topics))?|see also|further reading|was this (answer )?helpful|follow-?ups?|fuentes|quellen|références|fonti)\W*$/i;
// What is new on the page, and neither the question, nor the answer, nor named in the profile.
const leftOver = () => {
  const { rule, there, reloaded } = state.mark, answers = state.located, found = [];
  const named = new Set([...rule.ignore, ...rule.thinking, rule.sources, ...rule.more].filter(Boolean).flatMap((selector) => all(selector)));
  const isIn = (element, set) => {
    for (let e = element; e; e = parent(e)) if (set.has(e)) return true;
    return false;
  };
  const say = (what, element, text) => found.length < 50 && found.push({ what, text: text.slice(0, 200), selector: path(element) });
  const near = reloaded ? answers.flatMap((answer) => [...query(parent(answer) || answer, "*")]) : all("*").filter((element) => !there.has(element));
  for (const element of near) {
    const text = textContent(element).length < 60 ? squeezed(textContent(element)) : "";
    if (MORE.test(text) && seen(element) && ![...elementsIn(element)].some((inner) => squeezed(textContent(inner)) === text) && !isIn(element, named)) say("fold", element, text);
  }
  for (const element of answers.flatMap((answer) => [...query(answer, "*")])) {
    const isHeading = textContent(element).length < 60 && HEADING.test(textContent(element));
    if (!isHeading && (PLAIN.has(tagName(element)) || !STRANGE.test(namesOf(element)))) continue;
    if (!isIn(element, named) && seen(element) && !isButton(element) && squeezed(textContent(element))) say("part", element, squeezed(textContent(element)));
  }
  const read = new Set(answers);
  for (const { element, text, nodes, passing } of rule.beside ? news() : []) {
    if (isEcho(text) || isIn(element, read) || (passing && state.mark.floating.has(passing))) continue;
    for (const { node, text: words } of nodes) if (!isIn(node, read) && !isIn(node, named) && !isEcho(squeezed(words))) say("text", node, squeezed(words));
  }
  return found;
};
const shown = (selectors) => selectors.flatMap((selector) => all(selector)).filter(seen);
const atWork = ({ gone, back }) => (gone.length && shown(gone).length > 0) || (back.length > 0 && shown(back).length === 0);
