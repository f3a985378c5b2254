"""The pages of a row and of a conversation."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import quote

import ragmeter
from ragmeter import FakeProvider, Judge
from ragmeter.compat.crag.evaluator import CRAGEvaluator
from tests.app.serving import serving
from tests.app.test_pages import words

MUSEUM = {
    "qid": "1",
    "question": "Where is the museum?",
    "answer": "The museum is in Lisbon. It opened in 1950.",
    "contexts": ["The museum is in Lisbon, near the river."],
}


def test_the_call_behind_a_verdict(tmp_path: Path) -> None:
    rows = [{"qid": "1", "question": "Capital?", "reference": "Paris", "answer": "<b>Lyon</b>"}]
    judge = Judge(provider=FakeProvider("No"), check=False)
    ragmeter.evaluate(rows, metrics="llm_correct", judge=judge, run="r", output_dir=tmp_path)
    with serving(tmp_path) as client:
        page = client.page("/run/r/row/0")
    text = words(page)
    assert re.search(r"verdict fake · [\d,]+ \+ [\d,]+ tokens", text)
    assert "Judging by the correct answer, is the student answer right?" in text
    assert re.search(r"Reply No The markers around the texts", text)
    assert "<b>Lyon" not in page


def test_the_call_behind_an_answer(tmp_path: Path) -> None:
    rows = [{"qid": "1", "question": "Capital?", "reference": "Paris"}]
    ragmeter.ask(rows, lambda question: "It is Lyon", metrics="token_f1", run="r", output_dir=tmp_path)
    with serving(tmp_path) as client:
        assert re.search(r"Calls answer .* user Capital\? Reply It is Lyon", words(client.page("/run/r/row/0")))


def test_unsupported_words_are_marked_in_the_answer_and_supported_ones_in_passages(tmp_path: Path) -> None:
    ragmeter.evaluate([MUSEUM], metrics="faithfulness[judge=offline]", run="c", output_dir=tmp_path)
    with serving(tmp_path) as client:
        page = client.page("/run/c/row/0")
    answer, passages = (re.search(rf'id="{name}-title".*?</section>', page, re.S)[0] for name in ("answer", "contexts"))  # type: ignore[index]
    assert "The museum is in Lisbon. It" in answer
    assert '<mark class="unsupported">opened</mark> in <mark class="unsupported">1950</mark>' in answer
    assert (
        '<mark class="supported">museum</mark> is in <mark class="supported">Lisbon</mark>, near the river.' in passages
    )


def test_what_a_judge_says_of_each_passage_stands_beside_it(tmp_path: Path) -> None:
    row = {**MUSEUM, "reference": "Lisbon", "contexts": [*MUSEUM["contexts"], "Fish is sold at the river."]}
    judge = Judge(provider=FakeProvider("No"), check=False)
    ragmeter.evaluate([row], metrics="llm_context_precision,llm_correct", judge=judge, run="c", output_dir=tmp_path)
    with serving(tmp_path) as client:
        text = words(client.page("/run/c/row/0"))
    assert "Fish is sold at the river. passage_relevance: irrelevant" in text
    assert "irrelevant&quot;" not in text
    assert "Claims" not in text  # labels of passages are no claims
    assert "verdict WRONG" in text
    assert "outcome" not in text


def test_why_a_judge_says_nothing(tmp_path: Path) -> None:
    judge = Judge(provider=FakeProvider("Perhaps"), check=False)
    rows = [{"qid": "1", "question": "Capital?", "reference": "Paris", "answer": "Lyon"}]
    ragmeter.evaluate(rows, metrics="llm_correct", judge=judge, run="c", output_dir=tmp_path)
    with serving(tmp_path) as client:
        assert "verdict unparsable" in words(client.page("/run/c/row/0"))


def test_without_claims_nothing_is_marked(tmp_path: Path) -> None:
    ragmeter.evaluate([{**MUSEUM, "reference": "x"}], metrics="token_f1", run="c", output_dir=tmp_path)
    with serving(tmp_path) as client:
        assert "<mark" not in client.page("/run/c/row/0")


def test_a_conversation_has_a_page(tmp_path: Path) -> None:
    session = "s/1 <i>"
    rows = [
        {"qid": f"q{turn}", "session_id": session, "turn_idx": turn, "question": f"Question {turn}", "reference": "x"}
        for turn in (1, 0, 2)
    ]
    rows.append({"qid": "alone", "session_id": "", "turn_idx": 0, "question": "Alone", "reference": "x"})
    ragmeter.ask(rows, lambda question: f"Answer to {question}", metrics="token_f1", run="r", output_dir=tmp_path)
    with serving(tmp_path) as client:
        where = f"/run/r/conversation?session={quote(session, safe='').replace('%20', '+')}"
        assert f'href="{where}"' in client.page("/run/r")
        row = client.page("/run/r/row/2")
        assert f'href="{where}"' in row
        assert "Turn 3 of 3 of a conversation" in words(row)
        assert "of a conversation" not in words(client.page("/run/r/row/3"))
        page = client.page(where)
        text = words(page)
        assert client.ask("/run/r/conversation?session=other").status == 404
    turns = [text.index(f"Question {turn} Answer to Question {turn}") for turn in range(3)]
    assert turns == sorted(turns)
    assert 'href="/run/r/row/1"' in page
    assert "Alone" not in text


def test_a_conversation_without_numbers_of_turns_has_the_order_of_the_table(tmp_path: Path) -> None:
    rows = [{"session_id": "s", "question": f"Question {n}", "answer": "x", "reference": "x"} for n in range(3)]
    ragmeter.evaluate(rows, metrics="token_f1", run="r", output_dir=tmp_path)
    with serving(tmp_path) as client:
        row = words(client.page("/run/r/row/1"))
        text = words(client.page("/run/r/conversation?session=s"))
    assert "Turn 2 of 3 of a conversation" in row
    turns = [text.index(f"Question {turn}") for turn in range(3)]
    assert turns == sorted(turns)


def test_the_conversations_of_crag(tmp_path: Path) -> None:
    turns = [
        {"session_id": "s", "turn_idx": turn, "query": f"Question {turn}", "ground_truth": "x", "agent_response": "y"}
        for turn in range(2)
    ]
    judge = Judge(provider=FakeProvider("Yes"), check=False)
    evaluator = CRAGEvaluator(judge=judge, journal=tmp_path / "r" / "journal.sqlite")
    evaluator.save_results(*evaluator.evaluate_agent_responses(turns), tmp_path / "r")
    with serving(tmp_path) as client:
        row = words(client.page("/run/r/row/1"))
        conversation = words(client.page("/run/r/conversation?session=s"))
    assert "Turn 2 of 2 of a conversation" in row
    assert "Reply Yes" in row
    assert "Question 0 y Reference: x accuracy 1.00" in conversation


def test_texts_from_right_to_left_have_their_own_direction(tmp_path: Path) -> None:
    row = {
        **MUSEUM,
        "question": "\u0623\u064a\u0646 \u0627\u0644\u0645\u062a\u062d\u0641\u061f",
        "answer": "\u0641\u064a 1950.",
    }
    row["reference"] = "\u05d1\u05dc\u05d9\u05e1\u05d1\u05d5\u05df."
    for name in ("a", "b"):
        ragmeter.evaluate([row], metrics="token_f1", run=name, output_dir=tmp_path)
    with serving(tmp_path) as client:
        for address in ("/run/a", "/run/a/row/0", "/compare?run=a&run=b&change=all"):
            page = client.page(address)
            for name in ("question", "answer"):
                assert re.search(rf'<bdi dir="auto">{re.escape(str(row[name]))}', page), (address, name)
        assert f'<bdi dir="auto">{row["reference"]}' in client.page("/run/a/row/0")
        assert 'name="search" id="search-rows" dir="auto"' in re.sub(' value="[^"]*"', "", client.page("/run/a"))
