"""The gate: is a run good enough, and no worse than another? A decision with its reasons, for people and for CI."""

from ragmeter.analysis.gating.deciding import decide, gate
from ragmeter.analysis.gating.rules import Gate, Rule
from ragmeter.analysis.gating.verdict import Check, Verdict

__all__ = ["Check", "Gate", "Rule", "Verdict", "decide", "gate"]
