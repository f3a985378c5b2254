"""Whether an answer declines to answer: the one place that decides it, for all metrics, judges and conversations."""

from __future__ import annotations

from ragmeter.metrics.refusals.detector import ends_not_knowing, is_miss, is_read_as_refusal, without_refusals

__all__ = ["ends_not_knowing", "is_miss", "is_read_as_refusal", "without_refusals"]
