/* Elements are made one by one. Texts of a run are only ever written as text: nothing here reads markup. */

const SVG = 'http://www.w3.org/2000/svg';
const data = JSON.parse(document.getElementById('data').textContent);
const $ = (id) => document.getElementById(id);

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') node.addEventListener(name, value);
    else node.setAttribute(name, value === true ? '' : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) node.append(child);
  }
  return node;
}

const make = (tag, attributes, ...children) => filled(document.createElement(tag), attributes, children);
const draw = (tag, attributes, ...children) => filled(document.createElementNS(SVG, tag), attributes, children);

/** A text of a run: in its own direction, and without effect on what stands around it. */
const words = (text, attributes) => make('bdi', { dir: 'auto', ...attributes }, text);

const several = (number, what) => `${count(number)} ${what}${number === 1 ? '' : 's'}`;

/** A row's score: of what is only ever 0 or 1, yes or no. */
const score = (value, name) => ((data.metrics[name] || {}).rate && (value === 0 || value === 1) ? ['no', 'yes'][value] : figure(value));

/** A long name may be broken after its punctuation. */
const breakable = (name) => make('bdi', { dir: 'auto' }, (name.match(/[^_.,/[=@-]*[_.,/[=@-]?/g) || []).flatMap(
  (part, place) => (place && part ? [make('wbr'), part] : [part])));

/** A table. Its roles are said, since a narrow screen lays it out as something else. */
function table(caption, titles, rows, attributes) {
  return make('table', { role: 'table', ...attributes },
    make('caption', { class: 'hidden' }, caption),
    make('thead', { role: 'rowgroup' }, make('tr', { role: 'row' }, titles.map((title) => make('th', { scope: 'col', role: 'columnheader' }, title)))),
    make('tbody', { role: 'rowgroup' }, rows.map((row) => make('tr', { role: 'row' }, row.map(
      (cell, place) => (place ? make('td', { role: 'cell' }, cell) : make('th', { scope: 'row', role: 'rowheader' }, cell)))))));
}

/** A wide thing that scrolls sideways by itself, also by the keyboard. */
const scrolling = (label, ...children) => make('div', { class: 'wide', tabindex: '0', role: 'region', 'aria-label': label }, children);

function options(select, values, chosen) {
  select.replaceChildren(...values.map(([value, text]) => make('option', { value, selected: value === chosen }, text)));
}

/** A section that has something to show, in the contents as well. */
function show(id, title) {
  $(id).hidden = false;
  if (!document.querySelector(`#contents a[href="#${id}"]`)) {
    const places = [...document.querySelectorAll('main > section')].map((each) => each.id);
    const after = [...$('contents').children].find(
      (link) => places.indexOf(link.hash.slice(1)) > places.indexOf(id));
    $('contents').insertBefore(make('a', { href: `#${id}` }, title), after || null);
  }
}

function hide(id) {
  $(id).hidden = true;
  document.querySelector(`#contents a[href="#${id}"]`)?.remove();
}
