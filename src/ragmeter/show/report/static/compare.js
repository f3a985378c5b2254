/* Runs beside a baseline: one pair at a time, and for several systems a table of all to choose from. */


function comparison() {
  if (!data.comparison) {
    if (!data.not_compared) return;
    $('comparison-body').replaceChildren(make('p', { class: 'note bad' }, 'The runs are not compared: ', words(data.not_compared), '.'));
    show('comparison', 'Comparison');
    return;
  }
  const { pairs, systems, kept } = data.comparison;
  const place = make('div', { id: 'pair' });
  const choose = (pair) => place.replaceChildren(onePair(pair));
  const parts = kept ? [make('p', { class: 'about' }, words(kept))] : [];
  if (systems) parts.push(allSystems(systems, pairs, choose));
  $('comparison-body').replaceChildren(...parts, place, make('p', { class: 'about' }, words(data.comparison.test_sentence)));
  choose(pairs[0]);
  show('comparison', 'Comparison');
}

/** The order of the systems, every metric of each, and the pairs to choose one from. */
function allSystems(systems, pairs, choose) {
  const select = make('select', { id: 'pairs' });
  options(select, pairs.map((pair, place) => [String(place), `${pair.b} and ${pair.a}`]), '0');
  select.addEventListener('change', () => choose(pairs[Number(select.value)]));
  const cell = ({ text, verdict }) => (verdict ? make('span', { class: `badge ${tone(verdict)}` }, text) : words(text));
  const titles = ['metric', ...systems.names.map((name) => [dot(data.runs.find((run) => run.name === name)), words(name)])];
  return make('div', {},
    scrolling('The order', table('The order of the systems', systems.titles, systems.order.map((row) => row.map(cell)), { class: 'plain order' })),
    systems.metrics.length ? scrolling('Other metrics', table('Every other metric', titles, systems.metrics.map((row) => row.map(cell)), { class: 'plain' })) : null,
    make('p', { class: 'about' }, systems.signs, ' ', make('label', {}, 'Two of them: ', select)));
}

const tone = (verdict) => ({ better: 'heat-up-2', worse: 'heat-down-2' }[verdict] || 'even');

function onePair(pair) {
  const candidate = data.runs.findIndex((run) => run.name === pair.b);
  const rows = Object.entries(pair.metrics).map(([name, each]) => {
    const most = Math.max(...[each.difference, ...(each.interval || [])].map((end) => Math.abs(end || 0))) || 1;
    const reach = 1.2 * most;
    const [title, verdict, before, after, difference, between] = each.cells;
    return [
      breakable(title),
      make('span', { class: `badge ${tone(each.verdict)}` }, verdict),
      before, after,
      make('strong', {}, difference),
      make('span', { class: 'nowrap' }, between),
      whisker(each.difference, each.interval, [-reach, reach], candidate % 8, true),
      each.verdict === 'judges differ' ? MISSING : gains(each),
      make('span', { class: 'nowrap' }, pValue(each.p_holm)),
      count(each.n),
    ];
  });
  const titles = ['metric', 'verdict', ['baseline: ', words(pair.a)], ['candidate: ', words(pair.b)], 'difference', percent(data.comparison.level), make('span', { class: 'hidden' }, 'chart'), 'rows better, same, worse', data.comparison.tests > 1 ? 'Holm p' : 'p', 'n'];
  const few = Object.values(pair.metrics).some((each) => each.n < pair.n_paired) ? '; n is how many of them have a score in both' : '';
  const caption = `${pair.b} and the baseline ${pair.a}`;
  return make('div', {},
    data.comparison.systems ? [make('h3', {}, words(pair.b), ' and ', words(pair.a)), make('p', { class: 'verdict' }, words(pair.sentence))] : null,
    scrolling(caption, table(caption, titles, rows, { class: 'plain pair' })),
    make('p', { class: 'about' }, `On ${count(pair.n_paired)} questions that both runs have${few}. `, alone(pair)),
    moved(pair), turned(pair), changed(pair, 'worse', candidate), changed(pair, 'better', candidate));
}

/** How many rows got better and worse, as two bars from a middle. */
function gains(each) {
  const total = Math.max(1, each.better + each.same + each.worse);
  const part = (number, kind, from) => draw('rect', { class: kind, x: `${100 * from / total}%`, y: 4, width: `${100 * number / total}%`, height: 10 });
  return [
    draw('svg', { class: 'gains', height: 18, 'aria-hidden': 'true' }, part(each.better, 'gain', 0), part(each.same, 'still', each.better),
      part(each.worse, 'loss', each.better + each.same)),
    make('span', { class: 'n' }, `${count(each.better)}, ${count(each.same)}, ${count(each.worse)}`),
  ];
}

function alone(pair) {
  const said = [['a', 'only_a'], ['b', 'only_b']].filter(([, side]) => pair[side].count).map(
    ([run, side]) => [words(pair[run]), ` has ${count(pair[side].count)} questions that the other has not. `]);
  const texts = pair.questions_differ ? `${count(pair.questions_differ)} questions have the same id and another text. ` : '';
  return [said, texts];
}

/** Whose work the difference is, and how many answers have which cause. */
const moved = (pair) => (pair.causes ? make('div', { class: 'note' }, pair.causes.lines.map((line) => make('p', {}, words(line)))) : null);

/** Parts of the rows where the verdict is the other way round. */
function turned(pair) {
  const found = pair.slices.filter((each) => each.turns);
  if (!found.length) return null;
  return make('div', { class: 'note' }, make('strong', {}, 'The other way round on some parts'),
    make('ul', {}, found.map((each) => make('li', {}, words(each.sentence)))));
}

/** The rows that got worse or better, by all metrics together, which open. */
function changed(pair, way, run) {
  const rows = pair[`${way}_rows`];
  if (!rows.length) return null;
  return make('details', { class: 'changed' }, make('summary', {}, `Rows that got ${way}`),
    make('ul', {}, rows.map((row) => make('li', {},
      make('button', { type: 'button', class: 'link', click: () => openQuestion(run, row.qid) }, words(row.question || row.qid)),
      ` ${Object.entries(row.scores).map(([name, [before, after]]) => `${name} ${score(before, name)} → ${score(after, name)}`).join(', ')}`))));
}
