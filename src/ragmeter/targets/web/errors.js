// Errors that a page shows in the place of an answer: what the profile names, notices, and tracebacks.
const TROUBLE = /\b(errors?|fail(ed|ure)?|wrong|exceptions?|unavailable|denied|exceeded|limit|time(d )?out|could ?n[o']t|can ?n?[o']t|unable|invalid|expired|try again|lost|disconnected|offline|refused|unauthori[sz]ed|forbidden|fehler\w*|erreur|error de|fallo|falló|inténtalo|réessayer|erneut)\b|错误|失败|エラー|오류/i;
const BEGINS = /^\W*((we're |we are |i'm |i am )?(very |so |really )?(sorry|apologies|oops|unfortunately)\b[,.!:;\s-]*(but )?)?(something (went|has gone) wrong|(an?|unexpected|internal|unknown)( \w+){0,2} error\b(?! of| in the| rate| margin)|oops\b|encountered\b.{0,80}(error|exception)|internal server error|error( (code )?\d{3})?\s*[:(]|\w*(error|exception)\s*[:(]|failed to \w+|network error|request failed|service unavailable|bad gateway|gateway time-?out|(you('ve| have) (made|sent|asked|had) )?too many (requests|questions|messages)|(you('ve| have) (reached|hit|exceeded) )?(the |your )?rate.?limit(ed)?\b( (exceeded|reached)|\W*$|.{0,40}(wait|again))|connection (error|lost|refused|failed)|traceback \(most recent|no response from)/i;
const TITLE = /^\W*(error|exception|traceback|fehler|erreur|failed|failure)\W*$/i;
const WHOLE = 400; // characters; a longer message that begins so is an answer about errors, but for a traceback or what names itself one
const NAMED = /^\W*(([\w.]+\.)?\w*(error|exception)\b\s*(\(?\d{3}\)?)?\s*:|internal server error|(http\S* ?)?[45]\d\d\b\W*(internal|bad|service|gateway|too many|not found|forbidden|server|client)|\{\W*(error|detail|message|statuscode)\b)/i;
const TRACEBACK = /traceback \(most recent call last\)|^\s*File "[^"]+", line \d+|^\s+at \S+ \(\S+:\d+:\d+\)/im;
const shorten = (text) => squeezed(text).slice(0, 500);
const textOf = (element) => readable(element, (e) => SKIP.has(tagName(e)) || isIcon(e) || isButton(e));
const inCode = (element) => {
  for (let e = element; e; e = parent(e)) if (tagName(e) === "PRE" || tagName(e) === "CODE") return true;
  return false;
};
const saysSo = (text) => (text.length <= WHOLE && BEGINS.test(text)) || (NAMED.test(text) && !/error|exception/i.test(state.mark.question)) || (/^\W*(traceback|\w+(error|exception):)/i.test(text) && TRACEBACK.test(text));
// What is wrong on the page, since the question; nothing if nothing is.
const trouble = (texts) => {
  const { rule, there, floating, question } = state.mark, isNew = (element) => !there.has(element) || !state.mark.errors.has(textKey(element));
  const red = outermost(rule.errors.flatMap((selector) => all(selector))).filter((element) => seen(element) && isNew(element) && !inCode(element) && squeezed(textContent(element)).length > 3);
  if (red.length) return shorten(textOf(red[red.length - 1]));
  const answers = state.located;
  const alerts = all("[role='alert']"), usual = alerts.some((element) => isEcho(plainText(element))); // some pages make all messages so
  for (const notice of [...(usual ? [] : alerts), ...state.passing].filter((e) => seen(e) && !floating.has(e) && !answers.some((answer) => within(answer, e) || within(e, answer)))) {
    const said = shorten(textOf(notice));
    if (TROUBLE.test(said) && !isEcho(said)) return said;
  }
  for (const text of texts.filter((one) => !question.toLowerCase().includes(one.toLowerCase().slice(0, 12)))) {
    const first = text.split("\n")[0];
    if (saysSo(text) || (TITLE.test(first) && text.length > first.length)) return shorten(text);
  }
  const title = texts.length > 1 && texts.find((text) => TITLE.test(text));
  return title ? shorten(texts.join(": ")) : "";
};
