"""Tokens and stems: the quick ways agree with the plain ones."""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmeter import evaluate, get_metric
from ragmeter.documents.manifest import Manifest
from ragmeter.errors import MissingExtraError
from ragmeter.metrics import splitting
from ragmeter.metrics import tokens as tokens_module
from ragmeter.metrics.bags import Sides, bags
from ragmeter.metrics.normalize import fold, known_languages, stemmer, strip_accents, words
from ragmeter.metrics.splitting import split
from ragmeter.metrics.tokens import Lexicon, tokens
from ragmeter.table import Block
from ragmeter.wording.judging import judge_lines
from tests.in_parts import in_parts

texts = st.lists(
    st.text(alphabet=st.one_of(st.sampled_from("abAB12'.,_-! \t\n\u3000é中"), st.characters())), max_size=6
)


@given(texts)
def test_tokens_of_columns_are_the_words_of_the_texts(texts: list[str]) -> None:
    texts = [text.encode("utf-8", "replace").decode() for text in texts]
    both = tokens.function(texts, texts[::-1])
    sides, known = both.sides, both.lexicon.words()
    for place, text in enumerate([*texts, *texts[::-1]]):
        ids = sides.ids[sides.starts[place] : sides.starts[place + 1]]
        assert [known[i] for i in ids] == words(fold(text))


def test_figures_are_their_own_stems() -> None:
    """The short cut of stems, for every language."""
    figures = [str(7 * number) for number in range(300)] + ["0001", "123456789012345678901234567890"]
    for code in known_languages():
        algorithm = stemmer(code)
        assert algorithm is None or algorithm.stemWords(figures) == figures
        stem_of_word = Lexicon().stems(code)
        assert len(stem_of_word) == 0


def test_stems_are_those_of_the_stemmer() -> None:
    texts = ["cats 12 running", "٣٤٥ gatos 12 7 niñas", "12 cat run"]
    for code in ("en", "es", "ar", "zh"):
        both = tokens.function(texts, texts)
        known, stem_of_word, algorithm = both.lexicon.words(), both.lexicon.stems(code), stemmer(code)
        ids = sorted(set(both.sides.ids.tolist()))
        stems = {known[i]: algorithm.stemWord(known[i]) if algorithm else known[i] for i in ids}
        assert len({stem_of_word[i] for i in ids}) == len(set(stems.values()))
        for first in ids:
            for second in ids:
                is_same = stems[known[first]] == stems[known[second]]
                assert (stem_of_word[first] == stem_of_word[second]) == is_same


def test_a_full_lexicon_starts_afresh_and_scores_stay_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = (["the black cats sat", "¿cómo estás?"], ["a black cat sits", "como estas"])
    before = get_metric("meteor_score[language=en]")(*columns)
    monkeypatch.setattr(tokens_module, "_LEXICON_LIMIT", 1000)
    lexicons: list[Lexicon] = []
    for _ in range(3):
        np.testing.assert_array_equal(get_metric("meteor_score[language=en]")(*columns), before)
        lexicons.append(tokens_module._lexicon)
    assert len(set(map(id, lexicons))) == 3


@given(texts, texts)
def test_identical_texts_are_those_with_the_same_plain_chunks(first: list[str], second: list[str]) -> None:
    """The oracle of exact match; among others each text with itself in capitals and without accents."""
    texts = [text.encode("utf-8", "replace").decode() for text in first + second]
    others = [text.encode("utf-8", "replace").decode() for text in second + first]
    pairs = [*zip(texts, others, strict=True), *((text, text.upper()) for text in texts)]
    pairs += [(text, f" {strip_accents(fold(text))}\n") for text in texts]
    expected = [[_plain(chunk) for chunk in a.split()] == [_plain(chunk) for chunk in b.split()] for a, b in pairs]
    if pairs:
        assert get_metric("exact_match")(*map(list, zip(*pairs, strict=True))).tolist() == expected


def _plain(chunk: str) -> str:
    return strip_accents(fold(chunk))


@pytest.mark.parametrize("size", [1, 30, 1000])
def test_texts_are_split_the_same_in_slices_of_any_size(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    texts = [
        "",
        "a b's 3.5 1,",
        "-5 (-5 [-1.5] 5-5 -x -",
        "é-5 −5 (−5) -5é",
        "¿Qué\u00a0tal? it's’",
        "中文",
        "\u0301 x",
        "e\u0301\u2003a",
        "'",
        "end",
    ] * 3
    whole = split(texts)
    monkeypatch.setattr(splitting, "_AT_ONCE", size)
    parts = split(texts)
    assert parts.distinct.equals(whole.distinct)
    np.testing.assert_array_equal(parts.items, whole.items)
    np.testing.assert_array_equal(parts.starts, whole.starts)
    np.testing.assert_array_equal(parts.has_marks, whole.has_marks)


def test_a_block_too_large_for_one_number_is_sorted_the_long_way() -> None:
    sides = Sides(np.array([3, 1, 3, 2, 3, 1, 1, 3]), np.array([0, 2, 4, 6, 8]))
    quick = bags(sides)
    far = bags(Sides(sides.ids + (1 << 61), sides.starts))
    for field in ("order", "firsts", "pair", "reference_counts", "answer_counts"):
        np.testing.assert_array_equal(getattr(quick, field), getattr(far, field))


def test_what_metrics_share_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    block = Block({"reference": [["a b"], ["c"]], "answer": ["a", "c"]})
    calls: list[Any] = []
    monkeypatch.setattr(tokens_module.Lexicon, "sides", _counting(tokens_module.Lexicon.sides, calls))
    for name in ("exact_match", "token_f1", "rouge_l_score", "meteor_score", "cosine_similarity", "average_score"):
        get_metric(name).score(block)
    assert len(calls) == 1


def _counting(function: Any, calls: list[Any]) -> Any:
    def counted(*arguments: Any) -> Any:
        calls.append(arguments)
        return function(*arguments)

    return counted


def test_auto_tells_the_language_of_each_row() -> None:
    references = ["Los gatos negros duermen en las casas de los vecinos", "The black cats are sleeping in the houses"]
    answers = ["El gato negro duerme en la casa del vecino", "A black cat sleeps in the house of the neighbours"]
    auto = get_metric("rouge_l_score[language=auto]")(references, answers)
    spanish = get_metric("rouge_l_score[language=es]")(references, answers)
    english = get_metric("rouge_l_score[language=en]")(references, answers)
    assert auto[0] == spanish[0] != english[0]
    assert auto[1] == english[1] != spanish[1]


def test_auto_takes_each_rows_own_language(monkeypatch: pytest.MonkeyPatch) -> None:
    """A column `language` says it, so that nothing is detected; where it says nothing, the text does."""
    texts = {"reference": "los gatos corren", "answer": "el gato corría"}
    stemmed = [get_metric(f"meteor_score[language={code}]") for code in ("es", "en")]
    spanish, english = (metric(*([text] for text in texts.values())) for metric in stemmed)
    rows = [{**texts, "language": language} for language in ("es", "Spanish", " ES-mx ", "en", "tlh", None)]
    named = ["meteor_score[language=auto]", "token_f1"]
    with monkeypatch.context() as without_detection:
        without_detection.setitem(sys.modules, "lingua", None)
        tokens_module._detector.cache_clear()
        scores = evaluate(rows[:4], metrics=named).rows[named[0]].to_pylist()
    assert scores == [spanish[0]] * 3 + [english[0]]
    tokens_module._detector.cache_clear()
    detected = get_metric(named[0])(*([text] for text in texts.values()))
    assert evaluate(rows, metrics=named).rows[named[0]].to_pylist()[4:] == [detected[0]] * 2
    assert "language" not in get_metric("meteor_score").needs
    several = [{**rows[3], "reference": ["los gatos corren", "x"]}, rows[0]]
    assert evaluate(several, metrics=named).rows[named[0]].to_pylist() == [english[0], spanish[0]]


def test_rows_whose_language_is_not_known_are_counted(tmp_path: Path) -> None:
    texts = {"reference": "los gatos corren", "answer": "el gato corría"}
    values = ("klingon", "xx", "es", "Auto", "", " ", None, "english")
    rows = [{**texts, "qid": str(place), "language": language} for place, language in enumerate(values)]
    auto = "meteor_score[language=auto]"
    summary = evaluate(rows, metrics=auto).summary
    assert summary.unknown_languages == 2
    assert [line for line, _ in judge_lines(summary, Manifest())] == [
        "2 rows have a language in the column language that is not known here: it is detected from the texts"
    ]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    parts = in_parts(str(tmp_path / "rows.jsonl"), metrics=auto, run="r", output_dir=tmp_path)
    assert parts.summary.unknown_languages == 2
    for metrics in ("meteor_score", "meteor_score[language=es]"):
        assert evaluate(rows, metrics=metrics).summary.unknown_languages is None


def test_auto_without_its_package_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lingua", None)
    tokens_module._detector.cache_clear()
    with pytest.raises(MissingExtraError, match=r"pip install .*\[languages\]'"):
        get_metric("rouge_l_score[language=auto]")(["a"], ["a"])


def test_white_space_at_the_end_of_a_text_is_never_part_of_it() -> None:
    exact = get_metric("exact_match")
    draw = random.Random(5)
    for end in ("\n", " ", "\u00a0", "\t \r\n", "\u3000"):
        for _ in range(300):
            text = " ".join("".join(draw.choices("abcdefg", k=draw.randint(1, 9))) for _ in range(draw.randint(1, 12)))
            assert exact(["p" * 16, text], ["q" * 37, text + end]).tolist() == [0, 1]
            assert exact([end + text, "x"], [text, " y"]).tolist() == [1, 0]


def test_a_lexicon_of_sentences_without_spaces_is_bounded_too() -> None:
    lexicon = Lexicon()
    lexicon.sides(split(["中" * 4000, "文" * 4000]))
    assert lexicon.size > 8000 * 10
