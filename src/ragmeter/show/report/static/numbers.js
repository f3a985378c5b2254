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

/** A weight of evidence: +2.21. */
const signedHundredths = (value) => `${value < 0 ? '' : '+'}${value.toFixed(2)}`;

const count = (number) => number.toLocaleString('en');

/** The end of an axis, without what nobody needs to know. */
function tick(value) {
  const size = Math.abs(value);
  if (size > 0 && size < 0.001) return String(Number(value.toPrecision(2)));
  return (Number(value.toPrecision(4)) || 0).toLocaleString('en');
}
