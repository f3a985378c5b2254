// Labelling: the next rows are loaded before they are needed, and labels are written while the next row is read. A label
// that could not be written brings its row back and says why; until one is written again, no row comes before its turn.
'use strict';

import {post, problem, typing} from '/static/app.js';

const AHEAD = 3;
const frame = document.getElementById('labelling');
const record = `${location.pathname}/record`;
const addressOf = (place) => {
  const address = new URL(frame.dataset.page, location.origin);
  if (place !== undefined) address.searchParams.set('place', place);
  return address;
};
const shown = () => document.getElementById('label');
const placeOf = (row) => Number(row.dataset.place);

// Rows by place: what the page began with, and promises of those that are on their way.
const rows = new Map([[placeOf(shown()), shown()]]);
const seen = [];                // the places that were shown before, for the way back
let todo = JSON.parse(frame.dataset.todo).filter((place) => place !== placeOf(shown()));
let writing = Promise.resolve();
let waiting = 0;                // labels that are not in the file yet
let careful = false;            // a label could not be written: the next one is waited for
let busy = false;

async function load(place) {
  const response = await fetch(addressOf(place));
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  const row = page.getElementById('label');
  if (!row) throw new Error(page.querySelector('.note.bad')?.textContent ?? `the server said ${response.status}`);
  return document.importNode(row, true);
}
function rowAt(place) {
  if (!rows.has(place)) {
    const row = load(place);
    rows.set(place, row);
    row.catch(() => rows.delete(place));  // it is tried again when it is needed
  }
  return rows.get(place);
}
const lookAhead = () => todo.slice(0, AHEAD).forEach(rowAt);

async function show(place) {
  const row = await rowAt(place);
  const before = document.activeElement?.dataset?.label;
  shown().replaceWith(row);
  history.replaceState(null, '', addressOf(place));
  scrollTo({top: 0, behavior: 'instant'});
  const button = before && row.querySelector(`button[data-label="${before}"]`);
  (button || row.querySelector('h2')).focus({preventScroll: true});
}
async function waited(work) {
  document.documentElement.classList.add('waits');
  try { return await work; } finally { document.documentElement.classList.remove('waits'); }
}
function saving() {
  document.getElementById('saving').textContent = waiting ? frame.dataset.saving : '';
}

async function write(row, value, note) {
  const {place, seen: label, shown} = row.dataset;
  waiting += 1;
  saving();
  try {
    const reply = await post(record, {place, rater: frame.dataset.rater, label: value, seen: label, shown, ...note});
    row.dataset.seen = value;
    row.querySelectorAll('button[data-label]').forEach((button) => {
      button.setAttribute('aria-pressed', button.dataset.label === value);
    });
    const field = row.querySelector('#note');
    field.defaultValue = field.value;
    const progress = document.getElementById('progress');
    progress.querySelector('span').textContent = reply.progress;
    progress.querySelector('progress').value = reply.done;
    document.getElementById('problem')?.remove();
    careful = false;
  } finally {
    waiting -= 1;
    saving();
  }
}

// The row comes back as the file has it now, with the note that was written: the key is pressed again.
async function bringBack(row, error) {
  const place = placeOf(row);
  const isEarlierBack = careful && shown() !== row;  // a row before this one could not be written either
  careful = true;
  todo = todo.filter((other) => other !== place);
  if (isEarlierBack) todo.push(place);
  else if (shown() !== row) todo.push(placeOf(shown()));
  todo.sort((one, other) => one - other);
  const note = row.querySelector('#note').value;
  rows.delete(place);
  const fresh = await load(place).catch(() => row);
  if (note) fresh.querySelector('#note').value = note;
  rows.set(place, fresh);
  if (!isEarlierBack) await show(place);
  problem(new Error(`${frame.dataset.failed} ${error.message}`));
}

async function label(value) {
  if (busy) return;  // a key held down is one label
  busy = true;
  try {
    const row = shown();
    const field = row.querySelector('#note');
    const note = field.value === field.defaultValue ? {} : {note: field.value};
    const written = writing.then(() => write(row, value, note));
    writing = written.catch((error) => bringBack(row, error));
    if (careful || waiting > AHEAD || !todo.length) await waited(writing);
    if (careful) return;
    seen.push(placeOf(row));
    if (!todo.length) {
      location.assign(addressOf());
      return;
    }
    const place = todo.shift();
    try {
      await waited(show(place));
    } catch (error) {
      todo.unshift(place);
      problem(error);
    }
    lookAhead();
  } finally { busy = false; }
}

async function back() {
  if (busy || !seen.length) return false;
  busy = true;
  try {
    await waited(writing);  // it may bring a row back
    if (careful) return true;
    todo.unshift(placeOf(shown()));
    await show(seen.pop());
  } catch (error) { problem(error); } finally { busy = false; }
  return true;
}

frame.addEventListener('click', (event) => {
  const button = event.target.closest('button[data-label]');
  if (button) label(button.dataset.label);
  if (event.target.closest('#back') && seen.length) {  // else the link leads to the row before
    event.preventDefault();
    back();
  }
});
document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || document.querySelector('dialog[open]')) return;
  if (typing()) {
    if (['Enter', 'Escape'].includes(event.key)) document.activeElement.blur();
    return;
  }
  const button = shown().querySelector(`button[data-key="${CSS.escape(event.key)}"]`);
  if (button) label(button.dataset.label);
  else if (event.key === 'n') {
    event.preventDefault();
    shown().querySelector('#note').focus();
  } else if (event.key === 'x') {
    const folded = [...shown().querySelectorAll('details')];
    const open = folded.some((part) => !part.open);
    folded.forEach((part) => { part.open = open; });
  }
});
addEventListener('beforeunload', (event) => { if (waiting) event.preventDefault(); });
lookAhead();
