// Errors that a page shows in the place of an answer: notices, red boxes, tracebacks, and messages that say so.

// -- by names ---------------------------------------------------------------------------------------------------------------
const BAD = new Set(["error", "errors", "exception", "traceback", "danger", "destructive", "negative", "failure", "failed", "critical"]);
const RED = /^(bg|border)-(red|rose)-\d{2,3}/, COLOURED = /^text-(red|rose)-\d{3}/;
const HARMLESS = /^(has|no|non|without|not|on|is)$|^(boundary|handler|handling|correction|rate)$/;
const badNames = new Map();
const nameIsBad = (name) => {
  if (!badNames.has(name)) {
    const parts = name.includes(":") || name.length > 60 ? [] : split(name).filter(Boolean);
    const bad = parts.some((word) => BAD.has(word)) && !parts.some((word) => HARMLESS.test(word));
    if (badNames.size < 10000) badNames.set(name, bad);
    else return bad;
  }
  return badNames.get(name);
};
const isBad = (element, text) => {
  for (const name of classes(element)) {
    if (nameIsBad(name)) return true;
    // A colour alone may be that of a name or of a letter in a circle.
    if (text.length > 3 && ((RED.test(name) && !isRound(element)) || (COLOURED.test(name) && TROUBLE.test(text)))) return true;
  }
  return ["data-testid", "data-type", "data-variant", "data-severity", "data-status"].some((name) => nameIsBad(attribute(element, name) || ""));
};

// -- by words ---------------------------------------------------------------------------------------------------------------
const TROUBLE = /\b(errors?|fail(ed|ure)?|wrong|exceptions?|unavailable|denied|exceeded|limit|time(d )?out|could ?n[o']t|can ?n?[o']t|unable|invalid|expired|try again|lost|disconnected|offline|refused|unauthori[sz]ed|forbidden|fehler\w*|erreur|error de|fallo|falló|inténtalo|réessayer|erneut|错误|失败|エラー|오류)\b|错误|失败|エラー|오류/i;
const BEGINS = /^\W*(something went wrong|(an?|unexpected|internal|unknown)( \w+){0,2} error\b|oops\b|encountered\b.{0,80}(error|exception)|internal server error|error( (code )?\d{3})?\s*[:(]|\w*(error|exception)\s*[:(]|failed to \w+|network error|request failed|service unavailable|bad gateway|gateway time-?out|too many requests|rate limit (exceeded|reached)|connection (error|lost|refused|failed)|traceback\b|no response from)/i;
const WHOLE = 400; // characters; a longer message that begins so is an answer about errors
const TITLE = /^\W*(error|exception|traceback|fehler|erreur|failed|failure)\W*$/i;
const saysSo = (text) => text.length <= WHOLE && BEGINS.test(text);

// The outermost red box around a piece; nothing if there is none.
const redBox = (piece) => {
  let e = piece.nodes.length ? parentElement(piece.nodes[0]) || piece.element : piece.element;
  let outermost = null;
  for (let steps = 0; e && e !== document.body && steps < 8; e = parent(e), steps++) {
    if (state.mark.there.has(e) && steps > 3) break;
    if (isBad(e, piece.text)) outermost = e;
  }
  return outermost;
};
const shorten = (text) => squeezed(text).slice(0, 500);
const boxText = (element) => shorten(textOf(element));
// What is wrong on the page, since the question; nothing if nothing is.
const trouble = (text) => {
  for (const piece of state.news.slice(-MOST_PIECES)) {
    if (state.echo.has(piece) || inSentence(piece.element) || state.mark.question.includes(piece.text)) continue;
    const red = redBox(piece);
    if (red) return boxText(red);
    if ((piece.passing || attribute(piece.element, "role") === "alert") && !state.mark.notices.has(piece.passing) && TROUBLE.test(piece.text)) return boxText(piece.passing || piece.element);
  }
  const title = state.titles.find((label) => TITLE.test(label));
  if (title && text) return shorten(title.replace(/\W+$/, "") + ": " + text);
  return text && saysSo(text) && !state.mark.question.toLowerCase().includes(text.toLowerCase().slice(0, 12)) ? shorten(text) : "";
};
