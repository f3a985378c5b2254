/* Slices: a table whose cells are coloured by how far they are from the mean of all rows. */

function slices(run) {
  if (!run.slices.length) return hide('slices');
  $('few-note').textContent = data.few;
  $('slices-body').replaceChildren(...run.slices.map((part) => heatMap(run, part)));
  return show('slices', 'Slices');
}

function heatMap(run, part) {
  const rows = part.values.map((value) => make('tr', {},
    make('th', { scope: 'row' }, words(value.value), make('span', { class: 'soft n' }, `${count(value.n)} rows`)),
    run.row_metrics.map((name) => heatCell(value.cells[name]))));
  const all = make('tr', { class: 'all' }, make('th', { scope: 'row' }, 'all rows', make('span', { class: 'soft n' }, `${count(run.n)} rows`)),
    run.row_metrics.map((name) => make('td', {}, make('strong', {}, run.metrics[name].shown[0]),
      make('span', { class: 'n' }, `n = ${count(run.metrics[name].n_scored)}`))));
  return scrolling(`Slices by ${part.column}`, make('table', { class: 'heat' },
    make('caption', {}, 'By ', make('strong', {}, words(part.column))),
    make('thead', {}, make('tr', {}, make('th', { scope: 'col' }, words(part.column)),
      run.row_metrics.map((name) => make('th', { scope: 'col' }, breakable(name))))),
    make('tbody', {}, rows, all)));
}

function heatCell(cell) {
  let tone = '';
  if (cell.apart !== null) {
    const step = Math.min(3, Math.round(Math.abs(cell.apart) * 4));
    tone = step ? `heat-${cell.apart > 0 ? 'up' : 'down'}-${step}` : '';
  }
  const said = cell.shown[1] || 'no interval';
  return make('td', { class: `${tone} ${cell.few ? 'few' : ''}`, title: said },
    make('span', { class: 'value' }, cell.shown[0]),
    make('span', { class: 'n' }, `n = ${count(cell.n)}${cell.few ? ' (few)' : ''}`));
}
