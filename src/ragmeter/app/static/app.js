// What a page can't do by itself: the theme, keys, dialogs, and writes, which need the CSRF token.
'use strict';
import './rows.js';

const root = document.documentElement;
const stored = localStorage.getItem('ragmeter-theme');
if (stored) root.dataset.theme = stored;

// htmx reads our own pages into a document apart, where nothing runs; no other text becomes markup.
const PARSERS = ['Document parseHTMLUnsafe', 'DOMParser parseFromString'];
window.trustedTypes?.createPolicy('default', {
  createHTML: (markup, _, sink) => (PARSERS.includes(sink) ? markup : null),
});

// The row beside the table, if one is open: keys mean its neighbours then, and not those of the page.
const beside = () => document.querySelector('#drawer > *') ?? document;
export const typing = () => ['INPUT', 'SELECT', 'TEXTAREA'].includes(document.activeElement?.tagName);
const token = () => document.querySelector('meta[name=csrf]').content;

export async function post(where, fields) {
  const response = await fetch(where, {
    method: 'POST', headers: {'Content-Type': 'application/json', 'X-CSRF-Token': token()}, body: JSON.stringify(fields),
  });
  const written = await response.text();
  let reply = {error: written.trim() || `the server said ${response.status}`};  // a refusal is a line of text
  try { reply = JSON.parse(written); } catch { /* it is none of ours */ }
  if (!response.ok) throw new Error(reply.error ?? `the server said ${response.status}`);
  return reply;
}

export function problem(error) {
  let place = document.getElementById('problem');
  if (!place) {
    place = document.createElement('p');
    place.id = 'problem';
    place.className = 'note bad';
    place.setAttribute('role', 'alert');
    (document.querySelector('h1') ?? document.getElementById('main').firstChild).after(place);
  }
  place.textContent = error.message;
}

// htmx: the CSRF token goes with every write, and what went wrong is said.
document.addEventListener('htmx:configRequest', (event) => { event.detail.headers['X-CSRF-Token'] = token(); });
document.addEventListener('htmx:sendError', () => problem(new Error('the server does not answer')));
document.addEventListener('htmx:responseError', (event) => {
  const reply = new DOMParser().parseFromString(event.detail.xhr.responseText, 'text/html');
  problem(new Error(reply.querySelector('.note.bad')?.textContent ?? `the server said ${event.detail.xhr.status}`));
});
document.addEventListener('htmx:beforeRequest', () => root.classList.add('waits'));
document.addEventListener('htmx:afterRequest', () => root.classList.remove('waits'));
// A page that takes its time: the bar at the top says so until the next one is there.
addEventListener('beforeunload', () => root.classList.add('waits'));
addEventListener('pageshow', () => root.classList.remove('waits'));

function openDialog(name) {
  const dialog = document.getElementById(name);
  if (!dialog || dialog.open) return;
  dialog.showModal();
  dialog.querySelector('input')?.dispatchEvent(new Event('open'));
}

// One listener for buttons, so that parts of the page that come later have it too.
document.addEventListener('click', async (event) => {
  const button = event.target.closest?.('button');
  if (!button) {
    if (event.target.tagName === 'DIALOG') event.target.close();  // beside what it shows
    return;
  }
  if (button.dataset.opens) openDialog(button.dataset.opens);
  if (button.id === 'menu') button.setAttribute('aria-expanded', button.getAttribute('aria-expanded') !== 'true');
  if (button.id === 'theme') {
    const dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
    root.dataset.theme = dark ? 'light' : 'dark';
    localStorage.setItem('ragmeter-theme', root.dataset.theme);
  }
  if (button.id === 'keep') {  // the comparison, with the runs
    const fields = new FormData(button.form);
    const lists = Object.fromEntries([...new Set(fields.keys())].map((name) => [name, fields.getAll(name)]));
    post('/compare/keep', lists).then(({next}) => location.assign(next), problem);
  }
  if (button.dataset.copy !== undefined) {
    await navigator.clipboard.writeText(button.dataset.copy || location.href);
    button.textContent = button.dataset.done;
  }
});

// The search for runs: arrows go through its results, Enter opens the first one.
document.getElementById('find').addEventListener('keydown', (event) => {
  const links = [...document.querySelectorAll('#runs-by-name a')];
  const at = links.indexOf(document.activeElement);
  if (event.key === 'ArrowDown') links[at + 1]?.focus();
  else if (event.key === 'ArrowUp') (links[at - 1] ?? document.querySelector('#find input')).focus();
  else if (event.key === 'Enter' && at < 0) links[0]?.click();
  else return;
  event.preventDefault();
});

const begin = document.getElementById('begin');
if (begin && !begin.elements.rater.value) begin.elements.rater.value = localStorage.getItem('ragmeter-rater') ?? '';
begin?.addEventListener('submit', async (event) => {
  event.preventDefault();
  try {
    const fields = new FormData(begin);
    localStorage.setItem('ragmeter-rater', fields.get('rater').trim());
    const sample = {...Object.fromEntries(fields), strata: fields.getAll('strata')};
    const {next} = await post(`${location.pathname}/begin`, sample);
    location.assign(next);
  } catch (error) { problem(error); }
});

const tags = document.getElementById('tags');
tags?.addEventListener('submit', async (event) => {
  event.preventDefault();
  try {
    await post(`${location.pathname}/tags`, Object.fromEntries(new FormData(tags)));
    location.reload();
  } catch (error) { problem(error); }
});

document.addEventListener('keydown', (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key === 'k') {
    event.preventDefault();
    openDialog('find');
    return;
  }
  if (typing() || event.ctrlKey || event.metaKey || event.altKey || event.repeat || document.querySelector('dialog[open]')) return;
  if (event.key === '?') openDialog('keys');
  if (event.key === '/') {
    event.preventDefault();
    document.querySelector('main input[type=search]')?.focus();
  }
  const open = document.querySelector('.paired[open]');
  if (open && ['j', 'k'].includes(event.key)) {  // the next row of a comparison, in the place of the open one
    const next = event.key === 'j' ? open.nextElementSibling : open.previousElementSibling;
    if (!next) return;
    [open.open, next.open] = [false, true];
    next.querySelector('summary').focus({preventScroll: true});
    next.scrollIntoView({block: 'nearest'});
    return;
  }
  if (event.key === 'b') document.getElementById('back')?.click();
  else if (event.key === 'j' || event.key === 'ArrowRight') beside().querySelector('a[rel=next]')?.click();
  else if (event.key === 'k' || event.key === 'ArrowLeft') beside().querySelector('a[rel=prev]')?.click();
});

const more = document.getElementById('labelling') ? import('/static/label.js') : Promise.resolve();
more.then(() => { root.dataset.ready = 'yes'; });
