"""The paragraph on methods, for a paper: how differences were measured and tested, so that anyone can do it again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ragmeter.documents.comparison import NumberOfTests
from ragmeter.wording.numbers import given, percent

#: How intervals are made, by the beginning of the method's name.
_INTERVALS = {
    "newcombe": "Newcombe's hybrid score method for rates",
    "wilson": "Wilson's score method for rates",
    "student_t": "Student's t",
    "bootstrap": "the percentile bootstrap",
    "anytime": "a confidence sequence by betting, which holds however often one looks",
    "bca": "the bias-corrected and accelerated bootstrap",
}
_TESTS = {
    "randomisation": "a paired two-sided randomisation test (Fisher)",
    "bootstrap": "a paired two-sided studentised bootstrap test",
    "t": "a paired two-sided t-test",
    "mcnemar": "McNemar's exact test",
    "anytime": "a test by betting that may be made again at any time",
}
_DRAWN = frozenset({"randomisation", "bootstrap"})
_PADDED = "with_pseudo_rows"


@dataclass(frozen=True)
class Methods:
    """How a comparison was made: `tests_made` are the tests of its metrics, `judges` the models that judged.

    `headlines` are the metrics that the verdicts go by; it is one unless some runs lack it.
    """

    version: str
    baseline: str
    candidates: Sequence[str]
    questions: Sequence[int]
    level: float
    alpha: float
    tests_made: Sequence[str]
    draws: int
    seed: int
    tests: NumberOfTests
    cluster: str | None
    interval_methods: Sequence[str]
    judges: Sequence[str]
    metrics: Sequence[str]
    headlines: Sequence[str]

    def sentences(self) -> list[str]:
        """The paragraph, sentence by sentence; the signature comes last."""
        few, most = min(self.questions), max(self.questions)
        questions = f"{few:,}" if few == most else f"{few:,} to {most:,}"
        made = " or ".join(_TESTS[test] for test in dict.fromkeys(self.tests_made))
        drawn = f" with {self.draws:,} draws" if _DRAWN & set(self.tests_made) else ""
        lines = [
            f"{_listed(self.candidates)} {'is' if len(self.candidates) == 1 else 'are'} compared with the baseline "
            f"{self.baseline} on the {questions} questions that both have answered.",
            "A difference is the mean of the paired differences, candidate minus baseline, over the rows that both "
            f"have a score for (n in the table), with its {percent(self.level)} interval ({self._intervals()}).",
            f"p-values are those of {made}{drawn}." if made else "",
            *self._corrections(),
            f"Rows with the same {self.cluster} are taken together." if self.cluster else "",
            "A difference is significant (marked by an asterisk) where p is below "
            f"{given(self.alpha)} and the interval excludes zero.",
            f"Answers were judged by {_listed(self.judges)}." if self.judges else "",
            f"Computed with ragmeter {self.version}; how to reproduce: {self.signature}.",
        ]
        return [line for line in lines if line]

    @property
    def signature(self) -> str:
        """All settings in one line, as sacrebleu has it."""
        headline, others = self.tests.headline, self.tests.others
        parts = {
            "ragmeter": self.version,
            "metrics": ",".join(self.metrics),
            "test": ",".join(dict.fromkeys(self.tests_made)) or "none",
            "draws": str(self.draws),
            "seed": str(self.seed),
            "alpha": given(self.alpha),
            "correction": f"holm/{headline}+{others}" if max(headline, others) > 1 else "none",
            "interval": ",".join(dict.fromkeys(self.interval_methods)),
            "level": given(self.level),
            "cluster": self.cluster or "none",
            "judge": ",".join(self.judges) or "none",
        }
        return "|".join(f"{name}:{value}" for name, value in parts.items())

    def _corrections(self) -> Iterator[str]:
        """Which metric was the headline, and what p-values are corrected over."""
        headline, others = self.tests.headline, self.tests.others
        if headline and len(self.metrics) > 1:
            yield f"The headline metric is {_listed(self.headlines)}: it was chosen by its name, not by its scores."
        if headline > 1:
            yield f"Its {headline:,} p-values are corrected by Holm's method."
        elif headline and others:
            yield "Its p-value is not corrected."
        if others > 1:
            yield f"The p-values of the other {others:,} tests are corrected among themselves by Holm's method."

    def _intervals(self) -> str:
        made = self.interval_methods
        kinds = [words for start, words in _INTERVALS.items() if any(method.startswith(start) for method in made)]
        padded = ", with pseudo-rows at the ends of the range" if any(_PADDED in method for method in made) else ""
        return f"{_listed(kinds)}{padded}" if kinds else "none"


def _listed(names: Iterable[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
