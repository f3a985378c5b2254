/* Charts: plain SVG, in the colours of the page. Each has a name, and its numbers stand beside it or in a table. */

let drawn = 0;

function picture(title, description, attributes, ...children) {
  const id = `chart-${drawn += 1}`;
  return draw('svg', { role: 'img', 'aria-labelledby': `${id}-title ${id}-text`, ...attributes },
    draw('title', { id: `${id}-title` }, title), draw('desc', { id: `${id}-text` }, description), ...children);
}

/** The ends of an axis, written below it. */
const scale = (ends) => make('div', { class: 'scale', 'aria-hidden': 'true' },
  ends.map((end) => make('span', {}, tick(end))));

function histogram(name, shape, summary, tint) {
  const most = Math.max(...shape.counts);
  const width = 100 / shape.counts.length;
  const height = 120;
  const ends = [shape.low, shape.high];
  const bars = shape.counts.map((number, place) => {
    const tall = number ? Math.max(2, (number / most) * (height - 6)) : 0;
    return draw('rect', {
      class: `column ${tint}`, x: `${(place * width + width * 0.06).toFixed(2)}%`, y: height - tall,
      width: `${(width * 0.88).toFixed(2)}%`, height: tall, rx: 1.5,
    }, draw('title', {}, `${edges(shape, place)}: ${count(number)}`));
  });
  const at = (value) => `${(100 * (value - shape.low) / (shape.high - shape.low)).toFixed(2)}%`;
  const mean = summary.mean === null ? null
    : draw('line', { class: 'mean', x1: at(summary.mean), x2: at(summary.mean), y1: 0, y2: height });
  const said = `${count(shape.n)} rows from ${figure(ends[0])} to ${figure(ends[1])}; `
    + `mean ${figure(summary.mean)}${summary.median === null ? '' : `, median ${figure(summary.median)}`}.`;
  const rows = shape.counts.map((number, place) => [edges(shape, place), count(number)]);
  return make('figure', { class: 'card' },
    make('figcaption', {}, make('strong', {}, breakable(name)), make('span', { class: 'soft' },
      [`mean ${figure(summary.mean)}`, summary.median === null ? '' : `median ${figure(summary.median)}`, `n = ${count(shape.n)}`]
        .filter(Boolean).join(' · '))),
    picture(`Distribution of ${name}`, said, { class: 'histogram', height }, bars, mean),
    scale(shape.whole ? [Math.ceil(shape.low), Math.floor(shape.high)] : ends),
    make('details', { class: 'numbers' }, make('summary', {}, 'Numbers'), table(`Distribution of ${name}`, ['score', 'rows'], rows)));
}

function edges(shape, place) {
  const step = (shape.high - shape.low) / shape.counts.length;
  const low = shape.low + place * step;
  if (shape.whole && step === 1) return String(Math.round(low + 0.5));
  return `${figure(low)} to ${figure(low + step)}`;
}

/** Two metrics against each other: rows that lie near each other are one circle, as large as they are many. */
function bubbles(relation, tint) {
  const size = 360;
  const edge = 34;
  const room = size - 2 * edge;
  const most = Math.max(...relation.counts.map((each) => each[2]));
  const cell = room / relation.cells;
  const circles = relation.counts.map(([x, y, number]) => draw('circle', {
    class: `bubble ${tint}`, cx: (edge + (x + 0.5) * cell).toFixed(1), cy: (size - edge - (y + 0.5) * cell).toFixed(1),
    r: Math.max(1.6, Math.sqrt(number / most) * cell * 0.95).toFixed(2),
  }, draw('title', {}, `${count(number)} rows`)));
  const [[xLow, xHigh], [yLow, yHigh]] = relation.domains;
  const label = (text, attributes) => draw('text', { class: 'label', ...attributes }, text);
  return picture(`${relation.y} against ${relation.x}`,
    `${count(relation.n)} rows; rank correlation ${figure(relation.spearman)}, linear correlation ${figure(relation.pearson)}.`,
    { class: 'bubbles', viewBox: `0 0 ${size} ${size}` },
    draw('rect', { class: 'frame', x: edge, y: edge, width: room, height: room }), circles,
    label(tick(xLow), { x: edge, y: size - edge + 14 }), label(tick(xHigh), { x: size - edge, y: size - edge + 14, 'text-anchor': 'end' }),
    label(tick(yLow), { x: edge - 5, y: size - edge, 'text-anchor': 'end' }), label(tick(yHigh), { x: edge - 5, y: edge + 8, 'text-anchor': 'end' }),
    label(relation.x, { class: 'label name', x: size / 2, y: size - 6, 'text-anchor': 'middle' }),
    label(relation.y, { class: 'label name', x: -size / 2, y: 12, 'text-anchor': 'middle', transform: 'rotate(-90)' }));
}
