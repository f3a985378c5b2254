"""The gate: is a run good enough, and no worse than another? A verdict with reasons, for people and for CI."""

from ragmeter.analysis.gating.checks import Check, Verdict
from ragmeter.analysis.gating.decision import decide, gate
from ragmeter.analysis.gating.rules import Gate, Rule

__all__ = ["Check", "Gate", "Rule", "Verdict", "decide", "gate"]
