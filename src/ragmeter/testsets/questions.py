"""What a test set is made of: passages, a plan of what to ask about them, and questions."""

from __future__ import annotations

from dataclasses import dataclass

#: The kinds of questions, as the column `kind` has them.
KEYWORDS, FACT, HOW_WHY = "keywords", "fact", "how_why"
COMPARISON, FALSE_PREMISE, UNANSWERABLE = "comparison", "false_premise", "unanswerable"


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a document, or a chunk of the user's own.

    `id` is what is relevant to a question about it: the chunk's own id, or that of the document that it was cut from.
    `heading` is the title of the document and of the section, one to a line; `language` is a code, such as `es`.
    """

    id: str
    text: str
    source: str
    heading: str = ""
    language: str = "en"


@dataclass(frozen=True, slots=True)
class Category:
    """A category of users or of questions: its name, and its description for whoever writes the question.

    `group` is the name of the set that it was drawn from, such as `user_expertise`.
    """

    group: str
    name: str
    description: str


@dataclass(frozen=True, slots=True)
class PlannedQuestion:
    """What a question is to be: its kind, and the passages that it is about; two for a comparison, else one."""

    kind: str
    passages: tuple[Passage, ...]
    user_categories: tuple[Category, ...] = ()
    question_categories: tuple[Category, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """A question that was written.

    `reference` is the answer; it is empty where nobody wrote one. `evidence` are texts that stand in the passages word
    for word, at least one of them in each.
    """

    planned: PlannedQuestion
    text: str
    reference: str
    evidence: tuple[str, ...]
