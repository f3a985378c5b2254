/* The table of rows: searched, filtered and sorted as a whole, shown a page at a time. */

const PAGE = 50;
const view = { run: 0, search: '', only: 'all', slice: '', value: '', metric: '', low: NaN, high: NaN, key: 'order', down: false, page: 0, rows: [] };

/** The rows that are wanted, in the order that is wanted: one pass over numbers and small texts. */
function wanted() {
  const run = store.runs[view.run];
  const asked = view.search.toLowerCase().split(/\s+/).filter(Boolean);
  const small = asked.length ? searchable(run) : null;
  const column = view.slice ? run.slices[view.slice] : null;
  const value = column && view.value !== '' ? Number(view.value) : null;
  const scores = view.metric ? run.values[view.metric] : null;
  const low = Number.isNaN(view.low) ? -Infinity : view.low;
  const high = Number.isNaN(view.high) ? Infinity : view.high;
  const limited = scores && (low > -Infinity || high < Infinity);
  const found = [];
  for (const row of ordered(run, view.key, view.down)) {
    if (view.only === 'failed' && !run.failed[row]) continue;
    if (view.only === 'scored' && run.failed[row]) continue;
    if (value !== null && column[row] !== value) continue;
    if (limited && !(scores[row] >= low && scores[row] <= high)) continue;
    if (small && !asked.every((word) => small[row].includes(word))) continue;
    found.push(row);
  }
  return found;
}

function rowsSection() {
  const run = store.runs[view.run];
  Object.assign(view, { slice: '', value: '', metric: '', low: NaN, high: NaN, key: 'order', down: false, page: 0 });
  $('rows-body').replaceChildren(...leftOut(run), tools(run), make('p', { id: 'status', class: 'soft', role: 'status', 'aria-live': 'polite' }),
    scrolling('Table of rows', make('table', { class: 'rows', role: 'table' }, make('caption', { class: 'hidden' }, 'Rows: a question opens its row'), head(run), make('tbody', { id: 'lines', role: 'rowgroup' }))),
    make('nav', { class: 'pages', id: 'pages', 'aria-label': 'Pages of rows' }));
  refresh();
  show('rows-part', 'Rows');
}

/** What is not on the page, said where the rows are. */
function leftOut(run) {
  const said = [];
  if (run.n < run.total) {
    said.push(make('p', { class: 'note bad' }, `${count(run.n)} of ${count(run.total)} rows are on this page: those that failed, then the worst. `
      + `The other ${count(run.total - run.n)} are in the run's rows.parquet; the figures above are of all rows.`));
  }
  if (data.longest) {
    said.push(make('p', { class: 'note' }, `Texts longer than ${count(data.longest)} characters are cut, and say so.`));
  }
  return said;
}

function tools(run) {
  const search = make('input', { type: 'search', id: 'search', dir: 'auto', placeholder: 'Search questions, answers, ids …', autocomplete: 'off', 'aria-label': 'Search questions, answers, references, ids and other columns', value: view.search });
  let waiting = 0;
  search.addEventListener('input', () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => { view.search = search.value; again(); }, 60);
  });
  const only = make('select', { id: 'only', 'aria-label': 'Which rows' });
  options(only, [['all', 'all rows'], ['failed', 'no score by some metric'], ['scored', 'scored by all metrics']], view.only);
  only.addEventListener('change', () => { view.only = only.value; again(); });
  return make('div', { class: 'tools', role: 'search' }, search, only, sliceTools(run), metricTools(run),
    make('button', { type: 'button', class: 'quiet', id: 'reset', click: () => { Object.assign(view, { search: '', only: 'all' }); rowsSection(); $('search').focus(); } }, 'Reset'));
}

function sliceTools(run) {
  const names = Object.keys(run.slices);
  if (!names.length) return null;
  const column = make('select', { id: 'slice', 'aria-label': 'Column' });
  const value = make('select', { id: 'slice-value', 'aria-label': 'Value', hidden: true });
  options(column, [['', 'any slice'], ...names.map((name) => [name, name])], '');
  column.addEventListener('change', () => {
    const found = column.value ? [...new Set(run.slices[column.value])] : [];
    const texts = found.map((place) => [String(place), text(place) ?? '(none)']).sort((a, b) => a[1].localeCompare(b[1], 'en', { numeric: true }));
    options(value, [['', 'any value'], ...texts], '');
    value.hidden = !column.value;
    Object.assign(view, { slice: column.value, value: '' });
    again();
  });
  value.addEventListener('change', () => { view.value = value.value; again(); });
  return [column, value];
}

function metricTools(run) {
  const metric = make('select', { id: 'metric', 'aria-label': 'Score' });
  options(metric, [['', 'any score'], ...Object.keys(run.values).map((name) => [name, name])], '');
  const bounds = ['low', 'high'].map((end) => {
    const input = make('input', { type: 'number', step: 'any', id: end, placeholder: end === 'low' ? 'from' : 'to', 'aria-label': end === 'low' ? 'Score from' : 'Score to', hidden: true });
    input.addEventListener('input', () => { view[end] = input.value === '' ? NaN : Number(input.value); again(); });
    return input;
  });
  metric.addEventListener('change', () => {
    view.metric = metric.value;
    for (const input of bounds) input.hidden = !metric.value;
    again();
  });
  return [metric, bounds];
}

function head(run) {
  const title = (key, label, kind) => make('th', { scope: 'col', role: 'columnheader', class: kind, 'data-key': key, 'aria-sort': 'none' },
    make('button', { type: 'button', class: 'sort', click: () => sort(key) }, label, make('span', { class: 'way', 'aria-hidden': 'true' })));
  return make('thead', { role: 'rowgroup' }, make('tr', { role: 'row' }, title('order', '#', 'order'), title('question', 'question', 'long'), run.answer ? title('answer', 'answer', 'long') : null,
    Object.keys(run.values).map((name) => title(name, breakable(name), 'number'))));
}

function sort(key) {
  view.down = view.key === key ? !view.down : false;
  view.key = key;
  again();
}

function again() {
  view.page = 0;
  refresh();
}

function refresh() {
  const run = store.runs[view.run];
  view.rows = wanted();
  const pages = Math.max(1, Math.ceil(view.rows.length / PAGE));
  view.page = Math.min(view.page, pages - 1);
  const shown = view.rows.slice(view.page * PAGE, (view.page + 1) * PAGE);
  $('lines').replaceChildren(...shown.map((row) => line(run, row)));
  $('status').textContent = view.rows.length === run.n ? `${count(run.n)} rows` : `${count(view.rows.length)} of ${count(run.n)} rows`;
  for (const title of document.querySelectorAll('.rows th[data-key]')) {
    title.setAttribute('aria-sort', title.dataset.key !== view.key ? 'none' : view.down ? 'descending' : 'ascending');
  }
  turn(pages);
}

function line(run, row) {
  const open = () => openRow(view.run, row, view.rows);
  const question = (run.question && text(run.question[row])) || (run.qid && text(run.qid[row])) || `row ${row + 1}`;
  const answer = run.answer ? text(run.answer[row]) : null;
  return make('tr', { role: 'row', class: run.failed[row] ? 'failed' : '', click: open },
    make('td', { role: 'cell', class: 'order', 'data-label': '#' }, count(row + 1)),
    make('th', { scope: 'row', role: 'rowheader', class: 'long' }, make('button', { type: 'button', class: 'open', click: (event) => { event.stopPropagation(); open(); } }, words(question.slice(0, 300)))),
    run.answer ? make('td', { role: 'cell', class: 'long answer' }, answer === null ? make('span', { class: 'lacking' }, reason(run, row)) : make('div', { class: 'clip' }, words(answer.slice(0, 400))), claimCounts(run, row)) : null,
    Object.keys(run.values).map((name) => make('td', { role: 'cell', class: 'number', 'data-label': name },
      Number.isNaN(run.values[name][row]) ? make('span', { class: 'lacking', title: outcome(run, name, row) }, '–') : score(run.values[name][row], name))));
}

const outcome = (run, name, row) => (run.outcomes[name] && text(run.outcomes[name][row])) || 'none';

function reason(run, row) {
  const name = Object.keys(run.outcomes)[0];
  return words((run.error && text(run.error[row])) || (name && outcome(run, name, row)) || 'no answer');
}

function turn(pages) {
  const go = (label, page, disabled) => make('button', {
    type: 'button', class: 'quiet', disabled, 'aria-label': `${label} page`,
    click: () => { view.page = page; refresh(); document.querySelector('.rows').closest('.wide').scrollIntoView({ block: 'start' }); },
  }, label);
  const last = pages - 1;
  $('pages').replaceChildren(go('First', 0, view.page === 0), go('Previous', view.page - 1, view.page === 0),
    make('span', {}, `page ${count(view.page + 1)} of ${count(pages)}`), go('Next', view.page + 1, view.page === last), go('Last', last, view.page === last));
}
