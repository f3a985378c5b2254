// The pieces of text on a page, and which of them repeat the question.
const isTool = (element) => tagName(element) === "BUTTON" || attribute(element, "role") === "button" || attribute(element, "aria-hidden") === "true";
const isWritten = (element) => element === state.box || (element.isContentEditable && !inEditor(element));
// `lenient`: a time and initials are no labels. That is for a page whose message would otherwise have no text at all.
const state = { mark: null, home: null, box: null, button: null, lenient: false, labels: new WeakSet(), titles: [], news: [], echo: new Set() };
const skipped = (element) => isWritten(element) || SKIP.has(tagName(element)) || isTool(element) || isIcon(element) || byName(element);

// -- the pieces of text on the page -------------------------------------------------------------------------------
// One piece is the text that stands directly in a block, with what is inline in it; `nodes` are its texts. `aside` are those in something
// that is there to be clicked, `passing` those that float over the page and are not where the box is, like a notice.
const pieces = () => {
  state.titles = []; // of new messages: who wrote them
  const read = [], count = counter(MOST_NODES, "the page has more elements and texts than ");
  const block = (element, style, cursor, about) => {
    if (attribute(element, "role") === "alert" || (style.position === "fixed" && !within(state.box, element))) about = { ...about, passing: element };
    if (tagName(element) !== "A" && clickable(style, cursor)) about = { ...about, aside: true };
    const own = [], piece = { element, text: "", nodes: [], ...about };
    read.push(piece);
    const inline = (node, outer) => {
      for (const child of children(node)) {
        count(1);
        const type = nodeType(child);
        if (type === 3) {
          own.push(child.data);
          if (/\S/.test(child.data)) piece.nodes.push(child);
        }
        if (type === 1 && state.mark && state.titles.length < 50 && byName(child) && !state.mark.there.has(child)) state.titles.push(squeezed(textOf(child)).slice(0, 60));
        if (type !== 1 || skipped(child)) continue;
        const its = styleOf(child);
        if (!visible(its)) continue;
        if (isEditor(child)) read.push({ element: child, text: squeezed(editorText(child)), nodes: [], ...about });
        else if (tagName(child) === "TEXTAREA") read.push({ element: child, text: squeezed(child.value), nodes: [], ...about });
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

