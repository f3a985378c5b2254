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
        year=(
            *("when did", "when was", "in what year did", "what year was", "in what year was", "what was the date of"),
            *("during what time period was", "in which year did people see"),
        ),
        amount=(
            *("how many", "how much", "what number of", "what amount of", "what is the total number of"),
            *("about how many", "what percentage or number of"),
        ),
        name=(
            *("who", "which", "what", "who was", "what is the name of", "what was the name given to"),
            *("which person or group", "what place", "what organization", "who is considered", "what term is used for"),
            *("what title is given to", "who is known for"),
        ),
        thing=(
            *("what", "what did", "what is", "what kind of", "what type of", "which", "what is the main"),
            *("what happened to", "what term describes", "what is an example of", "what is considered"),
            *("what is one thing about", "what is used for"),
        ),
        reason=(
            *("why did", "why was", "why is", "what is the reason that", "for what purpose did", "why do people think"),
            "what explains that",
        ),
        manner=("how did", "how is", "how was", "in what way is", "what method is used for", "by what means did"),
        because=frozenset({"because", "since", "due", "therefore", "thus", "so", "caused", "led", "resulted"}),
        by=frozenset({"by", "through", "via", "using"}),
    ),
    "es": Frames(
        year=(
            *("cuándo", "en qué año", "qué año", "en qué fecha", "durante qué período de tiempo", "en qué momento"),
            "cuál fue la fecha de",
        ),
        amount=(
            *("cuántos", "cuántas", "cuánto", "qué cantidad de", "cuál es el número total de", "qué porcentaje de"),
            "aproximadamente cuántos",
        ),
        name=(
            *("quién", "qué", "quién fue", "cómo se llama", "cuál es el nombre de", "qué persona o grupo", "qué lugar"),
            *("qué organización", "a quién se considera", "qué término se usa para", "por qué se conoce a"),
            "qué título se dio a",
        ),
        thing=(
            *("qué", "cuál es", "qué tipo de", "qué clase de", "qué es", "cuál fue", "cuál es el principal"),
            *("qué pasó con", "qué término describe", "cuál es un ejemplo de", "qué se considera", "para qué se usa"),
        ),
        reason=(
            *("por qué", "por qué razón", "cuál es la razón de que", "a qué se debe que", "con qué fin"),
            "qué explica que",
        ),
        manner=("cómo", "de qué manera", "de qué forma", "qué método se usa para", "por qué medio"),
        because=frozenset({"porque", "debido", "ya", "pues", "causa", "gracias", "causó", "provocó"}),
        by=frozenset({"mediante", "través", "usando", "utilizando", "por"}),
        opening="¿",
    ),
}
