/* Claims with what supports them. A label is a sign, a word and a colour: none of them alone. */

const known = (name) => (Object.hasOwn(data.labels, name) ? data.labels[name] : data.labels['']);

function label(name) {
  const [sign, kind] = known(name);
  return make('span', { class: `support ${kind}` }, make('span', { 'aria-hidden': 'true' }, sign, ' '), words(name));
}

/** A claim with the words marked that no passage supports. Places count characters, not halves of them. */
function claimed(place, spans) {
  const characters = Array.from(text(place) ?? '');
  const pieces = [];
  let end = 0;
  for (const [from, to] of spans) {
    pieces.push(characters.slice(end, from).join(''), make('mark', { class: 'unsupported' }, characters.slice(from, to).join('')));
    end = to;
  }
  return [make('bdi', { dir: 'auto' }, pieces, characters.slice(end).join('')), passage(place)[1]];
}

/** Opens a passage further down in the row. */
const toPassage = (rank) => make('button', { type: 'button', class: 'link', click: () => {
  const target = $(`passage-${rank}`);
  if (target) { target.open = true; target.scrollIntoView({ block: 'center' }); target.querySelector('summary').focus(); }
} }, `passage ${count(rank)}`);

function claims(run, row) {
  return ((run.claims && run.claims[row]) || []).map(([title, source, by, own]) => {
    const byPassages = own.some(([, whole, , ranks]) => whole >= 0 || ranks.length);
    const byText = own.some(([, , other]) => other >= 0);
    const lines = own.map(([place, whole, other, ranks, spans, clash]) => [
      claimed(place, spans),
      ...(byPassages ? [[byRanks(whole, ranks), clash < 0 ? null : make('div', { class: 'soft' }, text(clash))]] : []),
      ...(byText ? [other < 0 ? '' : label(text(other))] : []),
    ]);
    const titles = [{ nuggets: 'nugget', citations: 'sentence', passages: 'passage' }[text(title)] || 'claim', ...(byPassages ? ['by the passages'] : []), ...(byText ? [`by the ${text(source)}`] : [])];
    const name = `${text(title)[0].toUpperCase()}${text(title).slice(1)}, ${text(by)}`;
    const marks = own.some(([, , , , spans]) => spans.length);
    return block(name, scrolling(name, table(name, titles, lines, { class: 'plain claims' })),
      marks ? make('p', { class: 'soft' }, make('mark', { class: 'unsupported' }, 'Underlined'), ': words that no passage supports, by the offline support model.') : null);
  });
}

/** The label by all passages together, and those passages that say anything about the claim. */
function byRanks(whole, ranks) {
  if (whole < 0) return ranks.map(([rank, name]) => make('div', {}, label(text(name)), ': ', toPassage(rank)));
  const name = text(whole);
  const those = ranks.filter(([, own]) => text(own) === name);
  return [label(name), those.length ? ': ' : null, those.flatMap(([rank], place) => [place ? ', ' : null, toPassage(rank)])];
}

/** How many claims of the answer have each label, for the list of rows. */
function claimCounts(run, row) {
  const claimSet = ((run.claims && run.claims[row]) || []).find(([title]) => text(title) === 'claims of the answer');
  if (!claimSet) return null;
  const labels = claimSet[3].map(([, whole, other]) => text(whole >= 0 ? whole : other));
  const counts = ['supported', 'contradicted', 'not mentioned'].map((name) => [name, labels.filter((label) => label === name).length]);
  return make('div', { class: 'counts' }, counts.filter(([, number]) => number).map(([name, number]) => make('span', { class: `support ${known(name)[1]}` },
    make('span', { 'aria-hidden': 'true' }, known(name)[0], ' '), `${count(number)} ${name}`)));
}
