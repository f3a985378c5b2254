"""How questions begin, by language and by what they ask for. The rest of a question are words of the passage."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Frames:
    """A language's beginnings of questions.

    `year`, `amount`, `name` and `thing` ask for what was taken out of a sentence. `reason` and `manner` ask for what
    follows a word of `because` or `by`: "the coldest part because it lies high", "chosen by drawing lots".
    """

    year: tuple[str, ...]
    amount: tuple[str, ...]
    name: tuple[str, ...]
    thing: tuple[str, ...]
    reason: tuple[str, ...]
    manner: tuple[str, ...]
    because: frozenset[str]
    by: frozenset[str]
    opening: str = ""


FRAMES = {
    "en": Frames(
        year=("when did", "when was", "in what year did", "what year was"),
        amount=("how many", "how much", "what number of"),
        name=("who", "what is the name of", "which", "who was", "what"),
        thing=("what", "what did", "what is", "what kind of", "what type of", "which"),
        reason=("why did", "why was", "why is", "what is the reason that"),
        manner=("how did", "how is", "how was", "in what way is"),
        because=frozenset({"because", "since", "due", "therefore", "thus", "so", "caused", "led", "resulted"}),
        by=frozenset({"by", "through", "via", "using"}),
    ),
    "es": Frames(
        year=("cuándo", "en qué año", "qué año", "en qué fecha"),
        amount=("cuántos", "cuántas", "qué cantidad de", "cuánto"),
        name=("quién", "cómo se llama", "cuál es el nombre de", "qué", "quién fue"),
        thing=("qué", "cuál es", "qué tipo de", "qué es", "cuál fue"),
        reason=("por qué", "por qué razón", "cuál es la razón de que", "a qué se debe que"),
        manner=("cómo", "de qué manera", "de qué forma"),
        because=frozenset({"porque", "debido", "ya", "pues", "causa", "gracias", "causó", "provocó"}),
        by=frozenset({"mediante", "través", "usando", "utilizando", "por"}),
        opening="¿",
    ),
}
