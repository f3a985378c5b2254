/* The rows: columns of numbers, and of places in one list of texts. Read after the figures are on the page. */

const store = { texts: [], runs: [], ready: false };

async function readRows() {
  const block = $('rows');
  let read;
  if (block.dataset.encoding === 'gzip') {
    if (typeof DecompressionStream === 'undefined') {
      throw new Error('this browser is too old to unpack the rows: please use a newer one');
    }
    const packed = atob(block.textContent);
    const bytes = new Uint8Array(packed.length);
    for (let place = 0; place < packed.length; place += 1) bytes[place] = packed.charCodeAt(place);
    read = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).json();
  } else {
    read = JSON.parse(block.textContent);
  }
  block.remove();
  store.texts = read.texts;
  store.cut = read.cut;
  store.runs = read.runs.map((run, place) => prepared(run, data.runs[place]));
  store.ready = true;
}

const text = (place) => (place === undefined || place === null || place < 0 ? null : store.texts[place]);

/** A run's rows with what searching and sorting need. */
function prepared(run, about) {
  run.about = about;
  run.values = Object.create(null);  // a metric may have any name
  run.failed = new Uint8Array(run.n);
  for (const [name, scores] of Object.entries(run.scores)) {
    const values = Float64Array.from(scores, (score) => (score === null ? NaN : score));
    for (let row = 0; row < run.n; row += 1) if (Number.isNaN(values[row])) run.failed[row] = 1;
    run.values[name] = values;
  }
  for (const [name, numbers] of Object.entries(run.numbers)) {
    run.values[name] = Float64Array.from(numbers, (number) => (number === null ? NaN : number));
  }
  run.orders = new Map();
  return run;
}

/** Every row's texts in small letters, made at the first search: a text that many rows have is made small once. */
function searchable(run) {
  if (!run.small) {
    store.small = store.small || store.texts.map((each) => each.toLowerCase());
    const single = ['qid', 'question', 'answer', 'error', 'session_id'].filter((name) => run[name]).map((name) => run[name]);
    single.push(...run.judges.flatMap(({ name, probability, ...parts }) => Object.values(parts)), ...Object.values(run.slices), ...Object.values(run.others));
    const lists = ['reference', 'relevant', 'retrieved'].filter((name) => run[name]).map((name) => run[name]);
    run.small = Array.from({ length: run.n }, (_, row) => {
      const parts = single.map((column) => (column[row] < 0 ? '' : store.small[column[row]]));
      for (const column of lists) for (const place of column[row] || []) parts.push(place < 0 ? '' : store.small[place]);
      return parts.join('\n');
    });
  }
  return run.small;
}

/** The rows in the order of a column: found once, and kept. Rows without a value come last, whichever way round. */
function ordered(run, key, down) {
  const name = `${down ? '-' : '+'}${key}`;
  if (!run.orders.has(name)) {
    const rows = Array.from({ length: run.n }, (_, row) => row);
    const sign = down ? -1 : 1;
    const values = run.values[key];
    if (values) {
      rows.sort((a, b) => {
        const [x, y] = [values[a], values[b]];
        if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y) || a - b;
        return sign * (x - y) || a - b;
      });
    } else if (run[key]) {
      const texts = run[key].map((place) => (text(place) || '').toLowerCase());
      rows.sort((a, b) => (texts[a] < texts[b] ? -sign : texts[a] > texts[b] ? sign : a - b));
    } else if (down) {
      rows.reverse();
    }
    run.orders.set(name, Int32Array.from(rows));
  }
  return run.orders.get(name);
}

/** Where a question is in a run, by its id; -1 where it is not on the page. */
function rowOf(run, qid) {
  if (!run.byId) {
    run.byId = new Map();
    (run.qid || []).forEach((place, row) => { if (!run.byId.has(place)) run.byId.set(place, row); });
  }
  return run.byId.has(qid) ? run.byId.get(qid) : -1;
}
