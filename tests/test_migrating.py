"""What docs/migrating.md says of the old tools and of ours, where it can be said in a moment."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragmeter import get_metric

ROOT = Path(__file__).parents[1]
#: Texts and scores of the web tool as it was published, with what it put out for them.
PUBLISHED = [
    (
        "Paris is the capital city of France.",
        "CDMX is the capital city of France.",
        [0.7799154245579976, 0.8571428571428571, 0.0, 0.875, 0.8737244897959183],
    ),
    ("Una manzana es una fruta.", "Una manzana es una fruta.", [1.0, 1.0, 1.0, 1.0, 0.9976851851851852]),
    (
        "Una pera es una fruta tropical.",
        "Una pera de las familias de las peritas que es una fruta tropical y de las regiones templadas.",
        [0.39943950178236076, 0.5, 0.0, 0.6, 0.8200597312095571],
    ),
]


@pytest.mark.filterwarnings("ignore")  # of the libraries that the old tools used
def test_the_old_tools_are_written_down_as_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    from migrating import OLD_SCORERS, old_miss, old_ndcg

    for reference, answer, expected in PUBLISHED:
        assert [scorer(reference, answer) for scorer in OLD_SCORERS.values()] == pytest.approx(expected)
    assert [OLD_SCORERS["token_f1"]("no no no", "no"), OLD_SCORERS["rouge_l_score"]("El año", "El ano")] == [1.0, 0.4]
    assert OLD_SCORERS["exact_match"]("北京", "上海") == 1.0
    chunks = ["doc-<a>::chunk-0", "doc-<x>::chunk-0", "doc-<y>::chunk-0", "doc-<z>::chunk-0", "doc-<a>::chunk-1"]
    assert old_ndcg(chunks, ["<a>"]) == pytest.approx(0.85, abs=0.005)
    assert old_ndcg(chunks[:1], ["<a>", "<b>"]) == 1.0
    assert old_miss("Well, I don't know if you knew, but it is Paris")


def test_what_is_said_of_ours() -> None:
    assert get_metric("token_f1")(["no no no"], ["no"])[0] == 0.5
    assert get_metric("rouge_l_score[language=es]")(["El año"], ["El ano"])[0] == 0.5
    assert get_metric("exact_match")(["北京"], ["上海"])[0] == 0
    ndcg = get_metric("ndcg@10")
    assert ndcg([["<a>"]], [["doc-<a>::chunk-0", "doc-<x>::chunk-0", "doc-<a>::chunk-1"]])[0] == 1
    assert ndcg([["<a>", "<b>"]], [["doc-<a>::chunk-0"]])[0] == pytest.approx(0.61, abs=0.005)


def test_the_page_has_a_part_for_each_tool_and_is_linked() -> None:
    page = (ROOT / "docs" / "migrating.md").read_text(encoding="utf-8")
    assert [line[3] for line in page.splitlines() if line.startswith("## ")] == list("12345")
    assert "(docs/migrating.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
