// Dialogs that lie over a page, such as the news of a version: they are closed, as a person would do before asking.
const DIALOG = "[aria-modal='true'], dialog[open], [role='dialog'], [role='alertdialog']";
const CLOSE = /^\W*(close|dismiss|skip|not now|no,? thanks|later|schlie(ß|ss)en|cerrar|fermer|chiudi|fechar|sluiten|关闭|閉じる|닫기|[×✕✖❌xX])\W*$/i;
const elementAt = method(Document, "elementFromPoint");
const isHit = (element, other) => { // by a click in the middle of the other
  const [area] = rects(other), hit = area && elementAt(document, area.left + area.width / 2, area.top + area.height / 2);
  return Boolean(hit) && within(hit, element);
};
const isOver = (dialog, box) => seen(dialog) && !within(box, dialog) && (attribute(dialog, "aria-modal") === "true" || isHit(dialog, box));
const dialogOver = (box) => (box ? all(DIALOG).filter((dialog) => isOver(dialog, box)).pop() : null) || null;
// Its first words; nothing if no dialog lies over the box.
const dialogText = (box) => {
  const dialog = dialogOver(box);
  return dialog ? squeezed(textOf(dialog)).slice(0, 60) || "without a text" : "";
};
const closer = (box) => {
  const dialog = dialogOver(box), says = (e) => ["aria-label", "title"].map((name) => attribute(e, name) || "").concat(caption(e));
  return dialog ? all(BUTTONS, dialog).find((e) => !e.disabled && seen(e) && says(e).some((text) => CLOSE.test(text))) || null : null;
};
