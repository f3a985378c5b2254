"""Models that judge: one file for each judgement, with its words, the form of its reply and the metric over it.

Importing this package declares the judgements; what asks a model (`asking/`) is imported when one is asked.
"""

from importlib import import_module
from pkgutil import iter_modules

import ragmeter.metrics  # noqa: F401 - declared first, whoever imports what: lists of metrics have one order

for _module in iter_modules(__path__):
    if not _module.ispkg:
        import_module(f"{__name__}.{_module.name}")
