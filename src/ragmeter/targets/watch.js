// Runs in every frame of a page under test, before the page's own code. It remembers what was there when a question was
// sent, finds the answer among what is new, and gives it back as text that a person could read.
(() => {
  if (window.__ragmeter) return;
  const state = { mark: null, home: null };

  // -- closed shadow roots: open to us, which is what a selector needs, and closed to the page as before ----------------
  const hidden = new WeakSet();
  const attach = Element.prototype.attachShadow;
  const rootOf = Object.getOwnPropertyDescriptor(Element.prototype, "shadowRoot");
  const shadow = (element) => rootOf.get.call(element);
  Element.prototype.attachShadow = function (init) {
    const root = attach.call(this, { ...init, mode: "open" });
    if (init && init.mode === "closed") hidden.add(this);
    watch(root);
    return root;
  };
  Object.defineProperty(Element.prototype, "shadowRoot", {
    ...rootOf,
    get() { return hidden.has(this) ? null : shadow(this); },
  });

  // -- what the page still has in mind: timers that will go off soon, and what was written since the question -----------
  const SOON = 5000; // milliseconds; a later timer is hardly one that writes an answer
  const timers = new Map();
  const remember = (start, stop, repeats, animation) => {
    const begin = window[start], end = window[stop];
    const name = (id) => (animation ? "frame" : "timer") + id;
    window[start] = function (work, delay, ...more) {
      if (typeof work !== "function" || delay > SOON) return begin.call(window, work, delay, ...more);
      const id = begin.call(window, function (...given) {
        if (!repeats) timers.delete(name(id));
        return work.apply(this, given);
      }, delay, ...more);
      timers.set(name(id), repeats);
      return id;
    };
    window[stop] = function (id) {
      timers.delete(name(id));
      return end.call(window, id);
    };
  };
  remember("setTimeout", "clearTimeout", false, false);
  remember("setInterval", "clearInterval", true, false);
  remember("requestAnimationFrame", "cancelAnimationFrame", false, true);

  const observer = new MutationObserver((records) => {
    if (!state.mark) return;
    for (const { target } of records) state.mark.touched.add(target.nodeType === 3 ? target.parentElement : target);
  });
  const watch = (root) => observer.observe(root, { childList: true, characterData: true, subtree: true });
  watch(document);

  // -- looking around -----------------------------------------------------------------------------------------------
  const SKIP = new Set(["SCRIPT", "STYLE", "NOSCRIPT", "TEMPLATE", "SVG", "svg", "INPUT", "SELECT", "OPTION", "HEAD"]);
  const BLOCK = /^(block|flex|grid|table|list-item|flow-root|table-.*)$/;
  const squeezed = (text) => text.replace(/\s+/g, " ").trim();
  const parent = (e) => e.parentElement || (e.getRootNode() instanceof ShadowRoot ? e.getRootNode().host : null);
  const within = (element, outer) => {
    for (let e = element; e; e = parent(e)) if (e === outer) return true;
    return false;
  };
  // What only a screen reader is given is cut to nothing: it repeats what can be seen.
  const visible = (style) => style.display !== "none" && style.visibility !== "hidden" && style.opacity !== "0"
    && !(style.position === "absolute" && (style.clip !== "auto" || /inset\((50|100)%/.test(style.clipPath)));
  const skipped = (element) => element === state.box || SKIP.has(element.tagName) || element.tagName === "BUTTON"
    || element.getAttribute("role") === "button" || element.getAttribute("aria-hidden") === "true" || element.isContentEditable;
  const isBlock = (style) => BLOCK.test(style.display);
  const children = (node) => {
    if (shadow(node)) return [...shadow(node).childNodes];
    if (node.tagName === "SLOT") {
      const given = node.assignedNodes({ flatten: true });
      if (given.length) return given;
    }
    if (node.tagName === "DETAILS" && !node.open) return [...node.children].filter((each) => each.tagName === "SUMMARY");
    return [...node.childNodes];
  };
  // Elements by a selector, through shadow roots.
  const all = (selector, root = document, found = []) => {
    found.push(...root.querySelectorAll(selector));
    for (const element of root.querySelectorAll("*")) if (shadow(element)) all(selector, shadow(element), found);
    return found;
  };
  const seen = (element) => element.getClientRects().length > 0 && visible(getComputedStyle(element));
  const focused = () => {
    let found = document.activeElement;
    while (found && shadow(found) && shadow(found).activeElement) found = shadow(found).activeElement;
    return found === document.body || (found && found.tagName === "IFRAME") ? null : found;
  };
  // A block that is there to be clicked, like a question to ask next. A mark in the text, like a citation, is inline.
  const clickable = (style, outer) => style.cursor === "pointer" && outer !== "pointer" && style.display !== "inline";

  // -- readable text: line breaks, lists, tables, code, formulas, links -------------------------------------------------
  const FAR = new Set(["P", "H1", "H2", "H3", "H4", "H5", "H6", "PRE", "TABLE", "BLOCKQUOTE", "HR"]);
  const readable = (root) => {
    let out = "", breaks = 0, marker = "", depth = 0;
    const cursor = getComputedStyle(root).cursor;
    const apart = (lines) => { if (!marker) breaks = Math.max(breaks, lines); };
    const say = (text) => {
      if (breaks && out) out = out.replace(/[ \t]+$/, "") + "\n".repeat(breaks);
      out += marker + text;
      breaks = 0;
      marker = "";
    };
    const flow = (data, space) => {
      if (/^(pre|break-spaces)/.test(space) && space !== "pre-line") return void (data && say(data));
      let text = data.replace(space === "pre-line" ? /[ \t\r\f]+/g : /[ \t\r\n\f]+/g, " ");
      if (breaks || marker || !out || /\s$/.test(out)) text = text.replace(/^ /, "");
      if (text) say(text);
    };
    const item = (node) => {
      const list = node.parentElement, ordered = list && list.tagName === "OL";
      apart(1);
      marker = "  ".repeat(Math.max(0, depth - 1))
        + (ordered ? [...list.children].indexOf(node) + (list.start || 1) + ". " : "- ");
      inside(node);
      marker = "";
      apart(1);
    };
    const inside = (node) => { for (const child of children(node)) write(child); };
    const SPECIAL = {
      BR: () => { breaks = Math.min(2, breaks + 1); },
      IMG: (node) => { if (node.alt) flow(" " + node.alt + " ", "normal"); },
      TEXTAREA: (node) => { if (node.value) say(node.value); },
      INPUT: (node) => { if (node.value) say(node.value); },
      PRE: (node) => { apart(2); say("```\n" + part(node).replace(/^\n+|\s+$/g, "") + "\n```"); apart(2); },
      LI: item,
      TR: (node) => { apart(1); say("| " + [...node.cells].map((cell) => squeezed(readable(cell))).join(" | ") + " |"); apart(1); },
      A: (node) => {
        if (!/^https?:/.test(node.href)) return inside(node);
        const label = squeezed(part(node));
        flow(!label || label === node.href ? node.href : "[" + label + "](" + node.href + ")", "normal");
      },
    };
    const part = (node) => { // what an element holds, on its own
      const held = [out, breaks, marker];
      [out, breaks, marker] = ["", 0, ""];
      inside(node);
      const text = out;
      [out, breaks, marker] = held;
      return text;
    };
    const write = (node) => {
      if (node.nodeType === 3) return flow(node.data, node.parentElement ? getComputedStyle(node.parentElement).whiteSpace : "normal");
      if (node.nodeType !== 1 || (node !== root && skipped(node))) return;
      const style = getComputedStyle(node), tag = node.tagName;
      if (!visible(style) || (node !== root && tag !== "A" && clickable(style, cursor))) return;
      const formula = tag === "math" && node.querySelector("annotation[encoding='application/x-tex']");
      if (formula) return say("$" + formula.textContent.trim() + "$");
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
    return out.trim();
  };

  // -- the pieces of text on the page -------------------------------------------------------------------------------
  // One piece is the text that stands directly in a block, with what is inline in it. `aside` are those in something
  // that is there to be clicked, `passing` those that float over the page and are not where the box is, like a notice.
  const pieces = () => {
    const found = [];
    const block = (element, style, cursor, about) => {
      if (element.getAttribute("role") === "alert" || (style.position === "fixed" && !within(state.box, element))) about = { ...about, passing: element };
      if (element.tagName !== "A" && clickable(style, cursor)) about = { ...about, aside: true };
      const own = [], place = found.length;
      const inline = (node, outer) => {
        for (const child of children(node)) {
          if (child.nodeType === 3) own.push(child.data);
          if (child.nodeType !== 1 || skipped(child)) continue;
          const its = getComputedStyle(child);
          if (!visible(its)) continue;
          if (child.tagName === "TEXTAREA") found.push({ element: child, text: squeezed(child.value), ...about });
          else if (isBlock(its) || shadow(child)) block(child, its, outer, about);
          else {
            if (child.tagName === "BR") own.push(" ");
            inline(child, its.cursor);
          }
        }
      };
      inline(element, style.cursor);
      const text = squeezed(own.join(""));
      if (text) found.splice(place, 0, { element, text, ...about });
    };
    if (document.body) block(document.body, getComputedStyle(document.body), "auto", {});
    return found.filter((piece) => piece.text);
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
    const outside = news.filter(({ element }) => element.tagName !== "TD" && element.tagName !== "TH"); // a keyword, in a table
    const sure = outside.some(isSure);
    return outside.filter((piece) => isSure(piece) || isTitle(piece) || (!sure && isFramed(piece)));
  };

  // -- the mark: what is there when a question is sent ----------------------------------------------------------------
  const STOP = /^\W*(stop|detener|parar|interrumpir|arr[eê]ter|stopp|anhalten|abbrechen|interromper|停止|中止)(\W+\w+){0,2}\W*$/i;
  const STOP_NAME = /(^|[-_\s])stop|[a-z]Stop(?![a-z])/;
  const BUTTONS = "button, [role='button'], input[type='button'], input[type='submit']";
  const isStop = (e) => ["aria-label", "title", "value"].some((name) => STOP.test(e.getAttribute(name) || "")) || STOP.test(squeezed(e.textContent))
    || ["data-testid", "id", "class"].some((name) => STOP_NAME.test(e.getAttribute(name) || ""));
  const working = () => [...all(BUTTONS).filter((e) => !e.disabled && isStop(e)), ...all("[aria-busy='true']")].filter(seen);
  const isOff = (box) => Boolean(box && box.isConnected && (box.disabled || box.readOnly || box.getAttribute("aria-disabled") === "true" || box.getAttribute("contenteditable") === "false"));
  const count = (selector) => (selector ? all(selector).filter(seen).length : 0);

  const mark = ({ question, answer, ready, sources }) => {
    state.box = focused();
    const now = pieces(), answers = answer ? all(answer) : [];
    const texts = new Map();
    for (const piece of now) texts.set(piece.text, (texts.get(piece.text) || 0) + 1);
    for (const [key, repeats] of [...timers]) if (!repeats) timers.delete(key);
    state.mark = {
      question, answer, ready, sources, texts: [...texts], home: state.home,
      answers: answers.length, last: answers.length ? squeezed(answers[answers.length - 1].textContent) : "",
      listed: sources ? all(sources).length : 0, working: working().length, shown: count(ready),
    };
    const kept = { ...state.mark };
    Object.assign(state.mark, {
      touched: new Set(), was: new Map(now.map((piece) => [piece.element, piece.text])), notices: new Set([undefined, ...now.map((piece) => piece.passing)]),
      there: new WeakSet(all("*")),
    });
    return kept; // for the page that comes next, should this one be left: a form that loads a page with the answer
  };
  const restore = (kept) => {
    state.home = kept.home;
    state.mark = { ...kept, listed: 0, touched: new Set(), was: new Map(), notices: new Set([undefined]), there: new WeakSet(), reloaded: true };
  };

  // -- the answer ---------------------------------------------------------------------------------------------------
  const fresh = (now) => {
    const left = new Map(state.mark.texts);
    return now.filter((piece) => {
      const times = left.get(piece.text) || 0;
      if (times > 0) left.set(piece.text, times - 1);
      return times === 0;
    });
  };
  const common = (one, other) => {
    let at = one;
    while (at && !within(other, at)) at = parent(at);
    return at;
  };
  const depth = (element) => (element ? 1 + depth(parent(element)) : 0);
  const follows = (one, other) => Boolean(other.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING);
  const rewritten = (element) => state.mark.reloaded || [...state.mark.touched].some((each) => within(element, each) || within(each, element));
  const known = (element) => (!element || state.mark.there.has(element) ? element : known(parent(element)));
  const CLOCK = /^\D{0,12}\d{1,2}[:.]\d{2}\D{0,12}$/;
  const digits = (text) => text.replace(/\d+/g, "0");

  // Of what is new, what may be an answer: not a number that counts on by itself, nor a notice, nor what stands around the
  // question's echo, nor what is far from it if something is near.
  const likely = (news, echo) => {
    const { was, notices, there } = state.mark;
    const counts = ({ element, text }) => was.has(element) && digits(was.get(element)) === digits(text) && !(state.home && element.closest(state.home));
    const shared = (piece) => echo.map((each) => common(each.element, piece.element));
    const beside = (piece) => echo.every((each) => {
      const outer = common(each.element, piece.element);
      if (follows(piece.element, each.element)) return there.has(outer) || !CLOCK.test(piece.text);
      return piece.text.length > 40 || (there.has(outer) && !within(state.box, outer));
    });
    let left = news.filter((piece) => !counts(piece) && notices.has(piece.passing) && beside(piece));
    if (echo.length) {
      const near = (piece) => Math.max(...shared(piece).map((outer) => depth(known(outer))));
      const nearest = Math.max(...left.map(near));
      left = left.filter((piece) => near(piece) === nearest);
    }
    const straight = left.filter((piece) => !piece.aside);
    return straight.length ? straight : left;
  };

  // The longest new text with all that is new around it: as far up as nothing old comes in, and its neighbours that are
  // new as well. A word that changes elsewhere on the page, a status for one, is not part of it.
  const around = (news, unused, now) => {
    const seed = news.reduce((best, piece) => (piece.text.length > best.text.length ? piece : best)).element;
    const isNew = new Set([...news, ...unused].map((piece) => piece.element));
    const old = now.filter((piece) => !isNew.has(piece.element));
    const pure = (element) => old.every((piece) => !within(piece.element, element));
    const holds = (element) => news.some((piece) => within(piece.element, element));
    let top = seed;
    while (parent(top) && parent(top) !== document.body && pure(parent(top))) top = parent(top);
    const siblings = top.parentNode ? [...top.parentNode.children] : [];
    return siblings.filter((element) => element === top || (pure(element) && holds(element)));
  };

  const locate = (selector) => {
    const { question, answers, last } = state.mark;
    const now = pieces(), news = fresh(now), echo = echoes(question, news);
    // Words that were there before count as said again where they were written again, and not above the new question.
    const again = (element) => rewritten(element) && echo.every((each) => follows(element, each.element));
    if (selector) {
      const element = all(selector).pop();
      const isNew = element && (all(selector).length > answers || squeezed(element.textContent) !== last || again(element));
      const held = isNew ? now.filter((piece) => within(piece.element, element)) : [];
      return isNew && !(held.length && held.every((piece) => echo.includes(piece))) ? [element] : []; // a selector of all messages
    }
    const rest = news.filter((piece) => !echo.includes(piece)), chosen = likely(rest, echo);
    if (chosen.length) return around(chosen, rest, now);
    const home = state.home && all(state.home).pop();
    return home && again(home) ? [home] : [];
  };

  const path = (element) => {
    if (element.id) return "#" + CSS.escape(element.id);
    if (element.dataset.testid) return `[data-testid="${CSS.escape(element.dataset.testid)}"]`;
    const name = element.tagName.toLowerCase() + [...element.classList].slice(0, 2).map((each) => "." + CSS.escape(each)).join("");
    const outer = element.parentElement;
    return element.classList.length || !outer || outer.tagName === "BODY" ? name : path(outer) + " > " + name;
  };

  // Sources of this answer: those that came after the ones that were there, or all if the page shows one list only.
  const shownSources = (selector) => {
    const found = all(selector), before = state.mark.listed;
    return (found.length > before ? found.slice(before) : found).filter(seen).map((each) => ({
      text: readable(each).replace(/^(-|\d+\.) /, ""),
      href: each.href || (each.querySelector("a[href]") || {}).href || null,
    }));
  };

  // Whether an element holds sources and nothing else: such a list beside an answer is no part of it.
  const isList = (element, listed) => {
    const held = listed.filter((each) => within(each, element));
    const text = (each) => each.textContent.replace(/\s+/g, "");
    return held.length > 0 && text(element) === held.map(text).join("");
  };

  // One look: the text and the signals are of the same moment. Nothing if this page knows of no question.
  const look = () => {
    if (!state.mark) return null;
    const { answer, ready, sources, shown } = state.mark;
    const found = locate(answer), now = count(ready), at = working();
    const listed = sources && !answer ? all(sources) : [];
    const elements = found.length > 1 ? found.filter((element) => !isList(element, listed)) : found;
    return {
      text: elements.map(readable).filter(Boolean).join("\n\n"),
      selector: elements.length ? path(elements[0]) : null,
      sources: sources ? shownSources(sources) : null,
      busy: at.length > state.mark.working ? path(at[at.length - 1]) : null,
      off: isOff(state.box), timers: timers.size > 0, ready: now > 0, newly: now > shown,
    };
  };
  // The answer was read: the same words in the same place may be the next one.
  const done = (selector) => { state.home = selector; };

  // For messages: what there is on the page, and where an answer seems to be.
  const label = (element) => squeezed(element.placeholder || element.textContent || element.value || "").slice(0, 40);
  const candidates = () => all("textarea, input:not([type]), input[type=text], input[type=search], [contenteditable=true], [contenteditable=''], button, [type=submit]")
    .filter(seen).slice(0, 20).map((element) => path(element) + (label(element) ? "  " + JSON.stringify(label(element)) : ""));
  const guess = () => {
    const found = state.mark && !all(state.mark.answer).length ? locate(null) : [];
    return found.length ? path(found[0]) : null;
  };
  const wrong = (selectors) => selectors.findIndex((selector) => {
    try {
      return selector !== null && !document.createDocumentFragment().querySelectorAll(selector);
    } catch {
      return true;
    }
  });

  // The button that sends what is in a box: the nearest that says so, or that submits the box's own form.
  const SEND = /^\W*(send|submit|ask|go|search|query|enviar|preguntar|consultar|buscar|senden|absenden|fragen|suchen|envoyer|demander|rechercher|invia|chiedi|perguntar|verstuur|versturen|отправить|спросить|发送|提交|送信|전송|보내기|[➤→↑⏎▶►➔➜✈🚀]+)(\W+\w+){0,2}\W*$/iu;
  const SEND_NAME = /(^|[-_\s])(send|submit|ask)|[a-z](Send|Submit|Ask)(?![a-z])/;
  const sends = (button, box) => !button.disabled && seen(button) && !isStop(button) && (
    ["aria-label", "title", "value"].some((name) => SEND.test(button.getAttribute(name) || "")) || SEND.test(squeezed(button.textContent))
    || ["data-testid", "id", "class", "name"].some((name) => SEND_NAME.test(button.getAttribute(name) || ""))
    || (button.type === "submit" && Boolean(button.form) && button.form === box.form));
  const sender = (box) => {
    for (let outer = parent(box); outer; outer = parent(outer)) {
      const found = all(BUTTONS, outer).filter((button) => sends(button, box));
      if (found.length) return found.find((button) => follows(button, box)) || found[found.length - 1];
    }
    return null;
  };

  window.__ragmeter = { mark, restore, look, done, candidates, guess, wrong, path, sender };
})();
