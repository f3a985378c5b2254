// Runs in every frame of a page under test, before the page's own code. It watches what changes after a question was
// sent, finds the answer among it, and gives it back as text that a person could read.
(() => {
  if (window.__ragmeter) return;
  const roots = new Set();
  const state = { mark: null, changedAt: 0, firstAt: 0 };

  // -- what changes -----------------------------------------------------------------------------------------------
  const observer = new MutationObserver((records) => {
    for (const record of records) {
      const node = record.target;
      const element = node.nodeType === 1 ? node : node.parentElement;
      if (!element || ignored(element)) continue;
      if (state.mark) state.mark.touched.add(element);
      if (record.type !== "attributes") state.changedAt = performance.now();
    }
  });
  const watch = (root) => {
    if (roots.has(root)) return;
    roots.add(root);
    observer.observe(root, { childList: true, characterData: true, subtree: true });
  };
  const attach = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function (init) {
    const root = attach.call(this, init); // a closed one as well: it is ours to look into, not to change
    closed.set(this, root);
    watch(root);
    return root;
  };
  const closed = new WeakMap();
  const shadow = (element) => element.shadowRoot || closed.get(element) || null;
  watch(document);

  // -- looking around ---------------------------------------------------------------------------------------------
  const SKIP = new Set(["SCRIPT", "STYLE", "NOSCRIPT", "TEMPLATE", "SVG", "svg", "TEXTAREA", "INPUT", "SELECT", "OPTION", "HEAD"]);
  const BLOCK = /^(block|flex|grid|table|list-item|flow-root|table-row|table-cell)$/;
  const ignored = (element) => {
    for (let e = element; e; e = e.parentElement || (e.getRootNode() instanceof ShadowRoot ? e.getRootNode().host : null)) {
      if (SKIP.has(e.tagName) || e.isContentEditable) return true;
    }
    return false;
  };
  const visible = (element) => {
    const style = getComputedStyle(element);
    return style.display !== "none" && style.visibility !== "hidden" && style.opacity !== "0";
  };
  const children = (node) => {
    const root = node.nodeType === 1 && shadow(node);
    if (root) return root.childNodes;
    if (node.tagName === "SLOT") {
      const given = node.assignedNodes({ flatten: true });
      if (given.length) return given;
    }
    return node.childNodes;
  };
  const isBlock = (element) => BLOCK.test(getComputedStyle(element).display);
  const clean = (text) => text.replace(/\u00a0/g, " ").replace(/[ \t\r\f\v]+/g, " ").trim();
  const squeezed = (text) => text.replace(/\s+/g, " ").trim();

  // Elements by a selector, through open and closed shadow roots.
  const all = (selector, root = document, found = []) => {
    found.push(...root.querySelectorAll(selector));
    for (const element of root.querySelectorAll("*")) if (shadow(element)) all(selector, shadow(element), found);
    return found;
  };
  const seen = (element) => element.getClientRects().length > 0 && visible(element);

  // -- readable text: line breaks, lists, tables, code, links -------------------------------------------------------
  const readable = (element) => {
    const out = [];
    const write = (node, pre) => {
      if (node.nodeType === 3) {
        out.push(pre ? node.data : node.data.replace(/[ \t\r\n\f]+/g, " "));
        return;
      }
      if (node.nodeType !== 1 || SKIP.has(node.tagName) || node.tagName === "BUTTON" || !visible(node)) return;
      if (node.getAttribute("aria-hidden") === "true") return;
      const tag = node.tagName;
      const inside = () => children(node).forEach((child) => write(child, pre || tag === "PRE"));
      const block = isBlock(node);
      if (tag === "BR") return void out.push("\n");
      if (tag === "IMG") return void (node.alt && out.push(node.alt));
      if (tag === "PRE") {
        out.push("\n```\n");
        inside();
        return void out.push("\n```\n");
      }
      if (tag === "LI") {
        const ordered = node.parentElement && node.parentElement.tagName === "OL";
        const place = ordered ? [...node.parentElement.children].indexOf(node) + (node.parentElement.start || 1) + "." : "-";
        out.push("\n" + place + " ");
        inside();
        return void out.push("\n");
      }
      if (tag === "TR") {
        const cells = [...node.cells].map((cell) => squeezed(readable(cell)));
        return void out.push("\n| " + cells.join(" | ") + " |\n");
      }
      if (/^H[1-6]$/.test(tag)) out.push("\n");
      if (block) out.push("\n");
      if (tag === "A" && node.href && /^https?:/.test(node.href)) {
        const start = out.length;
        inside();
        const label = squeezed(out.splice(start).join(""));
        out.push(!label || label === node.href ? node.href : "[" + label + "](" + node.href + ")");
      } else inside();
      if (block || tag === "P") out.push("\n");
    };
    write(element, false);
    return out.join("").replace(/[ \t]+\n/g, "\n").replace(/\n[ \t]+(?=\S)/g, "\n").replace(/\n{3,}/g, "\n\n").trim();
  };

  // -- the pieces of text on the page -------------------------------------------------------------------------------
  // One piece is the text that stands directly in a block, with what is inline in it.
  const pieces = () => {
    const found = [];
    const walk = (element) => {
      if (SKIP.has(element.tagName) || element.tagName === "BUTTON" || element.isContentEditable || !visible(element)) return;
      if (element.getAttribute("role") === "button" || element.getAttribute("aria-hidden") === "true") return;
      let own = "";
      for (const child of children(element)) {
        if (child.nodeType === 3) own += child.data;
        else if (child.nodeType === 1) {
          if (isBlock(child) || shadow(child)) walk(child);
          else if (!SKIP.has(child.tagName) && child.tagName !== "BUTTON" && visible(child)) {
            own += child.textContent;
            for (const inner of child.querySelectorAll("*")) if (isBlock(inner) || shadow(inner)) walk(inner);
          }
        }
      }
      const text = squeezed(own);
      if (text) found.push({ element, text });
    };
    if (document.body) walk(document.body);
    return found;
  };

  const mark = (question, selector, sources) => {
    const before = new Map();
    for (const piece of pieces()) before.set(piece.text, (before.get(piece.text) || 0) + 1);
    const answers = selector ? all(selector) : [];
    state.mark = {
      question: squeezed(question), selector, before, touched: new Set(), at: performance.now(),
      sources: sources ? all(sources).length : 0, count: answers.length, last: answers.length ? squeezed(answers[answers.length - 1].textContent) : "",
    };
    state.changedAt = state.mark.at;
  };

  // What is on the page now and was not before.
  const fresh = (now) => {
    const left = new Map(state.mark.before);
    return now.filter((piece) => {
      const count = left.get(piece.text) || 0;
      if (count > 0) left.set(piece.text, count - 1);
      return count === 0;
    });
  };

  const parent = (e) => e.parentElement || (e.getRootNode() instanceof ShadowRoot ? e.getRootNode().host : null);
  const within = (element, outer) => {
    for (let e = element; e; e = parent(e)) if (e === outer) return true;
    return false;
  };
  const common = (elements) => {
    let at = elements[0];
    while (at && !elements.every((element) => within(element, at))) at = parent(at);
    return at;
  };

  // The new text with all that is new around it: as far up as nothing old comes in, and its neighbours that are new as
  // well. A word that changes elsewhere on the page, a status for one, is not part of it.
  const around = (news, now) => {
    const seed = news.reduce((best, piece) => (piece.text.length > best.text.length ? piece : best)).element;
    const isNew = new Set(news.map((piece) => piece.element));
    const pure = (element) => now.every((piece) => isNew.has(piece.element) || !within(piece.element, element));
    const holds = (element) => news.some((piece) => within(piece.element, element));
    let top = seed;
    while (parent(top) && parent(top) !== document.body && pure(parent(top))) top = parent(top);
    if (!parent(top)) return [top];
    return [...parent(top).children].filter((element) => element === top || (pure(element) && holds(element)));
  };

  const locate = () => {
    const { selector, question, count, last, touched } = state.mark;
    if (selector) {
      const answers = all(selector);
      if (!answers.length) return null;
      const element = answers[answers.length - 1];
      const isNew = answers.length !== count || squeezed(element.textContent) !== last
        || [...touched].some((each) => element.contains(each) || each.contains(element));
      return isNew ? [element] : null;
    }
    const now = pieces();
    let news = fresh(now);
    const isEcho = (piece) => piece.text === question || piece.text.endsWith(": " + question);
    const echo = news.findIndex(isEcho);
    if (echo >= 0) news = news.filter((piece, place) => !isEcho(piece) && (place > echo || piece.text.length > 40));
    if (news.length) return around(news, now);
    // The same words as before, in the same place: known only by having been written again.
    const again = [...touched].filter((element) => element.isConnected && !ignored(element) && squeezed(element.textContent));
    const kept = again.filter((element) => squeezed(element.textContent) !== question && element !== document.body);
    return kept.length ? [common(kept)] : null;
  };

  const path = (element) => {
    if (element.id) return "#" + CSS.escape(element.id);
    const name = element.tagName.toLowerCase() + [...element.classList].slice(0, 2).map((each) => "." + CSS.escape(each)).join("");
    return element.classList.length ? name : (element.parentElement && element.parentElement.tagName !== "BODY" ? path(element.parentElement) + " > " : "") + name;
  };

  // Sources of this answer: those that came after the ones that were there, or all if the page shows one list only.
  const newSources = (selector) => {
    const found = all(selector);
    return (found.length > state.mark.sources ? found.slice(state.mark.sources) : found).filter(seen);
  };

  const read = (sources) => {
    const elements = locate();
    const text = elements ? elements.map(readable).filter(Boolean).join("\n\n") : "";
    const now = performance.now();
    return {
      text,
      quiet: now - state.changedAt,
      selector: elements && elements.length ? path(elements[0]) : null,
      sources: sources ? newSources(sources).map((each) => ({ text: readable(each).replace(/^(-|\d+\.) /, ""), href: each.href || (each.querySelector("a[href]") || {}).href || null })) : null,
    };
  };

  const candidates = () => all("textarea, input:not([type]), input[type=text], input[type=search], [contenteditable=true], [contenteditable=''], button, [type=submit]")
    .filter(seen).slice(0, 20)
    .map((element) => path(element) + (squeezed(element.textContent || element.placeholder || element.value || "") ? "  " + JSON.stringify(squeezed(element.placeholder || element.textContent || element.value || "").slice(0, 40)) : ""));

  const shown = (selector) => selector !== null && all(selector).some(seen);
  const disabled = (selector) => all(selector).some((element) => element.disabled || element.getAttribute("aria-disabled") === "true");

  window.__ragmeter = { mark, read, candidates, shown, disabled };
})();
