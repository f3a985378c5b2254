// Whether the page is at work on the question: stop buttons and what is busy; what moves or is out of use; and what known
// applications say of themselves.
const STOP = /^\W*(stop|detener|parar|interrumpir|arr[eê]ter|stopp|anhalten|abbrechen|interromper|停止|中止)(\W+\w+){0,2}\W*$/i;
const STOP_NAME = /(^|[-_\s])stop|[a-z]Stop(?![a-z])/;
const BUTTONS = "button, [role='button'], input[type='button'], input[type='submit']";
const caption = (button) => (textContent(button).length > 500 ? "" : squeezed(textContent(button)));
const isStop = (e) => ["aria-label", "title", "value"].some((name) => STOP.test(attribute(e, name) || "")) || STOP.test(caption(e))
  || ["data-testid", "id", "class"].some((name) => STOP_NAME.test(attribute(e, name) || ""));
const stopButtons = () => all(BUTTONS).filter((e) => !e.disabled && isStop(e) && seen(e));
// Streamlit, also while it loads what it needs to show a part of the answer.
const RUNNING_APP = "[data-test-script-state='running'], [data-test-script-state='rerunRequested'], [data-testid='stSkeleton']";
const working = () => [...stopButtons(), ...all("[aria-busy='true'], " + RUNNING_APP).filter(seen)];
// A known application says that it is not at work: what is on its page is the whole answer.
const IDLE_APP = [
  "[data-test-script-state='notRunning']", // Streamlit
  "body:has([data-step-type='user_message']):not(:has(#stop-button)) #chat-submit", // Chainlit
].join(", ");
const isIdle = () => query(document, IDLE_APP).length > 0;
// A known application says that it has opened: the same, or Bokeh, which Panel is made with, has shown its documents.
const hasOpened = () => {
  const { documents } = window.Bokeh || {};
  return isIdle() || (Boolean(documents) && documents.length > 0 && documents.every(({ is_idle: shown }) => shown === true));
};

// A stop button may come and go between two looks at the page: it is noticed here, when something changes.
const OFTEN = 50; // milliseconds between two checks
const noticeWork = () => {
  const { mark } = state, now = Number(new Date());
  if (!mark || mark.worked || now - (mark.checked || 0) < OFTEN) return;
  mark.checked = now;
  mark.worked = stopButtons().length > mark.stops;
};

// Weaker signs that the page is at work, which say something when they go: what moves without end, and is new; buttons that
// were taken out of use.
const isOff = (box) => Boolean(box && box.isConnected && (box.disabled || box.readOnly || attribute(box, "aria-disabled") === "true" || attribute(box, "contenteditable") === "false"));
const animations = Document.prototype.getAnimations;
const SVG_ANIMATION = ["animate", "animateTransform"].map((tag) => `${tag}[repeatCount='indefinite']`).join(", ");
const endless = (animation) => animation.playState === "running" && animation.effect && animation.effect.getTiming().iterations === Infinity;
const signsOfWork = () => {
  const styled = animations ? apply(animations, document, []).filter(endless).map((animation) => animation.effect.target) : [];
  const drawn = all(SVG_ANIMATION).map((animation) => parentElement(animation));
  return [...styled, ...drawn].filter((element) => element && !state.mark.there.has(element) && seen(element)).length;
};
const waitingButtons = () => state.mark.buttons.filter((button) => button.disabled && button.isConnected).length;
// What the learner compares, before, during and after an answer: each is a selector of something that can be seen.
const WORKS = /(^|[^a-z])(typing|loading|loader|spinner|spin|dots?|cursor|caret|streaming|generating|busy|pending|thinking|progress|skeleton|running|pulse|blink|bounce|shimmer|waiting|processing)([^a-z]|$)/i;
const OFF = [":disabled", "[aria-disabled='true']", "[contenteditable='false']", "[readonly]", "[aria-busy='true']"];
const facts = () => {
  const found = new Set(), active = animations ? apply(animations, document, []).filter(endless).map((animation) => animation.effect.target) : [];
  for (const element of [...all(BUTTONS), ...(state.box && state.box.isConnected && state.box !== document.body ? [state.box] : [])].filter(seen).slice(0, 60)) {
    const name = path(element), off = OFF.find((how) => matches(element, how));
    found.add(name);
    found.add(name + (off || ":not(:disabled, [aria-disabled='true'])"));
  }
  for (const element of all("[aria-busy='true'], [data-state], " + RUNNING_APP).filter(seen).slice(0, 60)) {
    for (const name of ["aria-busy", "data-state", "data-test-script-state"]) if (attribute(element, name)) found.add(`${path(element)}[${name}="${CSS.escape(attribute(element, name))}"]`);
  }
  for (const element of active) if (element && seen(element)) found.add(path(element));
  for (const element of all("[class]").filter((e) => WORKS.test(attribute(e, "class") || "")).slice(0, 200)) {
    if (!seen(element)) continue;
    for (const token of tokens(element)) if (token.startsWith(".") && WORKS.test(token)) found.add(token);
  }
  return [...found].filter((fact) => fact.length <= 200).slice(0, 300);
};
// All of it at one moment.
const work = () => {
  const at = working();
  noticeWork();
  return {
    busy: at.length > state.mark.working ? path(at[at.length - 1]) : null, worked: Boolean(state.mark.worked), idle: isIdle(),
    signs: signsOfWork(), waiting: waitingButtons(), off: isOff(state.box),
    timers: [...timers.values()].some(({ soon }) => soon), ticking: [...timers.values()].some(({ soon, before }) => soon && !before),
  };
};
