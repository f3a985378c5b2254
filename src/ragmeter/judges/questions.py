"""A question about a passage, with its answer and the evidence, by a language model; and whether it is a good one.

These columns are filled by `engine/testsets/` alone: they are declared by no metric.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from ragmeter.definition.judge_columns import Form, JudgeColumn, ResponseFormat
from ragmeter.io.write import dumps
from ragmeter.judges.asking.forms import Choice, bare_reply, json_object
from ragmeter.testsets.languages import language_name
from ragmeter.testsets.questions import (
    COMPARISON,
    FACT,
    FALSE_PREMISE,
    HOW_WHY,
    KEYWORDS,
    UNANSWERABLE,
    Passage,
    PlannedQuestion,
    Question,
)

QUESTION, ANSWER, EVIDENCE, SECOND_EVIDENCE = "question", "answer", "evidence", "evidence_2"
#: The answer where a model knows none.
UNKNOWN = "unknown"
_TEXT_TOKENS, _UNKNOWN_TOKENS = 30, 20


@dataclass(frozen=True)
class Written(Form):
    """An object with a question, its answer, and one piece of evidence for each passage: all of them, nothing else."""

    keys: tuple[str, ...]
    words: str

    def instruction(self, *, reasons: bool) -> str:
        """The object, with an example of no content."""
        members = ", ".join(f'"{key}": "..."' for key in self.keys)
        return f"{self.words} {{{members}}}"

    def response_format(self, *, reasons: bool) -> ResponseFormat | None:
        """The schema of the object."""
        return {
            "type": "json_schema",
            "json_schema": {
                "name": "written_question",
                "strict": True,
                "schema": {
                    "type": "object",
                    "properties": {key: {"type": "string"} for key in self.keys},
                    "required": list(self.keys),
                    "additionalProperties": False,
                },
            },
        }

    def read(self, reply: str, sent: Mapping[str, str]) -> dict[str, str] | None:
        """The object as JSON, if each of its texts is there and none else."""
        document = json_object(bare_reply(reply))
        if document is None or document.keys() != set(self.keys):
            return None
        if not all(isinstance(text, str) and text.strip() for text in document.values()):
            return None
        return {"value": dumps({key: " ".join(text.split()) for key, text in document.items()})}

    def reply_tokens(self, sent: Mapping[str, str], *, reasons: bool) -> int:
        """A sentence for each."""
        return _TEXT_TOKENS * len(self.keys)


@dataclass(frozen=True)
class ShortAnswer(Form):
    """An answer in a few words, or that there is none."""

    def instruction(self, *, reasons: bool) -> str:
        """A line."""
        return f"Reply with the answer alone, in a few words. Reply {UNKNOWN} if you do not know it."

    def read(self, reply: str, sent: Mapping[str, str]) -> dict[str, str] | None:
        """Whatever is there."""
        text = " ".join(bare_reply(reply).split())
        return {"value": text} if text else None

    def reply_tokens(self, sent: Mapping[str, str], *, reasons: bool) -> int:
        """A few words."""
        return _UNKNOWN_TOKENS


@dataclass(frozen=True)
class _Wording:
    """What a model is told in one language: by kind, and for all."""

    kinds: Mapping[str, str]
    rules: str
    follow_up: str
    who: str
    evidence: str
    two_evidences: str
    reply: str
    language: str = ""


_ENGLISH = _Wording(
    kinds={
        KEYWORDS: "Write a search query of three to seven keywords, as people type into a search box, that the passage "
        "answers. It is no sentence and has no question mark.",
        FACT: "Write one question about a fact that the passage states: who, what, when, where, which or how many.",
        HOW_WHY: "Write one question that begins with how or why and that the passage answers.",
        COMPARISON: "Write one question that compares something in passage 1 with something in passage 2, so that both "
        "passages are needed for the answer.",
        FALSE_PREMISE: "Write one question that takes something for granted that the passage shows to be wrong. The "
        "answer corrects it.",
        UNANSWERABLE: "Write one question about a fact that only this passage states: who, what, when, where, which or "
        "how many.",
    },
    rules="Somebody asks it who has never seen the passage and looks for this information: name the person, thing or "
    "event that it is about, and do not speak of a passage, text or document. Use other words than the passage where "
    "you can. The answer is short and complete, and follows from the passage alone.",
    follow_up="This conversation goes on. Write the next question of the same person about another fact of the passage. "
    "It refers back to the conversation with a word such as it, they, he, she or that, so that it can't be understood "
    "alone. Do not speak of a passage, text or document. The answer is short and complete, and follows from the "
    "passage alone.",
    who="The person who asks, and the question, are as described above.",
    evidence="The evidence is the sentence of the passage that the answer follows from, copied word for word.",
    two_evidences="evidence is a sentence of passage 1 and evidence_2 a sentence of passage 2 that the answer follows "
    "from, both copied word for word.",
    reply="Reply with nothing but a JSON object:",
    language="Write the question and the answer in {language}.",
)
_SPANISH = _Wording(
    kinds={
        KEYWORDS: "Escribe una búsqueda de tres a siete palabras clave, como las que se escriben en un buscador, que el "
        "pasaje responda. No es una frase y no lleva signos de interrogación.",
        FACT: "Escribe una pregunta sobre un hecho que el pasaje afirma: quién, qué, cuándo, dónde, cuál o cuántos.",
        HOW_WHY: "Escribe una pregunta que empiece por cómo o por qué y que el pasaje responda.",
        COMPARISON: "Escribe una pregunta que compare algo del pasaje 1 con algo del pasaje 2, de modo que hagan falta "
        "los dos pasajes para responderla.",
        FALSE_PREMISE: "Escribe una pregunta que dé por cierto algo que, según el pasaje, es falso. La respuesta lo "
        "corrige.",
        UNANSWERABLE: "Escribe una pregunta sobre un hecho que solo este pasaje afirma: quién, qué, cuándo, dónde, cuál "
        "o cuántos.",
    },
    rules="La hace alguien que nunca ha visto el pasaje y busca esta información: nombra a la persona, la cosa o el "
    "suceso de que se trata, y no hables de ningún pasaje, texto o documento. Usa otras palabras que el pasaje cuando "
    "puedas. La respuesta es corta y completa, y se sigue solo del pasaje.",
    follow_up="Esta conversación continúa. Escribe la siguiente pregunta de la misma persona sobre otro hecho del "
    "pasaje. Remite a la conversación con una palabra como él, ella, eso, su o allí, de modo que no se entienda sola. "
    "No hables de ningún pasaje, texto o documento. La respuesta es corta y completa, y se sigue solo del pasaje.",
    who="La persona que pregunta, y la pregunta, son como se describe arriba.",
    evidence="evidence es la frase del pasaje de la que se sigue la respuesta, copiada palabra por palabra.",
    two_evidences="evidence es una frase del pasaje 1 y evidence_2 una frase del pasaje 2 de las que se sigue la "
    "respuesta, copiadas palabra por palabra.",
    reply="Responde solo con un objeto JSON:",
)
_LABELS = {"passage": "Passage", "heading": "Title", "user": "Who asks", "manner": "How the question is", "history": "Conversation"}
_SPANISH_LABELS = {
    "passage": "Pasaje", "heading": "Título", "user": "Quién pregunta", "manner": "Cómo es la pregunta",
    "history": "Conversación",
}  # fmt: skip


def writing_texts(planned: PlannedQuestion, history: Sequence[Question] = ()) -> dict[str, str]:
    """The texts of a call that writes a question; `history` are the questions of the conversation before it."""
    passages = planned.passages
    texts = {"passage": passages[0].text} if len(passages) == 1 else {
        f"passage {number}": passage.text for number, passage in enumerate(passages, 1)
    }  # fmt: skip
    if len(passages) == 1 and passages[0].heading:
        texts["heading"] = passages[0].heading
    if planned.user_categories:
        texts["user"] = "\n".join(category.description for category in planned.user_categories)
    if planned.question_categories:
        texts["manner"] = "\n".join(category.description for category in planned.question_categories)
    if history:
        texts["history"] = "\n".join(f"- {turn.text}\n- {turn.reference}" for turn in history)
    return texts


def writing_column(planned: PlannedQuestion, texts: Mapping[str, str]) -> JudgeColumn:
    """The column that a call with these texts fills."""
    return _writing_column(planned.kind, planned.passages[0].language, tuple(texts))


@cache
def _writing_column(kind: str, language: str, fields: tuple[str, ...]) -> JudgeColumn:
    wording = _SPANISH if language == "es" else _ENGLISH
    several = kind == COMPARISON
    names = dict.fromkeys("passage" if name.startswith("passage") else name for name in fields)
    task = [wording.follow_up if "history" in names else f"{wording.kinds[kind]} {wording.rules}"]
    task += [wording.who] if {"user", "manner"} & set(names) else []
    if language != "en" and wording.language:
        task.append(wording.language.format(language=language_name(language)))
    task.append(wording.two_evidences if several else wording.evidence)
    keys = (QUESTION, ANSWER, EVIDENCE, *((SECOND_EVIDENCE,) if several else ()))
    labels = _SPANISH_LABELS if language == "es" else _LABELS
    return JudgeColumn(
        "written_question",
        words="".join(f"{{{name}}}\n" for name in names) + "\n" + " ".join(task),
        form=Written(keys, wording.reply),
        labels={name: labels[name] for name in names},
        structured=True,
    )


#: Asked where the offline support model does not say that a passage supports the answer.
answered = JudgeColumn(
    "answered",
    words="{passage}\n{question}\n{answer}\n\nDoes the passage answer the question, and is this the answer that it gives?",
    form=Choice("answered", {"Yes": "yes", "No": "no"}),
    labels={"passage": "Passage", "question": "Question", "answer": "Answer"},
)

#: Asked without any passage: what everybody's model knows measures no retrieval.
closed_book = JudgeColumn(
    "closed_book",
    words="{question}\n\nAnswer the question from what you know.",
    form=ShortAnswer(),
    labels={"question": "Question"},
)


def answered_texts(passage: Passage, question: Question) -> dict[str, str]:
    """The texts of a call that asks whether a passage answers a question."""
    return {"passage": passage.text, "question": question.text, "answer": question.reference}
