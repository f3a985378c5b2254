"""Whether passages say what a reference or an answer says about its question."""

from ragmeter.metrics.causes.statements import StatementSupport, has_own_number, statement_of, statements_support

PARIS = "Paris is the capital of France. It lies on the Seine and has two million inhabitants."
ROME = "Rome is the capital of Italy. It lies on the Tiber. Paris was visited by its mayor in 1999."


def support(question: str, text: str, *passages: str) -> StatementSupport:
    return statements_support([question], [[statement_of(question, text)]], [passages])[0][0]


def test_a_short_text_is_looked_up_itself_and_with_its_question() -> None:
    question = "What is the capital of France?"
    assert statement_of(question, "Paris").claims == ("Paris", f"{question} Paris")
    assert support(question, "Paris", PARIS) == StatementSupport(True, True, True)
    assert not support(question, "Paris", "Berlin lies on the Spree.").is_there


def test_a_passage_that_has_the_word_and_not_the_question_does_not_answer_it() -> None:
    found = support("Which river does the capital of Peru lie on?", "the Tiber", ROME)
    assert (found.is_there, found.answers) == (True, False)


def test_three_words_that_stand_there_word_for_word_are_there() -> None:
    passage = 'Some clinics form business partnerships with physicians or give them "kickback" payments in return.'
    question = "What do the owners of laboratories do to get more orders?"
    for quoted in (
        "give them kickback payments",
        'form business partnerships with physicians or give them "kickback" payments',
    ):
        assert support(question, quoted, PARIS, passage).is_said
        assert not support(question, quoted, PARIS).is_said
    assert not support(question, "physicians give payments", passage).answers


def test_a_long_text_is_its_sentences_of_which_half_must_be_there() -> None:
    text = "Paris is the capital of France. It lies on the Seine. It has two million inhabitants today."
    assert not statement_of("?", text).is_short
    assert support("Tell me about Paris.", text, PARIS).is_said
    assert not support("Tell me about Paris.", text, ROME).is_said


def test_each_statement_of_a_row_has_its_own_result_and_rows_don_t_mix() -> None:
    questions = ["What is the capital of France?", "What is the capital of Italy?"]
    statements = [[statement_of(question, text) for text in ("Paris", "Rome")] for question in questions]
    results = statements_support(questions, statements, [[PARIS], [ROME]])
    assert [found.is_said for found in results[0]] == [True, False]
    assert results[1][1].is_said


def test_a_number_of_its_own() -> None:
    passage = ["The tower is 330 metres high and was built in 1889 by three million rivets."]
    assert not has_own_number("It is 330 metres high.", passage)
    assert has_own_number("It is 340 metres high.", passage)
    assert not has_own_number("It has 3,000,000 rivets [1].", passage)
    assert not has_own_number("It is high.", passage)
