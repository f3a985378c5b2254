/* Runs against each other: one pair at a time, and for many runs a table of all pairs to choose from. */

function comparison() {
  if (!data.comparison) {
    if (!data.not_compared) return;
    $('comparison-body').replaceChildren(make('p', { class: 'note bad' }, 'The runs are not compared: ', words(data.not_compared), '.'));
    show('comparison', 'Comparison');
    return;
  }
  const { pairs, runs } = data.comparison;
  const place = make('div', { id: 'pair' });
  const choose = (pair) => place.replaceChildren(onePair(pair));
  const parts = data.comparison.kept ? [make('p', { class: 'about' }, words(data.comparison.kept))] : [];
  if (runs.length > 2) parts.push(overview(pairs, runs, choose));
  $('comparison-body').replaceChildren(...parts, place);
  if (runs.length === 2) choose(pairs[0]);
  show('comparison', 'Comparison');
}

function overview(pairs, runs, choose) {
  const names = [...new Set(pairs.flatMap((pair) => Object.keys(pair.metrics)))];
  const select = make('select', { id: 'overview-metric' });
  options(select, names.map((name) => [name, name]), names[0]);
  const place = make('div', {});
  let chosen = pairs[0];
  const fill = () => {
    const rows = runs.slice(1).map((b, row) => [[dot(data.runs[row + 1]), words(b)], ...runs.slice(0, -1).map((a) => {
      const pair = pairs.find((each) => each.a === a && each.b === b);
      const each = pair && pair.metrics[select.value];
      if (!each) return '';
      return make('button', {
        type: 'button', class: `cell ${tone(each.verdict)}`, 'aria-pressed': String(pair === chosen),
        click: () => { chosen = pair; fill(); choose(pair); },
      }, signed(each.difference), ' ', make('span', { class: 'n' }, each.verdict), make('span', { class: 'hidden' }, ': ', words(b), ' against ', words(a)));
    })]);
    place.replaceChildren(scrolling('All pairs', table(`Differences of ${select.value}`,
      [make('span', { class: 'hidden' }, 'run'), ...runs.slice(0, -1).map((a, place) => [make('span', { class: 'soft' }, 'against '), dot(data.runs[place]), words(a)])], rows, { class: 'matrix pairs' })));
  };
  select.addEventListener('change', fill);
  fill();
  choose(chosen);
  return make('div', {}, make('p', { class: 'about' }, make('label', {}, 'Differences of ', select),
    ' from the run in the column to the run in the row. Choose a pair to see it below.'), place);
}

const tone = (verdict) => ({ better: 'heat-up-2', worse: 'heat-down-2' }[verdict] || 'even');

function onePair(pair) {
  const both = data.runs.findIndex((run) => run.name === pair.b);
  const rows = Object.entries(pair.metrics).map(([name, each]) => {
    const most = Math.max(...[each.difference, ...(each.interval || [])].map((end) => Math.abs(end || 0))) || 1;
    const reach = 1.2 * most;
    return [
      breakable(name),
      make('span', { class: `badge ${tone(each.verdict)}` }, each.verdict),
      make('strong', {}, signed(each.difference)),
      make('span', { class: 'nowrap' }, signedInterval(each.interval)),
      whisker(each.difference, each.interval, [-reach, reach], both % 8, true),
      figure(each.mean_a), figure(each.mean_b),
      each.verdict === 'judges differ' ? MISSING : gains(each),
      make('span', { class: 'nowrap' }, pValue(each.p_holm)),
      count(each.n),
    ];
  });
  const titles = ['metric', 'verdict', 'difference', percent(data.comparison.level), make('span', { class: 'hidden' }, 'chart'), words(pair.a), words(pair.b), 'rows better, same, worse', data.comparison.tests > 1 ? 'Holm p' : 'p', 'n'];
  const few = Object.values(pair.metrics).some((each) => each.n < pair.n_paired) ? '; n is how many of them have a score in both' : '';
  return make('div', {},
    make('h3', {}, words(pair.b), ' against ', words(pair.a)),
    data.runs.length > MOST_SENTENCES ? make('p', { class: pair.warnings.length ? 'note bad' : 'verdict' }, words(pair.sentence)) : null,
    scrolling(`${pair.b} against ${pair.a}`, table(`${pair.b} against ${pair.a}`, titles, rows, { class: 'plain pair' })),
    inWords(pair),
    make('p', { class: 'about' }, `On ${count(pair.n_paired)} questions that both runs have${few}. p is that of a paired ${data.comparison.test_made} test`,
      data.comparison.tests > 1 ? `, corrected (Holm) over ${count(data.comparison.tests)} tests: all metrics and pairs of runs` : '',
      data.comparison.cluster ? [', with rows of one ', make('code', {}, words(data.comparison.cluster)), ' taken together'] : '',
      Object.entries(data.comparison.other_clusters || {}).map(([run, column]) => [', ', words(run), ' itself by ', make('code', {}, words(column))]), '. ', alone(pair)),
    turned(pair), moved(pair, both));
}

/** The judgement on every metric: the sentences that the command line has as well. */
const inWords = (pair) => make('details', { class: 'in-words' }, make('summary', {}, 'In words'),
  make('ul', {}, Object.values(pair.metrics).map((each) => make('li', {}, words(each.sentence)))));

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

/** Parts of the rows where the verdict is the other way round. */
function turned(pair) {
  const found = pair.slices.filter((each) => each.turns);
  if (!found.length) return null;
  return make('div', { class: 'note' }, make('strong', {}, 'The other way round on some parts'),
    make('ul', {}, found.map((each) => make('li', {}, words(each.sentence)))));
}

/** The rows that moved most, which open. */
function moved(pair, run) {
  const held = Object.entries(pair.metrics).filter(([, each]) => each.movers.length);
  if (!held.length) return null;
  return make('details', { class: 'movers' }, make('summary', {}, 'Rows that moved most'),
    held.map(([name, each]) => [make('h4', {}, words(name)), make('ul', {}, each.movers.map((mover) => make('li', {},
      make('button', { type: 'button', class: 'link', click: () => openQuestion(run, mover.qid) }, words(mover.question || mover.qid)),
      ` ${score(mover.a, name)} → ${score(mover.b, name)}`)))]));
}
