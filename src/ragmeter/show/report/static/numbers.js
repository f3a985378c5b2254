/* How numbers are written: the rules of ragmeter/show/numbers.py. A test holds both to the same values. */

const MISSING = '–';

/** A mean or another figure: four decimals below 10, one above. */
function figure(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return MISSING;
  if (Math.abs(value) >= 1e21) return String(value);
  const text = Math.abs(value) < 10 ? value.toFixed(4) : value.toFixed(1).replace(/\B(?=(\d{3})+(?!\d))/g, ',');
  return Number(text) === 0 ? text.replace('-', '') : text;
}

/** A difference: with a + where it is above 0. */
function signed(value) {
  const text = figure(value);
  return text === MISSING || text === figure(0) || text.startsWith('-') ? text : `+${text}`;
}

const interval = (bounds) => (bounds ? `${figure(bounds[0])} to ${figure(bounds[1])}` : MISSING);
const signedInterval = (bounds) => (bounds ? `${signed(bounds[0])} to ${signed(bounds[1])}` : MISSING);

function pValue(p) {
  if (p === null || p === undefined || Number.isNaN(p)) return MISSING;
  return p < 0.0001 ? `<${figure(0.0001)}` : figure(p);
}
