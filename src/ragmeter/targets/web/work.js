// Whether the page is at work on the question: stop buttons and what is busy; what moves or is out of use.
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
// Weaker signs that the page is at work, which say something when they go: what moves without end, and is new; buttons that
// were taken out of use.
const isOff = (box) => Boolean(box && box.isConnected && (box.disabled || box.readOnly || attribute(box, "aria-disabled") === "true" || attribute(box, "contenteditable") === "false"));
const animations = Document.prototype.getAnimations;
const SVG_ANIMATION = ["animate", "animateTransform"].map((tag) => `${tag}[repeatCount='indefinite']`).join(", ");
const endless = (animation) => animation.playState === "running" && animation.effect && animation.effect.getTiming().iterations === Infinity;
const animated = () => [...(animations ? apply(animations, document, []).filter(endless).map((animation) => animation.effect.target) : []), ...all(SVG_ANIMATION).map(parentElement)];
const moving = () => animated().filter((element) => element && !state.mark.there.has(element) && seen(element));
const waitingButtons = () => state.mark.buttons.filter((button) => button.disabled && button.isConnected).length;
// What the learner compares, before, during and after an answer: each is a selector of something that can be seen.
const WORKS = /(^|[^a-z])(typing|loading|loader|spinner|spin|dots?|cursor|caret|streaming|generating|busy|pending|thinking|progress|skeleton|running|pulse|blink|bounce|shimmer|waiting|processing)([^a-z]|$)/i;
const OFF = [":disabled", "[aria-disabled='true']", "[contenteditable='false']", "[readonly]", "[aria-busy='true']"];
const facts = () => {
  const found = new Set();
  for (const element of [...all(BUTTONS), ...(state.box && state.box.isConnected && state.box !== document.body ? [state.box] : [])].filter(seen).slice(0, 60)) {
    const name = path(element), off = OFF.find((how) => matches(element, how));
    found.add(name);
    found.add(name + (off || ":not(:disabled, [aria-disabled='true'])"));
  }
  for (const element of all("[aria-busy='true'], [data-state], " + RUNNING_APP).filter(seen).slice(0, 60)) {
    for (const name of ["aria-busy", "data-state", "data-test-script-state"]) if (attribute(element, name)) found.add(`${path(element)}[${name}="${CSS.escape(attribute(element, name))}"]`);
  }
  for (const element of animated()) if (element && seen(element)) found.add(path(element));
  for (const element of all("[class]").filter((e) => WORKS.test(attribute(e, "class") || "")).slice(0, 200)) {
    if (!seen(element)) continue;
    for (const token of tokens(element)) if (token.startsWith(".") && WORKS.test(token)) found.add(token);
  }
  return [...found].filter((fact) => fact.length <= 200).slice(0, 300);
};
// All of it at one moment.
const work = () => {
  const at = working();
  return { busy: at.length > state.mark.working ? path(at[at.length - 1]) : null, moves: isOff(state.box) || moving().length + waitingButtons() > 0 };
};
