/* What a person wants to know first: how good, how sure, on how many rows, and what failed. */

function headline() {
  $('title').replaceChildren(words(data.title));
  const lead = data.runs.map((run) => make('li', {},
    data.runs.length > 1 ? make('strong', {}, dot(run), words(run.name), ': ') : null,
    run.headline ? [make('strong', {}, words(run.headline)), '; '] : null,
    `${several(run.n, 'row')}, ${several(Object.keys(run.metrics).length, 'metric')}`,
    run.created ? [', ', when(run.created, { dateStyle: 'long' })] : null,
    run.limit.map((line) => make('strong', {}, `; ${line}`))));
  $('headline-body').replaceChildren(
    make('ul', { class: 'lead' }, lead),
    ...verdict(), failures(), warnings() || '');
  $('scores-body').replaceChildren(
    make('div', { class: data.runs.length > 1 ? 'cards several' : 'cards' }, Object.keys(data.metrics).map(card)),
    make('p', { class: 'about' }, data.interval), judges() || '', numbers() || '');
  show('scores', 'Scores');
}

const dot = (run) => make('span', { class: `swatch run-${data.runs.indexOf(run) % 8}`, 'aria-hidden': 'true' });

/** What the comparison comes to, above all else. */
function verdict() {
  if (!data.comparison) return [];
  const { first, remarks, warnings: unsure } = data.comparison;
  return [
    ...first.map((line, place) => make('p', { class: place ? 'about' : 'verdict' }, words(line))),
    ...remarks.map((line) => make('p', { class: 'about' }, words(line))),
    ...unsure.map((line) => make('p', { class: 'note bad' }, words(line))),
  ];
}

function failures() {
  const failed = data.runs.filter((run) => run.failures.length);
  if (!failed.length) return make('p', { class: 'note good' }, 'Every metric has a score for every row.');
  return make('div', { class: 'note bad' }, make('strong', {}, 'Not everything was scored'),
    failed.map((run) => [make('ul', {}, run.failures.map((each) => make('li', {},
      data.runs.length > 1 ? [dot(run), words(run.name), ': '] : null,
      `no score for ${count(each.count)}: `, make('code', {}, words(each.cause)), each.meaning ? `, ${each.meaning}` : '',
      each.all ? ' (every metric)' : [' (', each.metrics.flatMap((name, place) => [place ? ', ' : null, words(name)]), ')']))), causes(run)]));
}

/** The system's and the judge's own words, the most frequent first. */
function causes(run) {
  const held = Object.entries(run.causes);
  if (!held.length) return null;
  return make('details', {}, make('summary', {}, `Causes in their own words (${count(held.length)})`),
    make('ul', {}, held.slice(0, 20).map(([cause, number]) => make('li', {}, `${count(number)} × `, words(cause)))));
}

const saying = (run, wanted) => run.judge.filter(([, kind]) => (kind === 'warning') === wanted);

/** What the judge's own figures warn of; it stands above everything that rests on them. */
function warnings() {
  const worrying = data.runs.filter((run) => saying(run, true).length);
  return worrying.length ? make('div', { class: 'note bad' }, make('strong', {}, 'Before you trust the judge'), worrying.map((run) => said(run, true))) : null;
}

/** How the judge did on known cases, who decided, and what it cost. */
function judges() {
  const judged = data.runs.filter((run) => saying(run, false).length);
  return judged.length ? make('div', { class: 'note judge' }, make('strong', {}, 'The judge', data.runs.length === 1 && judged[0].judge_model ? [': ', words(judged[0].judge_model)] : null), judged.map((run) => said(run, false))) : null;
}

const said = (run, wanted) => [
  data.runs.length > 1 ? make('p', { class: 'whose' }, dot(run), words(run.name), run.judge_model ? [', judged by ', words(run.judge_model)] : null) : null,
  make('ul', {}, saying(run, wanted).map(([line, kind]) => make('li', {}, kind === 'strong' ? make('strong', {}, words(line)) : words(line)))),
];

function card(name) {
  const metric = data.metrics[name];
  const having = data.runs.filter((run) => run.metrics[name]);
  return make('article', { class: 'card metric' },
    make('h2', {}, breakable(name), ' ', make('span', { class: 'soft', title: metric.better }, metric.arrow),
      make('span', { class: 'hidden' }, metric.better)),
    metric.meaning ? make('p', { class: 'soft meaning' }, metric.meaning) : null,
    data.runs.length > 1 ? beside(name, metric, having) : single(having[0].metrics[name], metric),
    data.runs.length > 1 ? few(having.map((run) => run.metrics[name])) : null,
    make('p', { class: 'soft better' }, metric.better));
}

/** Where most rows have no score, the mean of the others is none of all: its bounds stand in its place. */
const meanOf = (summary) => summary.shown[0];
const intervalOf = (summary) => summary.shown[1];
const whiskerOf = (summary, axis, colour) => (summary.bounds
  ? whisker(null, summary.bounds, axis, colour) : whisker(summary.mean, summary.interval, axis, colour));
const unsure = (summary) => (summary.bounds ? 'bounds of the mean: most rows have no score' : 'too few rows for an interval');

function single(summary, metric) {
  return [
    make('p', { class: 'big' }, meanOf(summary)),
    whiskerOf(summary, metric.axis, 0), scale(metric.axis),
    make('p', {}, intervalOf(summary) ? `${summary.level}: ${intervalOf(summary)}` : unsure(summary)),
    scored(summary), few([summary]),
  ];
}

/** An interval of a few rows does not quite keep its promise. */
const few = (summaries) => (summaries.some((each) => each.few) ? make('p', { class: 'soft' }, data.few) : null);

const scored = (summary) => make('p', { class: summary.n_scored < summary.n_total ? 'lacking' : 'soft' },
  `${count(summary.n_scored)} of ${count(summary.n_total)} scored`);

function beside(name, metric, having) {
  const rows = having.map((run) => {
    const summary = run.metrics[name];
    return [
      [dot(run), words(run.name)],
      whiskerOf(summary, metric.axis, data.runs.indexOf(run) % 8),
      make('strong', {}, meanOf(summary)),
      intervalOf(summary) || MISSING,
      make('span', { class: summary.n_scored < summary.n_total ? 'lacking' : 'soft' },
        summary.n_scored < summary.n_total ? `${count(summary.n_scored)} of ${count(summary.n_total)}` : count(summary.n_scored)),
    ];
  });
  const level = having[0].metrics[name].level;
  return table(`${name} by run`, ['run', make('span', { class: 'hidden' }, 'chart'), 'mean', level, 'n'], rows, { class: 'whiskers' });
}

/** Latency, tokens and cost, where a run has them. */
function numbers() {
  const rows = data.runs.flatMap((run) => Object.entries(run.numbers).map(([name, each]) => [
    [data.runs.length > 1 ? [dot(run), words(run.name), ' '] : null, name.replaceAll('_', ' ')],
    ...['p50', 'p95', 'p99', 'max'].map((key) => figure(each[key])), count(each.n),
  ]));
  const spent = data.runs.filter((run) => run.usage.calls).map((run) => make('p', { class: 'about' },
    data.runs.length > 1 ? [words(run.name), ': '] : null,
    several(run.usage.calls, 'call'),
    run.usage.prompt_tokens ? `, ${count(run.usage.prompt_tokens)} tokens in, ${count(run.usage.completion_tokens || 0)} out` : null,
    run.usage.cost_usd ? `, ${money(run.usage.cost_usd)}` : ''));
  if (!rows.length && !spent.length) return null;
  return make('div', {}, rows.length
    ? scrolling('Times', table('Times in milliseconds', ['time in ms', 'median', 'p95', 'p99', 'most', 'n'], rows, { class: 'plain' })) : null, spent);
}

function distributions(run) {
  const named = run.row_metrics.filter((name) => run.metrics[name].histogram);
  if (!named.length) return hide('distributions');
  $('distributions-body').replaceChildren(...named.map((name) => histogram(
    name, run.metrics[name].histogram, run.metrics[name], data.runs.indexOf(run) % 8)));
  return show('distributions', 'Distributions');
}

function relations(run) {
  if (!run.relations.length) return hide('relations');
  const names = [...new Set(run.relations.flatMap((each) => [each.x, each.y]))];
  const find = (x, y) => run.relations.find((each) => (each.x === x && each.y === y) || (each.x === y && each.y === x));
  const chart = make('figure', { class: 'card relation' });
  const choose = (relation, button) => {
    for (const each of body.querySelectorAll('[aria-pressed="true"]')) each.setAttribute('aria-pressed', 'false');
    button.setAttribute('aria-pressed', 'true');
    chart.replaceChildren(make('figcaption', {}, make('strong', {}, words(relation.x), ' and ', words(relation.y)),
      make('span', { class: 'soft' }, `rank correlation ${figure(relation.spearman)} · linear ${figure(relation.pearson)} · `
        + `n = ${count(relation.n)}; a circle's area is the number of rows`)), bubbles(relation, data.runs.indexOf(run) % 8));
  };
  const rows = names.slice(1).map((y, row) => [breakable(y), ...names.slice(0, -1).map((x, column) => {
    if (column > row) return '';
    const relation = find(x, y);
    const step = relation.spearman === null ? 0 : Math.min(4, Math.round(Math.abs(relation.spearman) * 4));
    const button = make('button', {
      type: 'button', class: `cell link-${relation.spearman < 0 ? 'down-' : ''}${step}`, 'aria-pressed': 'false',
      'aria-label': `${figure(relation.spearman)}: ${y} and ${x}`,
    }, figure(relation.spearman));
    button.addEventListener('click', () => choose(relation, button));
    return button;
  })]);
  const body = scrolling('Rank correlations', table('Rank correlations', [make('span', { class: 'hidden' }, 'metric'), ...names.slice(0, -1).map(breakable)], rows, { class: 'matrix' }));
  $('relations-body').replaceChildren(body, chart);
  body.querySelector('button').click();
  return show('relations', 'Relations');
}
