// For --record: says what a person does on the page. What is typed is the question, Enter or a button sends it, and a click on
// something new is a click on its answer; other clicks come before all that.
(() => {
  const EDITABLE = "textarea, input:not([type]), input[type=text], input[type=search]", BUTTONS = "button, [role='button'], [type='submit'], a, label, summary";
  const call = (name, argument) => (window.__ragmeter[name](argument) || {}).value;
  const isBox = (element) => element.isContentEditable || element.matches(EDITABLE);
  const target = (event) => event.composedPath().find((node) => node.nodeType === 1);
  const tell = (what, more) => window.__ragmeter_done({ what, ...more });
  let box = null;
  const asks = (button) => {
    const question = box && box.isConnected ? String(box.value ?? box.textContent).trim() : "";
    if (!question) return false;
    const before = call("mark", { question, rule: null, learning: true });
    tell("question", { question, before, box: call("path", box), send: button ? call("path", button) : "Enter" });
    return true;
  };
  addEventListener("input", (event) => { if (isBox(target(event))) box = target(event); }, true);
  addEventListener("keydown", (event) => { if (event.key === "Enter" && !event.shiftKey && target(event) === box) asks(null); }, true);
  addEventListener("click", (event) => {
    const element = target(event), button = element.closest(BUTTONS);
    if (!event.isTrusted || isBox(element) || (button && asks(button))) return;
    const tree = call("pick", element);
    if (tree) tell("answer", { tree });
    else tell("click", { selector: call("path", button || element) });
  }, true);
})();
