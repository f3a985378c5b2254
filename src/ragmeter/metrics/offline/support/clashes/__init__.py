"""Where a claim and a passage clash: another value in the same place, another unit, swapped roles, the opposite.

The trees see which words of a claim a passage has, and not what they say of each other. What is found here caps the
probability, and is shown beside the label `contradicted`. Only pairs that share many words are looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ragmeter.metrics.offline.support.clashes.cases import Case, Clash
from ragmeter.metrics.offline.support.clashes.places import other_in_place, other_name, swapped, turned
from ragmeter.metrics.offline.support.clashes.statements import excepted, opposite, quantified
from ragmeter.metrics.offline.support.clashes.values import other_bound, other_unit, other_value

_PART, _PART_OF_LONG = 0.3, 0.5  # of the sentence's content words must be the claim's: in a long text chance finds more
_LONG = 100  # content words
_REST, _REST_OF_QUANTITY = 0.8, 0.6  # of the claim's words, those that clash apart, must stand in the sentence
#: The rules by the name of what they find, in the order in which they are asked.
RULES: dict[str, Callable[[Case], Iterator[Clash]]] = {
    "unit": other_unit,
    "value": other_value,
    "bound": other_bound,
    "place": other_in_place,
    "order": turned,
    "name": other_name,
    "roles": swapped,
    "except": excepted,
    "quantity": quantified,
    "opposite": opposite,
}
_OF_WORDS = frozenset({"place", "unit"})  # these name the words that clash
_MOST_WORDS = 4  # of a name or a quantity
_OF_ALL = frozenset({"roles", "order", "name"})  # here all words are there
_AROUND = frozenset({"unit", "value", "place", "name"})  # here the rest may stand in the sentence before or after


def first_clash(case: Case) -> Clash | None:
    """The first clash that a rule finds.

    The rest of the claim must stand in the sentence, and be a good part of it: else the two are about something else.
    """
    part = _PART if len(case.passage.content) <= _LONG else _PART_OF_LONG
    n_shared = case.n_in[case.best]
    if n_shared < part * case.n_told or not case.claim.content:
        return None
    is_whole = n_shared >= part * len(case.sentence.content)
    clashes = (
        next(rule(case), None)
        for name, rule in RULES.items()
        if (is_whole or name in _AROUND) and _share(name, _MOST_WORDS if name in _OF_WORDS else 1, case) >= _rest(name)
    )
    return next((clash for clash in clashes if clash and _share_of(clash, case) >= _rest(clash.rule)), None)


def _rest(rule: str) -> float:
    return _REST_OF_QUANTITY if rule == "quantity" else _REST


def _share_of(clash: Clash, case: Case) -> float:
    return _share(clash.rule, len(clash.claim.split()) if clash.rule in _OF_WORDS else clash.rule not in _OF_ALL, case)


def _share(rule: str, n_clashing: int, case: Case) -> float:
    """The share of the claim's content words that are there, if those that clash don't count."""
    n_words = case.n_around if rule in _AROUND else case.n_in[case.best]
    return min(n_words / max(len(case.claim.content) - n_clashing, 1), 1.0)
