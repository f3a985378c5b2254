"""The offline judge of long answers: shares worked out by hand, what must hold for any texts, and golden values."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmeter import evaluate, get_metric, list_metrics
from ragmeter.errors import UsageError
from ragmeter.metrics.offline import Aspect
from ragmeter.metrics.offline.quality import weighed, weights
from ragmeter.metrics.offline.shares import SHARES, shares
from ragmeter.metrics.sentences import sentences
from ragmeter.show.markdown import metric_page
from ragmeter.table import Scores
from tests.metrics.test_properties import texts

TRAINING = Path(__file__).parents[2] / "training" / "preferences.jsonl.gz"
ASPECTS: tuple[Aspect, ...] = ("overall", "correctness", "completeness")
TOWER = "Where is the Eiffel Tower?"
BUILT = "The Eiffel Tower is in Paris. Gustave Eiffel built it in 1889."
#: Question, reference, answer, and some of the shares.
CASES = [
    (  # new content words: paris, gustave, built, 1889 against paris; 12 words against 4, of which 4 are common
        TOWER, BUILT, "It is in Paris.",
        {"new_words": 2 / 5, "new_words_covered": 1 / 4, "new_words_supported": 1, "words": 8 / 16,
         "words_covered": 4 / 12, "words_supported": 1, "names_covered": (1 + 2 / 4) / 3,
         "numbers_covered": (0 + 2 / 4) / 3, "long_enough": 4 / 12, "short_enough": 1, "answers": 1},
    ),
    (TOWER, BUILT, BUILT, dict.fromkeys(SHARES, 1)),
    (TOWER, BUILT, "", dict.fromkeys(SHARES, 0)),
    (TOWER, BUILT, "...", dict.fromkeys(SHARES, 0)),
    (TOWER, "!", "Paris", dict.fromkeys(SHARES, 0)),
    # Without a question, the Eiffel Tower counts too: 7 content words, repetitions counted.
    (None, BUILT, "It is in Paris.", {"new_words_covered": 1 / 7, "names_covered": (1 + 2 / 7) / 5}),
    # The question has all content words of the reference: then all count.
    ("Is the tower in Paris?", "The tower is in Paris.", "In Paris.", {"new_words_covered": 1 / 2}),
    ("How many?", "There were twelve ships.", "12 ships were there.", {"numbers_covered": 1, "words": 1}),
    ("Who?", "It was Ann [4]. Bob came later [2, 3].", "It was Ann. Bob came later.", dict.fromkeys(SHARES, 1)),
    ("Who?", "1. Ann\n2. Bob", "Ann and Bob", {"words_covered": 1, "numbers_covered": 1}),
    ("Who?", "It was Ann.", "I don't know.", {"answers": 0}),
    ("Who?", "The text does not say. I don't know.", "I don't know.", {"answers": 1}),
    ("Who?", "It was Ann.", "It was Ann. " * 4, {"short_enough": 1 / 4, "words_covered": 1, "words_supported": 1 / 4}),
    ("¿Quién lo hizo?", "Lo construyeron doce obreros.", "12 obreros lo construyeron.", {"words_covered": 1}),
]  # fmt: skip


@pytest.mark.parametrize(("question", "reference", "answer", "expected"), CASES)
def test_shares_worked_out_by_hand(
    question: str | None, reference: str, answer: str, expected: dict[str, float]
) -> None:
    line = dict(zip(SHARES, shares([question], [reference], [answer])[0].tolist(), strict=True))
    assert {name: line[name] for name in expected} == pytest.approx(expected)


@pytest.mark.parametrize("aspect", ASPECTS)
def test_no_weight_is_negative_and_they_add_up_to_one(aspect: Aspect) -> None:
    learnt = weights(aspect)
    assert (learnt >= 0).all()
    assert learnt.sum() == pytest.approx(1, abs=1e-3)


def preferences() -> list[dict[str, Any]]:
    with gzip.open(TRAINING, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def of_every_aspect(questions: Sequence[str], references: Sequence[str], answers: Sequence[str]) -> Iterator[Scores]:
    """The scores of the three aspects, which share what they are made of."""
    lines = shares(questions, references, answers)
    return (weighed(lines, weights(aspect)) for aspect in ASPECTS)


def test_leaving_out_more_sentences_of_the_reference_never_scores_higher() -> None:
    """An answer of the reference's own sentences loses by each that is dropped, whichever is dropped first."""
    chance = random.Random(3)
    rows: list[tuple[str, str, str]] = []
    for row in preferences()[:40]:
        parts = dict(enumerate(sentences(row["reference"])))
        while parts:
            rows.append((row["question"], row["reference"], " ".join(parts.values())))
            parts.pop(chance.choice(list(parts)))
        rows.append((row["question"], row["reference"], ""))
    for scores in of_every_aspect(*zip(*rows, strict=True)):
        for before, after in pairwise(range(len(rows))):
            if rows[before][2]:  # the next answer is of the same question
                # Sentences joined anew may change what is a number or a refusal, hence the small room.
                assert scores[after] <= scores[before] + 0.02
            else:
                assert scores[before] == 0


def test_an_answer_to_another_question_scores_low() -> None:
    rows = preferences()
    columns = [row["question"] for row in rows], [row["reference"] for row in rows]
    answers = [row["answers"][0] for row in rows]
    pairs = zip(
        of_every_aspect(*columns, answers), of_every_aspect(*columns, [*answers[11:], *answers[:11]]), strict=True
    )
    for own, other in pairs:
        assert np.quantile(other, 0.95) < 0.4
        assert np.mean(own > other) > 0.85
        assert np.median(own) > np.median(other) + 0.15


@given(pairs=st.lists(st.tuples(st.none() | texts, texts, texts), min_size=1, max_size=4))
def test_any_texts_score_between_0_and_1_each_for_itself(pairs: list[tuple[str | None, str, str]]) -> None:
    quality = get_metric("offline_quality")
    scores = quality(*zip(*pairs, strict=True))
    assert np.all((scores >= 0) & (scores <= 1))
    alone = [quality([question], [reference], [answer])[0] for question, reference, answer in pairs]
    np.testing.assert_array_equal(scores, alone)


@given(question=st.none() | texts, reference=texts)
def test_the_reference_itself_scores_1_if_it_has_words(question: str | None, reference: str) -> None:
    assert get_metric("offline_quality")([question], [reference], [reference])[0] in (0, 1)


#: Scores of the packaged weights, which change only when they are trained anew.
GOLDEN = [
    ("overall", "It is in Paris.", 0.5907),
    ("correctness", "It is in Paris.", 0.7081),
    ("completeness", "It is in Paris.", 0.5223),
    ("overall", "Gustave Eiffel built it in Paris in 1889.", 0.9510),
    ("overall", "I don't know.", 0.0652),
    ("overall", "Madrid has a royal palace with many rooms.", 0.1919),
]


@pytest.mark.parametrize(("aspect", "answer", "expected"), GOLDEN)
def test_golden(aspect: str, answer: str, expected: float) -> None:
    score = get_metric(f"offline_quality[aspect={aspect}]")([TOWER], [BUILT], [answer])[0]
    assert score == pytest.approx(expected, abs=5e-5)


def test_the_best_reference_counts_and_missing_ones_are_not_scored() -> None:
    rows = [
        {"qid": "1", "question": TOWER, "reference": ["Nothing of it.", BUILT], "answer": BUILT},
        {"qid": "2", "question": TOWER, "reference": [], "answer": BUILT},
        {"qid": "3", "question": TOWER, "reference": [BUILT], "answer": None},
        {"qid": "4", "question": TOWER, "reference": [BUILT], "answer": ""},
    ]
    result = evaluate(rows, metrics="offline_quality")
    np.testing.assert_array_equal(result.rows["offline_quality"].to_numpy(), [1, np.nan, np.nan, 0])
    assert result["offline_quality"].n_not_scored == {"no_reference": 1, "no_answer": 1}


def test_questions_are_not_needed() -> None:
    result = evaluate(
        [{"reference": BUILT, "answer": BUILT}, {"reference": BUILT, "answer": "x"}], metrics="offline_quality"
    )
    assert result["offline_quality"].mean == pytest.approx((1 + result.rows["offline_quality"].to_pylist()[1]) / 2)


def test_it_is_listed_for_tables_without_a_question() -> None:
    assert "offline_quality" in list_metrics(columns=["reference", "answer"]).names
    assert "offline_correct" not in list_metrics(columns=["reference", "answer"]).names
    assert "**Needs** reference, answer, and uses question where it is there" in metric_page(
        get_metric("offline_quality")
    )


#: A question, its reference, an answer that has part of it in other words, and one about something else.
LANGUAGES = {
    "es": ("¿Dónde está la torre?", "La torre está en París. La construyó Gustave Eiffel en 1889.",
           "Gustave Eiffel la construyó en París.", "El palacio de Madrid tiene muchas salas y un jardín."),
    "de": ("Wo steht der Turm?", "Der Turm steht in Paris. Gustave Eiffel baute ihn im Jahr 1889.",
           "In Paris, von Gustave Eiffel erbaut.", "Das Schloss in Madrid hat viele Zimmer und einen Garten."),
    "ru": ("Где стоит башня?", "Башня стоит в Париже. Её построил Гюстав Эйфель в 1889 году.",
           "Гюстав Эйфель построил её в Париже.", "Во дворце в Мадриде много комнат и есть сад."),
    "ar": ("أين يقع البرج؟", "يقع البرج في باريس. بناه غوستاف إيفل عام 1889.",
           "بناه غوستاف إيفل في باريس.", "القصر الملكي في مدريد فيه غرف كثيرة وحديقة."),
    "zh": ("铁塔在哪里？", "铁塔在巴黎。古斯塔夫·埃菲尔于1889年建造了它。",
           "古斯塔夫·埃菲尔在巴黎建造。", "马德里的王宫有很多房间和花园。"),
    "hi": ("मीनार कहाँ है?", "मीनार पेरिस में है। गुस्ताव एफिल ने इसे 1889 में बनाया।",
           "गुस्ताव एफिल ने इसे पेरिस में बनाया।", "मैड्रिड के महल में कई कमरे और एक बगीचा हैं।"),
}  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("setting", ["", "language"])
def test_other_languages(language: str, setting: str) -> None:
    question, reference, partly, other = LANGUAGES[language]
    quality = get_metric(f"offline_quality[language={language}]" if setting else "offline_quality")
    whole, part, unrelated = quality([question] * 3, [reference] * 3, [reference, partly, other])
    assert whole == 1
    assert 0.4 < part < 1
    assert unrelated < part - 0.2


@pytest.mark.parametrize(
    ("reference", "is_an_answer"),
    [
        ("The procedure to file a restraining order depends on the type of restraining order and the court.", 0.0),
        ("The documents don't say how it is filed.", 1.0),
    ],
)
def test_a_refusal_is_no_answer_unless_the_reference_declines_in_a_known_phrase(
    reference: str, is_an_answer: float
) -> None:
    line = shares(["How is an order filed?"], [reference], ["I don't know."])[0]
    assert line[list(SHARES).index("answers")] == is_an_answer


def test_an_unknown_aspect_is_an_error_that_lists_them() -> None:
    with pytest.raises(UsageError, match="must be one of overall, correctness, completeness"):
        get_metric("offline_quality[aspect=beauty]")


@pytest.mark.parametrize("reference", ["word " * 250_000, "[1," * 300_000, "1.5 " * 250_000, "字" * 1_000_000])
def test_a_megabyte_of_text(reference: str) -> None:
    assert get_metric("offline_quality")(["Why?"], [reference], [reference])[0] == 1
