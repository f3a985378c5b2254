"""Models that judge: one file for each judgement, with its words, the form of its reply and the metric over it.

Importing this package declares the judgements; what asks a model (`judge`) is imported when one is asked.
"""

from importlib import import_module
from pkgutil import iter_modules

import ragmeter.metrics  # noqa: F401 - declared first, whoever imports what: lists of metrics have one order

#: What judgements are made with, and who is asked. Every other file here is a judgement.
_MACHINERY = {
    "cascade", "column_judge", "forms", "judge", "list_forms", "prices", "probes", "prompt", "providers",
    "two_wordings",
}  # fmt: skip

for _found in iter_modules(__path__):
    if _found.name not in _MACHINERY:
        import_module(f"{__name__}.{_found.name}")
