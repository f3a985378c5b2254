/* How numbers are written: the rules of ragmeter/wording/numbers.py. A test holds both to the same values. */

const MISSING = '–';

const thousands = (text) => text.replace(/\B(?<!\.\d*)(?=(\d{3})+(?!\d))/g, ',');

/** A mean or another figure: four decimals below 10, one above. */
function figure(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return MISSING;
  if (Math.abs(value) >= 1e21) return String(value);
  const text = Math.abs(value) < 10 ? value.toFixed(4) : thousands(value.toFixed(1));
  return Number(text) === 0 ? text.replace('-', '') : text;
}

const interval = (bounds) => (bounds ? `${figure(bounds[0])} to ${figure(bounds[1])}` : MISSING);

function pValue(p) {
  if (p === null || p === undefined || Number.isNaN(p)) return MISSING;
  return p < 0.0001 ? `<${figure(0.0001)}` : figure(p);
}

/** A share as people say it: 95%, and 99.9% is not 100%. */
const percent = (share) => `${Number((100 * share).toPrecision(12))}%`;

/** A weight of evidence: +2.21. */
const signedHundredths = (value) => `${value < 0 ? '' : '+'}${value.toFixed(2)}`;

/** A cost: $0.0123. */
const money = (usd) => `$${thousands(usd.toFixed(4))}`;

const count = (number) => number.toLocaleString('en');

/** The end of an axis, without what nobody needs to know. */
function tick(value) {
  const size = Math.abs(value);
  if (size > 0 && size < 0.001) return String(Number(value.toPrecision(2)));
  return (Number(value.toPrecision(4)) || 0).toLocaleString('en');
}
