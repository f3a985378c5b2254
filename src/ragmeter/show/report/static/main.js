/* The appendix: distributions, correlations and slices of a run, its conversations and rows, how to reproduce it. */

function chooseRun(place) {
  view.run = place;
  const run = data.runs[place];
  if (data.runs.length > 1) {
    for (const id of ['distributions', 'relations', 'slices', 'conversations', 'rows']) {
      const title = $(`${id}-title`);
      title.querySelector('.which')?.remove();
      title.append(make('span', { class: 'which' }, dot(run), words(run.name)));
    }
  }
  distributions(run);
  relations(run);
  slices(run);
  if (store.ready) {
    conversations();
    rowsSection();
  }
}

/** The facts of a manifest one by one, each with the path that leads to it. Metrics have their place above. */
function facts(value, path) {
  if (value === null || typeof value !== 'object') return [[path.join(' · ').replaceAll('_', ' '), words(String(value))]];
  return Object.entries(value).flatMap(([key, each]) => (path.length || !['metrics', 'run'].includes(key) ? facts(each, [...path, key]) : []));
}

function signature() {
  const parts = data.runs.map((run) => make('details', { class: 'card', open: data.runs.length === 1 }, make('summary', {}, words(run.name)),
    scrolling(`How to reproduce ${run.name}`, table(`How to reproduce ${run.name}`, ['what', 'value'], facts(run.manifest, []), { class: 'plain facts' })),
    make('details', {}, make('summary', {}, 'All of it, as JSON'), scrolling(`Manifest of ${run.name}`, make('pre', {}, JSON.stringify(run.manifest, null, 2))))));
  $('signature-body').replaceChildren(...parts);
  show('signature', 'How to reproduce');
}

function theme() {
  const root = document.documentElement;
  const system = window.matchMedia('(prefers-color-scheme: dark)');
  const kept = () => { try { return localStorage.getItem('ragmeter-theme'); } catch { return null; } };
  if (['light', 'dark'].includes(kept())) root.dataset.theme = kept();
  $('theme').addEventListener('click', () => {
    const dark = root.dataset.theme ? root.dataset.theme === 'dark' : system.matches;
    root.dataset.theme = dark ? 'light' : 'dark';
    try { localStorage.setItem('ragmeter-theme', root.dataset.theme); } catch { /* a browser may forbid it */ }
  });
}

/** Opens what is folded around a part of the page. */
function unfold(node) {
  const own = node?.querySelector(':scope > details.part');
  if (own) own.open = true;
  for (let around = node?.closest('details'); around; around = around.parentElement.closest('details')) around.open = true;
}

/** The appendix is folded; a link to a part of it opens that, and paper has all of it. */
function folds() {
  const named = () => $(location.hash.slice(1));
  document.addEventListener('click', (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (link) unfold($(link.getAttribute('href').slice(1)));
  });
  addEventListener('hashchange', () => unfold(named()));
  matchMedia('print').addEventListener('change', () => document.querySelectorAll('details.part').forEach((part) => { part.open = true; }));
  unfold(named());
}

function keys() {
  const dialog = $('detail');
  dialog.addEventListener('keydown', (event) => {
    if (event.target.closest('.wide')) return;
    if (event.key === 'ArrowLeft') step(-1);
    if (event.key === 'ArrowRight') step(1);
  });
  dialog.addEventListener('click', (event) => { if (event.target === dialog) dialog.close(); });
  document.addEventListener('keydown', (event) => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (event.key === '/' && !typing && !dialog.open && $('search')) { event.preventDefault(); unfold($('search')); $('search').focus(); }
  });
}

function start() {
  theme();
  folds();
  if (!$('rows')) {  // without the appendix the page is as it came
    document.documentElement.dataset.ready = 'yes';
    return;
  }
  if (data.runs.length > 1) {
    options($('run'), data.runs.map((run, place) => [String(place), run.name]), '0');
    $('run-choice').hidden = false;
    $('run').addEventListener('change', () => chooseRun(Number($('run').value)));
  }
  chooseRun(0);
  signature();
  keys();
  readRows().then(() => {
    conversations();
    rowsSection();
    document.documentElement.dataset.ready = 'yes';
    (window.requestIdleCallback || setTimeout)(() => searchable(store.runs[view.run]));  // so that the first search is quick
  }).catch((error) => {
    $('rows-body').replaceChildren(make('p', { class: 'note bad' }, `The rows can't be shown: ${error.message}.`));
    show('rows-part', 'Rows');
  });
}

start();
