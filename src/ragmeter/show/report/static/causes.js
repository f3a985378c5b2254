/* Where the answers failed, and what the documents did: two small tables of each run. */

function answerCauses() {
  const told = data.runs.filter((run) => run.answer_causes.length);
  if (!told.length) return hide('causes');
  $('causes-body').replaceChildren(...told.map((run) => [whose(run), causeTable(run)]).flat().filter(Boolean));
  return show('causes', 'Causes');
}

const whose = (run) => (data.runs.length > 1 ? make('p', { class: 'whose' }, dot(run), words(run.name)) : null);

function causeTable(run) {
  const rows = run.answer_causes.map((line) => [
    [words(line.words), make('span', { class: 'soft n' }, words(line.meaning))],
    line.share, line.interval, count(line.n), words(line.by)]);
  const name = `Causes of ${run.name}`;
  return scrolling(name, table(name, ['cause', 'share', 'interval', 'n', 'evidence'], rows, { class: 'plain' }));
}

function documentUse() {
  const told = data.runs.filter((run) => run.documents);
  if (!told.length) return hide('documents');
  $('documents-body').replaceChildren(...told.map((run) => [whose(run), ...documentTable(run)]).flat().filter(Boolean));
  return show('documents', 'Documents');
}

function documentTable(run) {
  const { titles, rows, lines } = run.documents;
  const name = `Documents of ${run.name}`;
  return [
    scrolling(name, table(name, titles, rows.map((row) => row.map((cell, place) => (place ? cell : words(cell)))), { class: 'plain' })),
    make('ul', {}, lines.map((line) => make('li', {}, words(line))))];
}
