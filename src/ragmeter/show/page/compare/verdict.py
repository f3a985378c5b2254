"""The verdict as the page's heading, what is to be known before it is believed, and the counts of rows below it."""

from __future__ import annotations

from ragmeter.analysis.comparing import MetricDifference
from ragmeter.documents.comparison import BETTER, WORSE
from ragmeter.naming import base_of
from ragmeter.show.page.compare.view import BOTH_RIGHT, BOTH_WRONG, GOT_BETTER, GOT_WORSE, SAME, CompareView, tone, way
from ragmeter.show.page.elements import Content, Markup, element, joined, text
from ragmeter.show.page.parts import SIGNS, alarm, meaning, stat, stats
from ragmeter.show.system_tables import SystemTables
from ragmeter.table import NUMBER_COLUMNS
from ragmeter.wording import numbers
from ragmeter.wording.causes import score_alarms
from ragmeter.wording.metrics import is_right
from ragmeter.wording.verdicts import outlook, tally_in_short, test_in_short, verdict_heading

#: What a card of rows is called: of a metric of right and wrong, of another one that is yes or no, and of any other.
_RIGHT_OR_WRONG = {
    GOT_BETTER: "wrong → right", GOT_WORSE: "right → wrong — read these", BOTH_RIGHT: "right in both",
    BOTH_WRONG: "wrong in both",
}  # fmt: skip
_YES_OR_NO = {
    GOT_BETTER: "{bad} → {good}", GOT_WORSE: "{good} → {bad} — read these", BOTH_RIGHT: "{good} in both",
    BOTH_WRONG: "{bad} in both",
}  # fmt: skip
_MORE_OR_LESS = {GOT_BETTER: "got better", GOT_WORSE: "got worse — read these", SAME: "the same"}
TIMES = {"latency_ms": "latency", "time_to_first_token_ms": "time to first token"}


def heading(view: CompareView) -> Markup:
    """The sentence, and in small letters how sure it is and what was tested."""
    pair, comparison = view.pair, view.comparison
    if pair.mostly_reworded:
        return element("h1", text(pair.sentence))
    letters = view.letters
    parts = verdict_heading(pair.headline, letters[pair.a], letters[pair.b], view.headline, view.wording)
    shade = tone(view.headline.verdict)
    test = meaning(test_in_short(comparison.test_made, comparison.tests), comparison.test_sentence)
    small = [
        text(part)
        for part in (
            parts.amounts,
            tally_in_short(pair.metrics, {TIMES.get(name, name): result for name, result in view.times.items()}),
        )
        if part
    ] + ([] if view.for_owner else [test])
    first_place = SystemTables(comparison).first_place
    sentences = [sentence for sentence in (outlook(view.headline), *_not_in_both(view), _time(view)) if sentence]
    return joined(
        element("h1", element("span", f"{parts.verdict}:", class_=shade), " ", text(parts.means)),
        element("p", text(first_place), class_="verdict") if first_place else None,
        element(
            "p", [joined(" · " if place else None, part) for place, part in enumerate(small)], class_="soft amounts"
        ),
        element("p", [joined(text(sentence), " ") for sentence in sentences], class_="soft") if sentences else None,
    )


def _time(view: CompareView) -> str:
    """For an owner, what an answer of both runs takes."""
    result = view.times.get(NUMBER_COLUMNS[0]) if view.for_owner else None
    if result is None or result.mean_a is None or result.mean_b is None:
        return ""
    decimals = numbers.deserved_decimals(result.interval)
    before, after, _ = numbers.compared(result.mean_a, result.mean_b, decimals)
    return f"An answer of {view.pair.b} takes {after} ms on average, one of {view.pair.a} {before} ms."


def _not_in_both(view: CompareView) -> list[str]:
    """What the verdict does not rest on."""
    pair, letters = view.pair, view.letters
    others = [
        f"{letters[name]} has {rows.count:,} question{'s' if rows.count > 1 else ''} that the other has not."
        for name, rows in ((pair.a, pair.only_a), (pair.b, pair.only_b))
        if rows.count and not view.where
    ]
    texts = [f"{text[0].upper()}{text[1:]}." for text in (pair.missing, pair.unscored) if text]
    return [*texts, *others]


def alarms(view: CompareView) -> Markup:
    """What failed, and in how many rows, then other warnings. Answers that decline are no failure."""
    notes: list[Content] = []
    for name in view.names:
        for line in score_alarms(view.runs[name].metrics()):
            words = joined(view.named(name), ": ", text(line.sentence), " (", text(line.reason.which_metrics), ")")
            notes.append(alarm(words, failed=line.failed))
    warnings = dict.fromkeys(warning for pair in view.comparison.pairs for warning in pair.warnings)
    return joined(notes, [alarm(text(warning), failed=False) for warning in warnings])


def change_words(metric: str, result: MetricDifference) -> dict[str, str]:
    """What the changes of rows by a metric are called."""
    if not result.binary:
        return _MORE_OR_LESS
    if is_right(metric) or base_of(metric) == "exact_match":
        return _RIGHT_OR_WRONG
    good, bad = ("no", "yes") if result.direction == "lower" else ("yes", "no")
    return {change: words.format(good=good, bad=bad) for change, words in _YES_OR_NO.items()}


def tiles(view: CompareView) -> Markup:
    """How many rows changed which way, each leading to them, and the times."""
    result, counts = view.headline, row_counts(view)
    words = change_words(view.pair.headline, result)
    tones = {GOT_BETTER: "better", GOT_WORSE: "worse"}
    cards = [
        stat(
            joined(sign(tones.get(change, "")) if counts[change] else None, f"{counts[change]:,}"),
            label,
            tone=tones.get(change, "") if counts[change] else "",
            href=view.addresses.rows(change),
        )
        for change, label in words.items()
    ]
    return stats(*cards, *_times(view))


def row_counts(view: CompareView) -> dict[str, int]:
    """How many rows changed which way by the headline metric; of rows that did not, how many are right."""
    result = view.headline
    right_before = round((result.mean_a or 0.0) * result.n) if result.binary else 0
    if way(result.direction) < 0:
        right_before = result.n - right_before
    both = right_before - result.worse
    return {
        GOT_BETTER: result.better, GOT_WORSE: result.worse, SAME: result.same, BOTH_RIGHT: both,
        BOTH_WRONG: result.same - both,
    }  # fmt: skip


def _times(view: CompareView) -> list[Markup]:
    cards = []
    for name, result in view.times.items():
        if result.mean_a is None or result.mean_b is None or result.difference is None:
            continue
        shade, decimals = tone(result.verdict), numbers.deserved_decimals(result.interval)
        moved = f"{numbers.signed(result.difference, decimals=decimals)} ({result.verdict})"
        words = joined(f"mean {TIMES.get(name, name)}, ", element("span", sign(shade), moved, class_=f"change {shade}"))
        cards.append(stat(f"{numbers.number(result.mean_b, decimals=decimals)} ms", words))
    return cards


def sign(shade: str) -> Markup | None:
    """The sign of better or worse before a count."""
    return element("span", f"{SIGNS[shade]} ", aria_hidden="true", class_="sign") if shade in (BETTER, WORSE) else None


def sign_of(shade: str) -> str:
    """The sign of a verdict: a triangle or an equals sign."""
    return SIGNS.get(shade, "")
