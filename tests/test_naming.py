"""Names parse and print to the same thing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmeter import get_metric, naming
from ragmeter.errors import UsageError
from ragmeter.registry import known


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        ("token_f1", "token_f1"),
        ("ndcg@10", "ndcg@10"),
        ("ndcg[k=10]", "ndcg@10"),
        (" rouge_l_score[ language = Spanish ] ", "rouge_l_score[language=es]"),
        ("rouge_l_score[language=none]", "rouge_l_score"),
        ('mrr@5[doc_id="^(.+)#"]', 'mrr@5[doc_id="^(.+)#"]'),
    ],
)
def test_the_printed_name_is_canonical(written: str, printed: str) -> None:
    metric = get_metric(written)
    assert metric.name == str(metric) == printed
    assert get_metric(printed) == metric
    assert hash(get_metric(printed)) == hash(metric)


@given(st.text(min_size=1))
def test_any_pattern_survives_its_name(text: str) -> None:
    name = naming.render("mrr", {"k": 3, "doc_id": text})
    parsed = naming.parse(name)
    assert (parsed.base, dict(parsed.settings)) == ("mrr", {"k": "3", "doc_id": text})
    assert naming.split(f"token_f1,{name},map") == ["token_f1", name, "map"]


def test_every_metric_s_name_parses_back() -> None:
    for metric in known():
        assert get_metric(metric.name) == metric
        if "k" in metric.settings:
            assert get_metric(metric.with_settings(k=7).name).settings["k"] == 7


def test_commas_inside_brackets_separate_nothing() -> None:
    assert naming.split("a, b[x=1,y=2] ,,c") == ["a", "b[x=1,y=2]", "c"]


@pytest.mark.parametrize("name", ["", "@10", "f1[", "f1]", "f1[=]", "f1[a=1,a=2]", "f1@x", "2f"])
def test_what_is_no_name(name: str) -> None:
    with pytest.raises(UsageError):
        naming.parse(name)
