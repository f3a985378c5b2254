/* How a run's scores are spread, and whether two metrics tell the same story. */

const dot = (run) => make('span', { class: `swatch ${run.tint}`, 'aria-hidden': 'true' });

function distributions(run) {
  const named = run.row_metrics.filter((name) => run.metrics[name].histogram);
  if (!named.length) return hide('distributions');
  $('distributions-body').replaceChildren(...named.map((name) => histogram(
    name, run.metrics[name].histogram, run.metrics[name], run.tint)));
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
        + `n = ${count(relation.n)}; a circle's area is the number of rows`)), bubbles(relation, run.tint));
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
