"""Writes docs/metrics.md from the metrics' own descriptions: `make docs`."""

from __future__ import annotations

from pathlib import Path

from ragmeter import registry
from ragmeter.definition import Metric
from ragmeter.show.markdown import metric_page
from ragmeter.table import IDS_AS_WRITTEN

TARGET = Path(__file__).with_name("metrics.md")
INTRODUCTION = """\
# The metrics

This page is made from the metrics' own descriptions (`make docs`); `ragmeter metrics NAME` shows the same in the
terminal.

## What holds for all of them

- **Names.** A metric's name with its settings is its identity: `ndcg@10`, `rouge_l_score[language=es]`. The same string
  is the argument, the column and the key in the summary.
- **Failure is never a number.** A row that can't be scored has no score: NaN, with its cause in the column
  `NAME.outcome`. It is counted: `no_answer`, `no_reference`, `no_relevant`, `no_retrieved`, `no_result` (a reference
  that no result answers), `target_error` (a system error: the row has an `error`), `scorer_error: …`. An answer that
  declines is `abstained` where a metric can't score it. An empty answer is an answer, and a bad one. Only
  `response_coverage_rate` is over all questions by its formula, and counts a question that the system failed to answer
  as 0.
- **Several references.** For text metrics the best one counts, separately for each metric.
- **Folding.** Texts are compared after NFC, case folding and NFC again; all quotes and apostrophes are equal (’ = ').
  `edit_distance` and `normalized_distance` compare the raw characters, after NFC alone.
- **Words** are runs of letters, marks, digits and underscores. An apostrophe stays inside a word (don't, 1923'te), a
  point or a comma inside a number (3.5, 1,000). Scripts that put no space between words (Chinese, Japanese, Thai, Lao,
  Khmer, Burmese, Tibetan) are compared by characters, each with its marks, with or without a language setting.
- **Languages.** `language=es` (a code or an English name, every Snowball language) stems words first; `zh`, `ja` and
  `th` are accepted and stem nothing. Without this setting words are compared as they are. `auto` takes the language of
  each row from its column `language`. Where that is missing or unknown (a message says for how many rows), the language
  is detected from the text, which needs the extra `languages`: `pip install '.[languages]'` in a clone.
- **Case.** Folding is Unicode's own, the same for all languages. It makes İ an i, but a Turkish I in capitals becomes i
  and not ı: KIRMIZI and kırmızı differ. Full-width forms (Ｈｅｌｌｏ) differ from plain ones.
- **Accents** count for words (`token_f1` and the others), and not for `exact_match`.
- **Intervals** are 95%: Wilson's for scores that are all 0 or 1, Student's t for the others, which needs two rows, with
  a pseudo-row at each end of the range where many scores are equal. All are clipped to the range, wherever they are
  shown ([statistics.md](statistics.md#intervals)).
- **Documents.** A chunk stands for its document: `doc-<urn:uuid:X>::chunk-3` and `X::chunk-3` stand for
  `<urn:uuid:X>` and `X`. For another form give `--doc-id-pattern`, a regular expression whose first group is the
  document's id. A document counts once, at the first rank of its chunks. In TREC runs and qrels an id is compared as
  it is written, as in trec_eval, unless you give a pattern.
"""
SECTIONS = {
    ("reference", "answer"): "Answers against references",
    ("relevant", "retrieved"): "Retrieved documents against gold documents",
    ("relevant", "retrieved", "relevance_grades"): "Retrieved documents against gold documents",
    ("retrieved", "relevance_grades"): "Retrieved documents against gold documents",
}
THE_REST = "A live service"


def render() -> str:
    """The whole page."""
    parts = [INTRODUCTION]
    for title in dict.fromkeys((*SECTIONS.values(), THE_REST)):
        metrics = [metric for metric in builtin() if SECTIONS.get(_columns(metric), THE_REST) == title]
        parts.append(f"## {title}\n")
        parts += [f"### `{heading(metric)}`\n\n{metric_page(metric)}\n" for metric in metrics]
    return "\n".join(parts)


def _columns(metric: Metric) -> tuple[str, ...]:
    return tuple(name for name in metric.needs if name != IDS_AS_WRITTEN)


def builtin() -> list[Metric]:
    """The metrics that come with ragmeter, without plugins."""
    return [metric for metric in registry.known() if metric.is_builtin]


def heading(metric: Metric) -> str:
    """The name as it is written, with its cut-off."""
    return f"{metric.base}@k" if "k" in metric.settings else metric.base


if __name__ == "__main__":
    TARGET.write_text(render(), encoding="utf-8")
