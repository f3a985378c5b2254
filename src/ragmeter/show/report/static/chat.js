/* Conversations, shown as such: who said what, and how it was scored. */

const CONVERSATIONS = 10;
const chats = { run: 0, order: '', page: 0, held: [] };

/** The turns of each session in their order; sessions as they first appear. */
function sessions(run) {
  const held = new Map();
  run.session_id.forEach((place, row) => {
    if (place >= 0) held.set(place, [...(held.get(place) || []), row]);
  });
  for (const rows of held.values()) rows.sort((a, b) => (run.turn ? (run.turn[a] ?? 0) - (run.turn[b] ?? 0) : 0) || a - b);
  return [...held];
}

function conversations() {
  const run = store.runs[view.run];
  const held = run.session_id ? sessions(run) : [];
  if (!held.some(([, rows]) => rows.length > 1)) { hide('conversations'); return; }
  Object.assign(chats, { run: view.run, order: '', page: 0, held });
  const turns = held.reduce((sum, [, rows]) => sum + rows.length, 0);
  const order = make('select', { id: 'chat-order' });
  const metrics = Object.keys(run.scores).filter((name) => data.metrics[name].direction !== 'none');
  options(order, [['', 'as in the run'], ...metrics.map((name) => [name, `worst ${name} first`])], '');
  order.addEventListener('change', () => { Object.assign(chats, { order: order.value, page: 0 }); chatPage(); });
  $('conversations-body').replaceChildren(
    make('p', { class: 'about' }, `${several(held.length, 'conversation')}, ${several(turns, 'turn')}. `, make('label', {}, 'Order: ', order)),
    make('div', { id: 'chats', class: 'grid chats' }), make('nav', { class: 'pages', id: 'chat-pages', 'aria-label': 'Pages of conversations' }));
  chatPage();
  show('conversations', 'Conversations');
}

/** How a conversation did by one metric: the mean of its turns, and lower than all where one has no score. */
function standing(run, rows, name) {
  const sign = data.metrics[name].direction === 'lower' ? -1 : 1;
  const total = rows.reduce((sum, row) => sum + run.values[name][row], 0) / rows.length;
  return Number.isNaN(total) ? -Infinity : sign * total;
}

function chatPage() {
  const run = store.runs[chats.run];
  const held = [...chats.held];
  if (chats.order) {
    const rank = new Map(held.map((each) => [each, standing(run, each[1], chats.order)]));
    held.sort((a, b) => (rank.get(a) < rank.get(b) ? -1 : rank.get(a) > rank.get(b) ? 1 : 0));
  }
  const pages = Math.ceil(held.length / CONVERSATIONS);
  const shown = held.slice(chats.page * CONVERSATIONS, (chats.page + 1) * CONVERSATIONS);
  $('chats').replaceChildren(...shown.map(([place, rows]) => conversation(run, place, rows)));
  const go = (label, by, disabled) => make('button', { type: 'button', class: 'quiet', disabled, click: () => { chats.page += by; chatPage(); $('conversations').scrollIntoView(); } }, label);
  $('chat-pages').replaceChildren(...(pages > 1 ? [go('Previous', -1, !chats.page), make('span', {}, `page ${count(chats.page + 1)} of ${count(pages)}`),
    go('Next', 1, chats.page === pages - 1)] : []));
}

function conversation(run, place, rows) {
  return make('article', { class: 'card chat' }, make('h3', {}, words(text(place)), make('span', { class: 'soft' }, ` ${several(rows.length, 'turn')}`)),
    make('ol', {}, rows.map((row) => turnOf(run, row, rows))));
}

function turnOf(run, row, rows) {
  const answer = run.answer ? text(run.answer[row]) : null;
  const references = (run.reference && run.reference[row]) || [];
  return make('li', {},
    make('p', { class: 'says user' }, make('span', { class: 'hidden' }, 'Question: '), words((run.question && text(run.question[row])) || '')),
    make('p', { class: `says system ${answer === null ? 'lacking' : ''}` }, make('span', { class: 'hidden' }, 'Answer: '), answer === null ? reason(run, row) : words(answer)),
    references.length ? make('p', { class: 'soft expected' }, 'expected: ', references.flatMap((each, order) => [order ? ' / ' : null, words(text(each) ?? '')])) : null,
    make('p', { class: 'chips' }, Object.keys(run.scores).map((name) => chip(run, name, row)),
      make('button', { type: 'button', class: 'link', click: () => openRow(chats.run, row, rows) }, 'details', make('span', { class: 'hidden' }, ` of turn ${rows.indexOf(row) + 1}`))));
}
