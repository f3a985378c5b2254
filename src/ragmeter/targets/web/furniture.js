// What stands in a message and is no part of its text: who wrote it, when, the page's state, labels, tools.

// -- by names: of classes, test ids, roles and tags ----------------------------------------------------------------------
// Names are split into words: "q-message-name--sent", "stChatMessageAvatarUser", "msg_timestamp".
const split = (name) => name.replace(/([a-z0-9])([A-Z])/g, "$1 $2").toLowerCase().split(/[^a-z]+/);
const WHO = ["avatar", "avatars", "username", "nickname", "initials", "byline"];
const WHEN = ["timestamp", "timestamps", "datetime", "stamp", "timeago"];
const STATE = ["watermark", "disclaimer", "spinner", "progress", "eta", "loader", "loading", "skeleton", "shimmer", "cursor", "caret", "sr", "tooltip", "toolbar", "linenos", "lineno", "linenumber", "gutter", "gutters"];
const CERTAIN = new Set([...WHO, ...WHEN, ...STATE]);
// Words that say it only as the last one of a name that has few: ".name", ".chat-name", ".message-time".
const LAST = new Set(["name", "time", "date", "meta", "metadata", "dot", "dots", "typing", "sender", "author", "role", "persona"]);
const MODIFIER = new Set(["sent", "received", "left", "right", "small", "sm", "text", "label", "container", "wrapper", "outer", "inner", "row", "full"]);
// A message that has something, or is somebody's, is not that thing: "with-avatar", "sender-bot".
const HAS = /^(has|have|with|without|no|show|hide|is)$/, ROLE = /^(user|bot|assistant|ai|human|me|you|system|model|agent|self|other)$/;
const says = new Map();
const nameSays = (name) => {
  if (says.has(name)) return says.get(name);
  const parts = split(name.split(":").pop()).filter(Boolean), ends = parts.filter((word) => !MODIFIER.has(word));
  const certain = parts.some((word, place) => CERTAIN.has(word) && !HAS.test(parts[place - 1] || "") && !(word === "cursor" && place === 0));
  const last = ends[ends.length - 1], role = ROLE.test(last) && ends[ends.length - 2] === "name" ? "name" : last;
  const result = name.length <= 60 && (certain || (parts.length <= 5 && LAST.has(role) && !HAS.test(ends[ends.length - 2] || "")));
  if (says.size < 10000) says.set(name, result);
  return result;
};
const LABELLED = ["data-testid", "data-test", "part", "itemprop"];
const ROLES = new Set(["timer", "progressbar", "toolbar", "tooltip", "menu", "menubar", "tablist"]);
const named = (element) => {
  for (const name of classes(element)) if (nameSays(name)) return true;
  return LABELLED.some((name) => nameSays(attribute(element, name) || "")) || ROLES.has(attribute(element, "role")) || tagName(element) === "TIME";
};
// Text that is part of a sentence or of code is never taken away by the name of its class.
const SENTENCE = new Set(["P", "TD", "TH", "PRE", "CODE", "BLOCKQUOTE", "H1", "H2", "H3", "H4", "H5", "H6", "A", "EM", "STRONG"]);
const inSentence = (element) => {
  for (let e = parent(element), steps = 0; e && steps < 5; e = parent(e), steps++) if (SENTENCE.has(tagName(e))) return true;
  return false;
};
const PROSE = new Set(["P", "LI", "UL", "OL", "TABLE", "THEAD", "TBODY", "TR", "TD", "TH", "PRE", "CODE", "BLOCKQUOTE", "H1", "H2", "H3", "H4", "H5", "H6", "DD", "DT", "A", "EM", "STRONG", "B", "I", "MAIN", "BODY", "FORM"]);
const ICON = /(^|\s)(material-icons|material-symbols|notranslate)/;
const HIDDEN_LABEL = 300; // characters; what is longer is no label, whatever its name
const byName = (element) => !PROSE.has(tagName(element)) && named(element) && textContent(element).length <= HIDDEN_LABEL && !inSentence(element);
const isIcon = (element) => ICON.test(attribute(element, "class") || "");

// -- by their looks ------------------------------------------------------------------------------------------------------
const isRound = (element) => {
  const [box] = rects(element);
  if (!box || box.width > 64 || box.height > 64 || box.width < 8 || Math.abs(box.width - box.height) > 6) return false;
  const radius = styleOf(element).borderTopLeftRadius, size = parseFloat(radius) || 0;
  return radius.endsWith("%") ? size >= 45 : size >= 0.45 * Math.min(box.width, box.height);
};
const INITIALS = /^(\p{L}{1,2}|\p{Extended_Pictographic}.{0,4})$/u;
const isInitials = (element, text) => INITIALS.test(text) && [element, parent(element)].some((e) => e && isRound(e));
// An image in the text says something; one that stands for a person does not.
const isPortrait = (image) => {
  const [box] = rects(image), outer = parentElement(image);
  if (/avatar|logo|profile|icon|portrait/i.test((attribute(image, "alt") || "") + " " + (attribute(image, "class") || ""))) return true;
  return Boolean(box) && box.width <= 64 && box.height <= 64 && !(outer && PROSE.has(tagName(outer)));
};

// -- by what they say ----------------------------------------------------------------------------------------------------
const SIGNS = /^[\s●○•◦∙·▌▍▎▋▊▉█▮▯■□◼◻⬤⏺…⋯⋮|_]+$/;
const AGO = /^(\W*(just now|now|today|a few seconds ago|(a|an|one|\d+) ?(s|sec|seconds?|m|min|minutes?|h|hours?) ago)\W*)$/i;
const TIME = /^(?:\D{0,12}|.{0,20}\d{4},? )(\d{1,2})[:.](\d{2})(?::\d{2})?\s*([ap])?\.?m?\.?\D{0,6}$/i;
// The time that it is now, or a word for it: an answer hardly is.
const isNow = (text) => {
  if (text.length > 40) return false;
  if (AGO.test(text)) return true;
  const time = TIME.exec(text);
  if (!time) return false;
  const now = new Date(), minutes = now.getHours() * 60 + now.getMinutes();
  const shown = (Number(time[1]) % 12) * 60 + Number(time[2]), apart = Math.abs(shown - (minutes % 720));
  return Math.min(apart, 720 - apart) <= 3;
};
const RUNNING = /^(\w+\s*[|:·-]?\s*)?\d+([.,]\d+)?(\s*\/\s*\d+([.,]\d+)?)?\s?s$/i;
const isState = (text) => SIGNS.test(text) || (/[|/]/.test(text) && RUNNING.test(text));

// -- labels of code ------------------------------------------------------------------------------------------------------
const TOOLS = /^\W*(copy( code)?|copied!?|run|save|edit|download|wrap|collapse|expand|preview|kopieren|copiar|copier)\W*$/i;
const LANGUAGE = /^(python|py|javascript|js|typescript|ts|jsx|tsx|java|kotlin|scala|swift|c|c\+\+|cpp|c#|csharp|go|golang|rust|ruby|php|perl|r|julia|bash|sh|shell|zsh|powershell|sql|html|xml|css|scss|json|yaml|yml|toml|ini|markdown|md|latex|dockerfile|makefile|text|txt|plaintext|plain text|code|console|diff|graphql|lua|dart|matlab|haskell|elixir)$/i;
const CODE = "pre, .cm-editor, .CodeMirror, .monaco-editor, .ace_editor";
const isCodeLabel = (element, text) => {
  if (text.length > 30 || !(LANGUAGE.test(text) || TOOLS.test(text))) return false;
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
