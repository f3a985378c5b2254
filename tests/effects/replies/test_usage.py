"""What replies have cost, whoever has recorded them and when."""

from __future__ import annotations

from ragmeter.documents.usage import Usage, total_usage
from ragmeter.effects.replies.journal import Reply
from ragmeter.effects.replies.usage import UsageCounter


def usage(*replies: Reply, price: float | None = None) -> UsageCounter:
    counted = UsageCounter(None if price is None else lambda sent, got: price * (sent + got))
    for number, reply in enumerate(replies):
        counted.add(str(number), reply)
    return counted


def test_a_reply_counts_once_and_in_its_part() -> None:
    whole, part = UsageCounter(), UsageCounter()
    whole.add("a", Reply("x", 10, 1, 0.5))
    with whole.counting(part):
        whole.add("a", Reply("x", 10, 1, 0.5))
        whole.add("b", Reply("x", 20, 2, 0.25))
    whole.add("c", Reply("x", 0, 0, 0.0))
    assert (whole.total().calls, whole.total().cost_usd) == (3, 0.75)
    assert (part.total().calls, part.total().cost_usd) == (1, 0.25)


def test_replies_that_were_recorded_without_a_price_have_todays() -> None:
    replies = [Reply("x", 90, 10, 7.0), Reply("x", 90, 10), Reply("x", None, 10)]
    known = usage(*replies, price=0.01).total()
    assert (known.cost_usd, known.calls_without_price) == (8.0, 1)
    unknown = usage(*replies).total()
    assert (unknown.cost_usd, unknown.calls_without_price) == (7.0, 2)
    assert usage(*replies[1:]).total().cost_usd is None


def test_the_sum() -> None:
    priced, unpriced = usage(Reply("x", 1, 2, 0.5)).total(), usage(Reply("x", 3, 4)).total()
    assert total_usage([priced, unpriced]) == Usage(
        calls=2, prompt_tokens=4, completion_tokens=6, calls_without_token_counts=0, calls_without_price=1, cost_usd=0.5
    )  # fmt: skip
    assert total_usage([unpriced, usage().total()]).cost_usd is None
    assert total_usage([]).cost_usd == 0.0
