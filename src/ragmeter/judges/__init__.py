"""Models that judge: one file for each judgement, with its words, the form of its reply and the metric over it.

Importing this package declares the judgements; what asks a model (`judge`) is imported when one is asked.
"""

import ragmeter.metrics  # noqa: F401 - declared first, whoever imports what: lists of metrics have one order
from ragmeter.judges import grade, verdict

__all__ = ["grade", "verdict"]
