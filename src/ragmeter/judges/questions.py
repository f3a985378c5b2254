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
    Passage,
    PlannedQuestion,
    Question,
)

#: What a reply has: the evidence first, so that question and answer are about it.
EVIDENCE, SECOND_EVIDENCE, QUESTION, QUERY, ANSWER = "sentence", "sentence_2", "question", "keywords", "answer"
#: The answer where a model knows none.
UNKNOWN = "unknown"
_TEXT_TOKENS, _UNKNOWN_TOKENS = 30, 20


@dataclass(frozen=True)
class Written(Form):
    """An object with a question, its answer, and one piece of evidence for each passage: all of them, nothing else."""

    keys: tuple[str, ...]
    words: str

    def instruction(self, *, reasons: bool) -> str:
        """The object, with dots for each of its texts."""
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
        """The object as JSON, if each of its texts is there, and none else."""
        document = json_object(bare_reply(reply))
        if document is None or document.keys() != set(self.keys):
            return None
        if not all(isinstance(text, str) and text.strip(" .?") for text in document.values()):
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
    alone: str
    follow_up: str
    who: str
    evidence: str
    two_evidences: str
    never: str
    reply: str
    language: str = ""


_ENGLISH = _Wording(
    kinds={
        KEYWORDS: "Then write what somebody types into a search engine who looks for this: three to seven words, names "
        "and nouns, without a question mark.",
        FACT: "Then write the question of a user that it answers.",
        HOW_WHY: "Then write the question of a user that it answers, and that begins with How or Why.",
        COMPARISON: "Then write a question that compares the two, so that both sentences are needed for the answer.",
        FALSE_PREMISE: "Then write a question about this that takes something wrong for granted. The answer says what "
        "is right.",
    },
    alone="Use full names, so that it is understood alone, and other words than the sentence where you can.",
    follow_up="Then write the next question of the conversation, which this sentence answers, and which was not asked "
    "yet. Say it, they, he, she or that for what the conversation is about.",
    who="The person who asks, and the question, are as described above.",
    evidence="Copy a single short sentence from the passage, word for word.",
    two_evidences="Copy one sentence from passage 1 and one from passage 2, word for word, about two things that can "
    "be compared.",
    never="The answer is short. Never write the words passage, text or document.",
    reply="Reply with nothing but a JSON object:",
    language="Write in {language}.",
)
_SPANISH = _Wording(
    kinds={
        KEYWORDS: "Después escribe lo que alguien que busca esto escribiría en un buscador: de tres a siete palabras, "
        "nombres y sustantivos, sin signos de interrogación.",
        FACT: "Después escribe la pregunta de un usuario que esa frase responde.",
        HOW_WHY: "Después escribe la pregunta de un usuario que esa frase responde, y que empieza por Cómo o Por qué.",
        COMPARISON: "Después escribe una pregunta que compare las dos cosas, de modo que hagan falta las dos frases "
        "para responderla.",
        FALSE_PREMISE: "Después escribe una pregunta sobre eso que dé por cierto algo falso. La respuesta dice lo "
        "correcto.",
    },
    alone="Usa nombres completos, para que se entienda sola, y otras palabras que la frase cuando puedas.",
    follow_up="Después escribe la siguiente pregunta de la conversación, que esa frase responda y que no se haya hecho "
    "todavía. Di él, ella, eso, su o allí para lo que trata la conversación.",
    who="La persona que pregunta, y la pregunta, son como se describe arriba.",
    evidence="Copia una sola frase corta del pasaje, palabra por palabra.",
    two_evidences="Copia una frase del pasaje 1 y una del pasaje 2, palabra por palabra, sobre dos cosas que se puedan "
    "comparar.",
    never="La respuesta es corta. No escribas nunca las palabras pasaje, texto ni documento.",
    reply="Responde solo con un objeto JSON:",
)
_LABELS = {
    "passage": "Passage",
    "heading": "Title",
    "user": "Who asks",
    "manner": "How the question is",
    "history": "Conversation",
}
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
    task = [wording.two_evidences if several else wording.evidence]
    task.append(
        wording.follow_up if "history" in names else f"{wording.kinds.get(kind, wording.kinds[FACT])} {wording.alone}"
    )
    task += [wording.who] if {"user", "manner"} & set(names) else []
    if language != "en" and wording.language:
        task.append(wording.language.format(language=language_name(language)))
    keys = (EVIDENCE, *((SECOND_EVIDENCE,) if several else ()), QUERY if kind == KEYWORDS else QUESTION, ANSWER)
    labels = _SPANISH_LABELS if language == "es" else _LABELS
    return JudgeColumn(
        "written_question",
        words=" ".join(task) + "\n\n" + "".join(f"{{{name}}}\n" for name in names) + f"\n{wording.never}",
        form=Written(keys, wording.reply),
        labels={name: labels[name] for name in names},
        structured=True,
    )


#: Asked where the offline support model does not say that a passage supports the answer.
answered = JudgeColumn(
    "answered",
    words="{passage}\n{question}\n{answer}\n\n"
    "Does the passage answer the question, and is this the answer that it gives?",
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
