// What must be clicked before a question can be put: a banner to accept, a bubble that opens the chat, a button that
// begins it, a box to tick. Only while a page is learnt: a profile names them.
const WELCOME = /cookie|consent|privacy|terms|gdpr|datenschutz|einwillig|privacidad|confidentialité|隐私/i;
const ACCEPT = /^\W*((i )?(accept|agree|allow|consent)|ok|okay|got it|understood|continue|yes|aceptar|acepto|entendido|akzeptieren|alle akzeptieren|zustimmen|verstanden|accepter|j'accepte|accetto?|aceitar|同意|接受)(\W+\w+){0,3}\W*$/i;
const CHAT = /chat|assist|help|support|messag|messenger|\bbot\b|\bask\b|launcher|intercom|talk|question|ayuda|asistente|pregunt|hilfe|frag|aide|conversa|💬|🤖|🗨/i;
const BEGIN = /^\W*((start|begin|open|new|launch)( (a|the|your|new|live))* (chat|conversation|messag\w+|session)|chat (now|with\b.{0,30})|(let's |live )?chat|(ask|send)( us)?( a)? (question|message).{0,12}|start|begin|(iniciar|empezar|comenzar|abrir)( \w+)? (chat|conversación)|chat starten|démarrer.{0,20})\W*$/i;
const AGREEMENT = /accept|agree|consent|terms|privacy|polic|acepto|política|condiciones|akzeptier|datenschutz|zustimm|accepte|confidentialité/i;
const SEARCHES = /search|suche|busca|recherch|cerca|zoek|post ?code|\bzip\b|\bplz\b|e-?mail|newsletter|coupon|voucher|user|login|promo|filter/i;
const ASKS = /\bask\b|question|chat|messag|assist|frag|pregunt|demand/i;
const about = (element) => ["aria-label", "title", "id", "class", "name", "placeholder", "data-testid", "alt"].map((name) => attribute(element, name) || "").join(" ").replace(/([a-z])([A-Z])/g, "$1 $2").replace(/_/g, " ");
// A field for something else than a conversation: the page's own search, a form to write to somebody.
const isSearch = (box) => {
  if (box.form && [...box.form.elements].some((other) => other !== box && (other.type === "email" || /e-?mail/i.test(about(other))))) return true;
  if (tagName(box) !== "INPUT") return false;
  let names = about(box);
  for (let e = parent(box), steps = 0; e && steps < 3; e = parent(e), steps++) names += " " + (attribute(e, "role") || "") + (tagName(e) === "LABEL" ? " " + textContent(e) : "");
  return (box.type === "search" || SEARCHES.test(names)) && !ASKS.test(names);
};
const old = new WeakSet(), pressed = new WeakSet();
const canBeAsked = (box) => seen(box) && !isOff(box) && !isSearch(box) && !old.has(box);
const hasBox = () => all(EDITABLE).some(canBeAsked);
const PRESSABLE = BUTTONS + ", a, summary, [tabindex], [onclick]";
const isFree = (element) => seen(element) && !pressed.has(element) && !element.disabled;
const fixedOver = () => all("*").filter((element) => FLOATS.has(styleOf(element).position) && seen(element));
const says = (element) => [squeezed(textContent(element)).slice(0, 80), attribute(element, "value") || "", attribute(element, "aria-label") || "", attribute(element, "title") || ""].filter(Boolean);
const banner = () => {
  const over = [...all(DIALOG), ...fixedOver(), ...all("[class*='cookie' i], [id*='cookie' i], [class*='consent' i], [id*='consent' i]")].filter((element) => seen(element) && textContent(element).length < 4000 && WELCOME.test(textContent(element) + " " + about(element)));
  const buttons = over.flatMap((element) => all(PRESSABLE, element).filter((button) => isFree(button) && says(button).some((text) => ACCEPT.test(text))));
  return buttons.find((button) => says(button).some((text) => /all|alle|todo|tout/i.test(text))) || buttons[0] || null;
};
const bubble = () => {
  const height = window.innerHeight, width = window.innerWidth;
  for (const element of fixedOver()) {
    const [area] = rects(element), inside = all(PRESSABLE, element).filter(isFree);
    if (area.width > 340 || area.height > 200 || height - area.bottom > 200 || Math.min(area.left, width - area.right) > 200 || pressed.has(element)) continue;
    if (![element, ...query(element, "*")].some((part) => CHAT.test(about(part))) && !CHAT.test(squeezed(textContent(element)).slice(0, 100))) continue;
    const close = (part) => says(part).some((text) => CLOSE.test(text));
    const target = inside.find((part) => !close(part)) || (inside.length || close(element) ? null : element);
    if (target && !all(EDITABLE, element).some(seen)) return target;
  }
  return null;
};
const inSmallFrame = () => window !== window.top && window.innerWidth <= 340 && window.innerHeight <= 200;
const beginning = () => all(PRESSABLE).find((button) => isFree(button) && says(button).some((text) => BEGIN.test(text))) || (inSmallFrame() ? all(PRESSABLE).find(isFree) : null) || null;
const tick = () => {
  const boxes = all(EDITABLE).filter((box) => seen(box) && !isSearch(box));
  for (const choice of all("input[type=checkbox], [role=checkbox], [role=switch]")) {
    const label = choice.labels && choice.labels[0], place = seen(choice) ? choice : label;
    if (!place || !seen(place) || pressed.has(place) || choice.checked || attribute(choice, "aria-checked") === "true") continue;
    const near = boxes.find((box) => isNear(place, box)), outer = parent(choice), words = (label ? textContent(label) : "") + " " + about(choice) + " " + (outer ? squeezed(textContent(outer)).slice(0, 300) : "");
    if (choice.required || (AGREEMENT.test(words) && (near || !boxes.length)) || (near && isOff(near) && tagName(choice) === "INPUT")) return place;
  }
  return null;
};
// The next one, and whether it opens something: then the boxes that were there before are not the chat's.
const step = () => {
  const next = banner() || tick();
  const isOpen = all("textarea, [contenteditable=true], [contenteditable='']").some(canBeAsked);
  const opener = next || isOpen ? null : bubble() || (hasBox() ? null : beginning());
  if (opener) for (const box of all(EDITABLE).filter(seen)) old.add(box);
  if (next || opener) pressed.add(next || opener);
  return next || opener;
};
// The box of the chat: the last one that can be written in, a large one rather than a line, a search only if there is no other.
const chatBox = () => {
  const boxes = all(EDITABLE).filter((box) => seen(box) && !isOff(box) && !old.has(box)), large = boxes.filter((box) => tagName(box) !== "INPUT");
  const lines = boxes.filter((box) => tagName(box) === "INPUT" && !isSearch(box));
  const box = [large.filter((box) => !isSearch(box)), lines, boxes].map((some) => some[some.length - 1]).find(Boolean);
  return box ? path(box) : null;
};
