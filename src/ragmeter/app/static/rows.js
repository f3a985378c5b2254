// The rows of a run: the row beside the table, bars that are drawn over, labels on the spot, downloads that take a while.
'use strict';
import {post} from './app.js';

const root = document.documentElement;
const drawer = () => document.getElementById('drawer');
const row = () => document.getElementById('row');
const opener = (place) => document.getElementById(`opens-${place}`);
const busy = () => ['INPUT', 'SELECT', 'TEXTAREA'].includes(document.activeElement?.tagName) || document.querySelector('dialog[open]');

// An address without empty fields.
document.addEventListener('htmx:configRequest', (event) => {
  const fields = event.detail.parameters;
  for (const name of ['search', 'column']) {
    const values = [fields[name] ?? []].flat().filter((value) => value !== '');
    if (values.length) fields[name] = values;
    else delete fields[name];
  }
});

// The drawer: what it shows has the focus, and when it closes the row's link has it again.
function marked(place) {
  document.querySelectorAll('.opens[aria-current]').forEach((link) => link.removeAttribute('aria-current'));
  opener(place)?.setAttribute('aria-current', 'true');
}
document.addEventListener('htmx:afterSwap', (event) => {
  if (event.detail.target.id === 'drawer') {
    document.getElementById('row-title')?.focus({preventScroll: true});
    marked(row()?.dataset.place);
    opener(row()?.dataset.place)?.closest('tr').scrollIntoView({block: 'nearest'});
    known();
  } else if (row() && drawer()) marked(row().dataset.place);
});
function close() {
  const place = row().dataset.place;
  const where = new URL(location.href);
  where.searchParams.delete('row');
  history.pushState({htmx: true}, '', where);
  drawer().replaceChildren();
  marked();
  opener(place)?.focus();
}
document.addEventListener('click', (event) => {
  const target = event.target;
  if (target.closest?.('#close')) {
    event.preventDefault();
    close();
    return;
  }
  const line = target.closest?.('.rows-table tbody tr');
  if (line && !target.closest('a, button, summary') && !getSelection().toString()) line.querySelector('.opens').click();
  const passage = target.closest?.('a[href^="#passage-"]');
  if (passage) document.querySelector(`${passage.getAttribute('href')} details`).open = true;
  document.querySelectorAll('.menu[open]').forEach((menu) => { if (!menu.contains(target)) menu.open = false; });
});

// Several bars of a histogram at once: from the one where the pointer goes down to the one where it goes up.
let begun = null;
const bars = (from, to) => {
  const all = [...from.closest('svg').querySelectorAll('a')];
  const [first, last] = [all.indexOf(from), all.indexOf(to)].sort((a, b) => a - b);
  return all.slice(first, last + 1);
};
document.addEventListener('pointerdown', (event) => { begun = event.target.closest?.('.bins a'); });
document.addEventListener('dragstart', (event) => { if (event.target.closest?.('.bins')) event.preventDefault(); });
document.addEventListener('pointermove', (event) => {
  const over = begun && event.buttons && event.target.closest?.('.bins a');
  if (!over || over.closest('svg') !== begun.closest('svg')) return;
  const chosen = bars(begun, over);
  begun.closest('svg').querySelectorAll('a').forEach((bar) => bar.classList.toggle('brushed', chosen.includes(bar)));
});
document.addEventListener('pointerup', (event) => {
  const over = event.target.closest?.('.bins a');
  if (!begun || !over || over === begun || over.closest('svg') !== begun.closest('svg')) return;
  const chosen = bars(begun, over);
  const fields = new URLSearchParams(new URL(location.href).search);
  for (const end of [chosen[0].dataset.from, chosen.at(-1).dataset.to]) fields.append('filter', end);
  fields.delete('page');
  location.assign(`${location.pathname}?${fields}#rows`);
});

// Labels on the spot. The name is asked for once, and remembered by this browser.
const rater = () => localStorage.getItem('ragmeter-rater') ?? '';
async function send(label) {
  const {label: address, shown} = row().dataset;
  const reply = await post(address, {rater: rater(), shown, ...(label === null ? {} : {label})});
  return reply.label;
}
let latest = null;  // the last question or label that was sent: an earlier one's reply may come after its own
async function labelled(label) {
  const asked = row();
  if (!asked?.querySelector('.your-label')) return;
  const place = document.getElementById('labelled');
  if (!rater()) {
    place.textContent = place.dataset.nameless;
    document.getElementById('rater').focus();
    return;
  }
  const sent = latest = Symbol();
  try {
    const given = await send(label);
    if (row() !== asked || sent !== latest) return;
    asked.querySelectorAll('[data-label]').forEach((button) => button.setAttribute('aria-pressed', button.dataset.label === given));
    if (label !== null) place.textContent = place.dataset.saved;
  } catch (error) { place.textContent = error.message; }
}
function known() {
  const name = document.getElementById('rater');
  if (!name || !rater()) return;
  name.value = rater();
  labelled(null);
}
document.addEventListener('change', (event) => {
  if (event.target.id !== 'rater') return;
  localStorage.setItem('ragmeter-rater', event.target.value.trim());
  document.getElementById('labelled').textContent = '';
  known();
});
document.addEventListener('click', (event) => {
  const button = event.target.closest?.('#row button');
  if (button?.dataset.label) labelled(button.dataset.label);
});

const LABELS = {c: 'correct', w: 'wrong', s: 'skip'};
document.addEventListener('keydown', (event) => {
  if (event.key === 'Enter' && event.target.id === 'rater') event.target.blur();
  if (!row() || busy() || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (event.key === 'Escape' && drawer()?.contains(row())) close();
  else if (LABELS[event.key] && row().querySelector('.your-label')) {
    event.preventDefault();  // the key is no letter of a name
    labelled(LABELS[event.key]);
  }
});

// A file that takes a while: the bar at the top says so until it comes, which its cookie tells.
document.addEventListener('click', (event) => {
  const file = event.target.closest?.('a[data-waits]');
  if (!file) return;
  const sign = `ragmeter-file-${crypto.randomUUID().slice(0, 8)}`;
  const where = new URL(file.href);
  where.searchParams.set('sign', sign);
  file.href = where;
  root.classList.add('waits');
  const look = setInterval(() => {
    if (!document.cookie.includes(sign)) return;
    clearInterval(look);
    document.cookie = `${sign}=; max-age=0; path=/`;
    root.classList.remove('waits');
  }, 200);
});
known();
