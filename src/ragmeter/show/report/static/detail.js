/* One row: question, reference and answer with their differences, contexts, ids, scores, the judge, the other runs. */

const LONGEST_DIFFERENCE = 1500;
const opened = { run: 0, row: 0, rows: [] };

/** Words with what stands between them, and each word as it is compared. */
function tokens(text) {
  const pieces = text.match(/[\p{L}\p{N}\p{M}]+|[^\p{L}\p{N}\p{M}]+/gu) || [];
  return pieces.map((piece) => ({ piece, word: /[\p{L}\p{N}]/u.test(piece) ? piece.normalize('NFKC').toLowerCase() : '' }));
}

/** Which words of two texts belong together: a longest common subsequence. */
function common(left, right) {
  const [a, b] = [left.filter((each) => each.word), right.filter((each) => each.word)];
  if (a.length > LONGEST_DIFFERENCE || b.length > LONGEST_DIFFERENCE) {
    const [ours, theirs] = [new Set(a.map((each) => each.word)), new Set(b.map((each) => each.word))];
    a.forEach((each) => { each.kept = theirs.has(each.word); });
    b.forEach((each) => { each.kept = ours.has(each.word); });
    return;
  }
  const width = b.length + 1;
  const best = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      best[i * width + j] = a[i].word === b[j].word ? best[(i + 1) * width + j + 1] + 1
        : Math.max(best[(i + 1) * width + j], best[i * width + j + 1]);
    }
  }
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    if (a[i].word === b[j].word) { a[i].kept = true; b[j].kept = true; i += 1; j += 1; }
    else if (best[(i + 1) * width + j] >= best[i * width + j + 1]) i += 1;
    else j += 1;
  }
}

/** A text whose words that the other side does not have are marked. */
function marked(held, tag) {
  const found = [];
  let run = [];
  const flush = () => { if (run.length) found.push(make(tag, {}, run.join(''))); run = []; };
  held.forEach((each, place) => {
    const different = each.word ? !each.kept : run.length && held[place + 1] && held[place + 1].word && !held[place + 1].kept;
    if (different) run.push(each.piece);
    else { flush(); found.push(each.piece); }
  });
  flush();
  return make('bdi', { dir: 'auto' }, found);
}

/** The reference that has the most words in common with the answer. */
function nearest(references, answer) {
  const there = new Set(tokens(answer).map((each) => each.word).filter(Boolean));
  const share = (reference) => {
    const held = tokens(reference).filter((each) => each.word);
    return held.filter((each) => there.has(each.word)).length / Math.max(1, held.length);
  };
  return references.map(share).reduce((best, value, place, all) => (value > all[best] ? place : best), 0);
}

function passage(place) {
  const whole = store.cut[place];
  return [words(text(place) ?? ''), whole ? make('span', { class: 'soft' }, ` … (cut: ${count(whole)} characters in all; rows.parquet has them)`) : null];
}

function openRow(run, row, rows) {
  Object.assign(opened, { run, row, rows: rows || [row] });
  const dialog = $('detail');
  dialog.replaceChildren(...detail(store.runs[run], row));
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
  $('detail-title').focus();
}

function step(by) {
  const place = opened.rows.indexOf(opened.row) + by;
  if (place >= 0 && place < opened.rows.length) openRow(opened.run, opened.rows[place], opened.rows);
}

function detail(run, row) {
  const place = opened.rows.indexOf(row);
  const button = (label, sign, by, disabled) => make('button', { type: 'button', class: 'quiet', 'aria-label': label, title: label, disabled, click: () => step(by) }, sign);
  const id = run.qid ? text(run.qid[row]) : String(row + 1);
  return [
    make('header', {},
      make('h2', { id: 'detail-title', tabindex: '-1' }, 'Row ', words(id ?? String(row + 1))),
      make('span', { class: 'soft' }, opened.rows.length > 1 ? `${count(place + 1)} of ${count(opened.rows.length)}` : ''),
      button('The row before (left arrow)', '←', -1, place <= 0), button('The next row (right arrow)', '→', 1, place >= opened.rows.length - 1),
      make('button', { type: 'button', class: 'quiet', 'aria-label': 'Close (Escape)', title: 'Close (Escape)', click: () => $('detail').close() }, '✕')),
    make('div', { class: 'content' },
      run.question ? block('Question', make('p', { class: 'question' }, passage(run.question[row]))) : null,
      texts(run, row), failure(run, row), scores(run, row), claims(run, row), judge(run, row), evidence(run, row), others(run, row), ids(run, row), contexts(run, row), notes(run, row)),
  ];
}

const block = (title, ...children) => make('section', { class: 'block' }, make('h3', {}, title), children);

/** Reference and answer side by side, with the words marked that only one of them has. */
function texts(run, row) {
  const references = (run.reference && run.reference[row]) || [];
  const answer = run.answer ? text(run.answer[row]) : null;
  const best = answer === null || !references.length ? -1 : nearest(references.map((each) => text(each) ?? ''), answer);
  const right = answer === null ? null : tokens(answer);
  const shown = references.map((each, place) => {
    if (place !== best) return make('p', { class: references.length > 1 ? 'soft' : '' }, passage(each));
    const left = tokens(text(each) ?? '');
    common(left, right);
    return make('p', {}, marked(left, 'del'), passage(each)[1]);
  });
  return make('div', { class: 'sides' },
    references.length ? block(references.length > 1 ? 'References' : 'Reference', shown) : null,
    run.answer ? block('Answer', answer === null ? make('p', { class: 'soft' }, 'none')
      : make('p', {}, best < 0 ? words(answer) : marked(right, 'ins'), passage(run.answer[row])[1])) : null);
}

function failure(run, row) {
  const error = run.error && text(run.error[row]);
  return error ? block('Error', make('p', { class: 'note bad' }, words(error))) : null;
}

function scores(run, row) {
  const rows = Object.keys(run.scores).map((name) => {
    const outcome = run.outcomes[name] ? text(run.outcomes[name][row]) : null;
    const value = run.values[name][row];
    return [breakable(name), score(value, name), outcome && outcome !== 'scored' ? make('span', { class: 'lacking' }, words(outcome)) : ''];
  });
  for (const name of Object.keys(run.numbers)) rows.push([name.replaceAll('_', ' '), figure(run.values[name][row]), '']);
  return rows.length ? block('Scores', table('Scores', ['metric', 'score', 'outcome'], rows, { class: 'plain' })) : null;
}

/** What a judge says of the row, for each column that it has filled. */
function judge(run, row) {
  return run.judges.map((each) => {
    const [value, reason, by, probability] = ['value', 'reason', 'by', 'probability'].map((part) => (each[part] ? text(each[part][row]) : null));
    if (value === null && reason === null && by === null) return null;
    const chance = probability === null ? null : [` · ${each.name.startsWith('verdict') ? 'correct' : 'the better value'} with probability `, figure(Number(probability))];
    return block(run.judges.length > 1 ? ['Judge: ', breakable(each.name)] : 'Judge',
      by === null ? null : make('p', { class: 'soft' }, 'judged by ', words(by), chance),
      value === null ? null : make('p', {}, make('span', { class: 'badge even' }, words(value))),
      reason ? make('p', {}, words(reason)) : null);
  });
}

/** What speaks for the answer and against it, as the offline judge sees it. */
function evidence(run, row) {
  const held = run.evidence && run.evidence[row];
  if (!held || !held.length) return null;
  const rows = held.map(([about, says, weight]) => [words(text(about)), words(text(says)), signedHundredths(weight)]);
  return block('What decided, by the offline judge', table('Evidence', ['evidence', 'what was found', 'weight'], rows, { class: 'plain' }),
    make('p', { class: 'soft' }, 'Weights are log-odds: + speaks for the answer, - against it.'));
}

/** The same question in the other runs. */
function others(run, row) {
  if (store.runs.length < 2 || !run.qid) return null;
  const rest = store.runs.filter((each) => each !== run).map((other) => {
    const there = rowOf(other, run.qid[row]);
    const named = make('h4', {}, dot(other.about), words(other.about.name));
    if (there < 0) return make('div', { class: 'card' }, named, make('p', { class: 'soft' }, 'not among the rows of this page'));
    const chips = Object.keys(other.scores).map((name) => chip(other, name, there, run.values[name] && run.values[name][row]));
    return make('div', { class: 'card' }, named, make('p', {}, other.answer ? passage(other.answer[there]) : ''), make('p', { class: 'chips' }, chips));
  });
  return block('The same question in the other runs', make('div', { class: 'grid' }, rest));
}

/** A score in a word or two; with another run's score beside it, whether it is better or worse than that. */
function chip(run, name, row, than) {
  const value = run.values[name][row];
  const outcome = run.outcomes[name] ? text(run.outcomes[name][row]) : null;
  const { direction } = data.metrics[name];
  let kind = '';
  if (than !== undefined && direction !== 'none' && value !== than && !Number.isNaN(value - than)) {
    kind = (value > than) === (direction === 'higher') ? 'heat-up-1' : 'heat-down-1';
  }
  const said = Number.isNaN(value) ? words(outcome || 'no score') : score(value, name);
  return make('span', { class: `chip ${kind} ${Number.isNaN(value) ? 'lacking' : ''}` }, words(name), ' ', make('strong', {}, said));
}

function ids(run, row) {
  const retrieved = run.retrieved && run.retrieved[row];
  const relevant = run.relevant && run.relevant[row];
  if (!retrieved && !relevant) return null;
  const list = (places, hits, yes, no) => make('ol', { class: 'ids' }, places.map((place, rank) => make('li', { class: hits && hits[rank] ? 'hit' : 'miss' },
    make('code', {}, words(text(place) ?? '')), hits ? make('span', { class: 'mark' }, hits[rank] ? yes : no) : null)));
  return make('div', { class: 'sides' },
    retrieved ? block('Retrieved, by rank', retrieved.length ? list(retrieved, run.hits && relevant && run.hits[row], '✓ relevant', '') : make('p', { class: 'soft' }, 'nothing')) : null,
    relevant ? block('Relevant', list(relevant, run.found && retrieved && run.found[row], '✓ retrieved', '✗ missed')) : null);
}

function contexts(run, row) {
  const held = run.contexts && run.contexts[row];
  if (!held || !held.length) return null;
  return block('Contexts', held.map((place, rank) => make('details', { id: `passage-${rank + 1}`, open: rank === 0 }, make('summary', {}, `Passage ${rank + 1}`), make('p', {}, passage(place)))));
}

function notes(run, row) {
  const rows = [...Object.entries(run.slices), ...Object.entries(run.others)].map(([name, column]) => [words(name), passage(column[row])]);
  if (run.session_id) rows.unshift(['session_id', passage(run.session_id[row])]);
  return rows.length ? block('Other columns', table('Other columns', ['column', 'value'], rows, { class: 'plain' })) : null;
}
