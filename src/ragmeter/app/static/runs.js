// The list of runs: keys, ticked runs, the dialog of actions, and what changes while others are at work.
'use strict';
import {post, typing} from './app.js';

const boxes = () => [...document.querySelectorAll('#runs input[type=checkbox]')];
const bar = document.getElementById('ticked');
let swapped = false;

// The run that was set as baseline goes first, then the older ones; the button turns that round.
function inOrder() {
  const ticked = boxes().filter((box) => box.checked);
  const isBaseline = (box) => box.dataset.baseline !== undefined;
  ticked.sort((a, b) => isBaseline(b) - isBaseline(a) || a.dataset.created.localeCompare(b.dataset.created));
  return swapped ? ticked.reverse() : ticked;
}

function showBar() {
  if (!bar) return;
  const ticked = inOrder();
  const [first, ...others] = ticked;
  bar.hidden = ticked.length === 0;
  bar.querySelector('.baseline').textContent = first?.value ?? '';
  bar.querySelector('.candidate').textContent = others.map((box) => box.value).join(', ');
  const words = bar.querySelector('.warning').dataset;
  const differ = new Set(ticked.map((box) => box.dataset.questions)).size > 1;
  bar.querySelector('.warning').textContent = ticked.length > 5 ? words.many : ticked.length < 2 ? words.one : differ ? words.differ : '';
  bar.querySelector('.go').disabled = ticked.length < 2 || ticked.length > 5;
  bar.querySelectorAll('input').forEach((field) => field.remove());
  if (differ && !bar.querySelector('.go').disabled) checkShared(ticked, words.none);
  ticked.forEach((box, at) => ['run', ...(at ? [] : ['baseline'])].forEach((name) => {
    const field = document.createElement('input');
    Object.assign(field, {type: 'hidden', name, value: box.value});
    bar.append(field);
  }));
}
// Runs of other question sets may share questions: the server knows.
async function checkShared(ticked, none) {
  const names = ticked.map((box) => box.value);
  const response = await fetch(`/compare/shared?${new URLSearchParams(names.map((name) => ['run', name]))}`);
  if (!response.ok || (await response.json()).shared || names.join('\n') !== inOrder().map((box) => box.value).join('\n')) return;
  bar.querySelector('.warning').textContent = none;
  bar.querySelector('.go').disabled = true;
}
document.addEventListener('change', (event) => { if (event.target.closest?.('#runs')) showBar(); });
bar?.querySelector('.swap').addEventListener('click', () => { swapped = !swapped; showBar(); });
bar?.querySelector('.clear').addEventListener('click', () => {
  boxes().forEach((box) => { box.checked = false; });
  showBar();
});
addEventListener('pageshow', showBar);  // a browser that goes back ticks what was ticked
showBar();

// What unfolds closes again by Escape and by a click beside it.
const unfolded = () => document.querySelectorAll('details.facet[open]');
document.addEventListener('click', (event) => unfolded().forEach((part) => { if (!part.contains(event.target)) part.open = false; }));

// j and k go through the runs, x ticks one; after the last one j is for the next page, as elsewhere.
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') unfolded().forEach((part) => { part.open = false; part.querySelector('summary').focus(); });
  const isTick = document.activeElement?.type === 'checkbox';
  if ((typing() && !isTick) || event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return;
  const rows = [...document.querySelectorAll('#runs a.to-run')].map((name) => name.closest('tr'));
  const at = rows.indexOf(document.activeElement?.closest('#runs tr'));
  const step = {j: 1, k: -1}[event.key];
  if (step && rows[at + step]) rows[at + step].querySelector('a.to-run').focus();
  else if (event.key === 'x' && at >= 0) rows[at].querySelector('input').click();
  else return;
  event.preventDefault();
  event.stopImmediatePropagation();
}, true);

let isWriting = false;  // the page is not loaded again before the answer is there
// The actions of a run come from the server when somebody asks for them.
document.addEventListener('htmx:afterSwap', (event) => {
  if (event.detail.target.id === 'actions' && !event.detail.target.open) event.detail.target.showModal();
});
document.addEventListener('submit', async (event) => {
  const form = event.target;
  if (form.dataset.post === undefined) return;
  event.preventDefault();
  const button = form.querySelector('button');
  button.disabled = true;  // a second click is no second deletion
  isWriting = true;
  try {
    const reply = await post(form.dataset.post, Object.fromEntries(new FormData(form)));
    const next = new URL(location);
    for (const name of ['deleted', 'page']) next.searchParams.delete(name);
    if (reply.deleted) next.searchParams.set('deleted', reply.deleted);
    location.replace(next);
  } catch (error) {
    button.disabled = isWriting = false;
    const place = form.querySelector('.problem') ?? form.appendChild(document.createElement('p'));
    place.className = 'problem note bad';
    place.setAttribute('role', 'alert');
    place.textContent = error.message;
  }
});

// Runs under way go on, and a run that is new is in the list, unless somebody is choosing just now.
const choosing = () => isWriting || typing() || boxes().some((box) => box.checked) || document.querySelector('dialog[open], details.facet[open]');
let list;
new EventSource('/events').addEventListener('message', (event) => {
  const marks = JSON.parse(event.data);
  list ??= marks.list;
  if (marks.list !== list && !choosing()) location.reload();
  const shown = document.getElementById('live').dataset.mark;
  if (marks.runs !== shown) htmx.ajax('GET', '/under-way', {target: '#live', select: '#live', swap: 'outerHTML ignoreTitle:true'});
});
