"""The result of a gate: its checks and the verdict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from ragmeter.analysis.gating.rules import MAX_FAILED, keyword
from ragmeter.documents.metrics import MetricSummary
from ragmeter.documents.record import Interval, plain
from ragmeter.io.tabular import Tabular, arrow_table, ends, html_lines, html_table, summary_records
from ragmeter.wording.numbers import given


@dataclass(frozen=True)
class Check:
    """One rule checked on a run: what is required, what was measured, and the reason in words.

    `metric` may be several names with commas, if the result is the same for them. `value` and `interval` are what was
    measured: a mean, a difference to the baseline, or a share of rows.
    """

    rule: str
    kind: str
    metric: str
    passed: bool
    reason: str
    required: float
    value: float | None
    interval: Interval | None
    level: float | None
    n: int
    baseline: str | None = None

    @property
    def asked(self) -> str:
        """The rule as it is written in Python; `rule` has it as on the command line."""
        if self.kind != MAX_FAILED:
            return keyword(self.kind, self.metric, self.required, self.baseline)
        versus = "" if self.baseline is None else f" versus {self.baseline}"
        return f"{self.kind}={given(self.required)} for {self.metric}{versus}"


@dataclass(frozen=True)
class Verdict(Tabular):
    """Every check, the run's metrics, and a sentence for each baseline that it was compared with.

    It is true if the run has passed, so that `assert gate(...)` works; it is a sequence of its checks.
    """

    TABLES: ClassVar[tuple[str, ...]] = ("checks", "metrics")

    run: str
    checks: list[Check]
    metrics: dict[str, MetricSummary]
    sentences: list[str]

    @property
    def passed(self) -> bool:
        """Whether every check has passed."""
        return all(check.passed for check in self.checks)

    @property
    def failed(self) -> list[Check]:
        """The checks that have not passed."""
        return [check for check in self.checks if not check.passed]

    @property
    def failed_first(self) -> list[Check]:
        """All checks, as people want to read them."""
        return [*self.failed, *(check for check in self.checks if check.passed)]

    def as_dict(self) -> dict[str, Any]:
        """The verdict as a dict for JSON."""
        return {"run": self.run, "passed": self.passed, **{k: v for k, v in plain(self).items() if k != "run"}}

    def __bool__(self) -> bool:
        return self.passed

    def __len__(self) -> int:
        return len(self.checks)

    def __iter__(self) -> Iterator[Check]:
        return iter(self.checks)

    def __repr__(self) -> str:
        lines = [f"{'passed' if check.passed else 'FAILED'}: {check.reason}" for check in self.failed_first]
        return "\n".join([f"<Verdict on {self.run}: {'passed' if self.passed else 'failed'}>", *lines])

    def _repr_html_(self) -> str:
        rows = [("passed" if check.passed else "FAILED", check.asked, check.reason) for check in self.failed_first]
        heading = f"{self.run}: the gate {'passed' if self.passed else 'FAILED'}"
        return (
            html_lines(heading)
            + html_table(("", "asked", "found"), rows, texts=(0, 1, 2))
            + html_lines(*self.sentences)
        )

    def _table(self, name: str) -> Any:
        if name == "metrics":
            return arrow_table(summary_records(self.metrics))
        hidden = ("interval", "rule")
        return arrow_table(
            [
                {
                    "asked": check.asked,
                    **{k: v for k, v in vars(check).items() if k not in hidden},
                    **ends(check.interval),
                }
                for check in self.checks
            ]
        )
