"""What all answers of a run show together about how they were read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ragmeter.targets.web.finish import ends_well

#: A line of so many words that more than this share of the answers have is hardly a part of them; the fewest
#: answers that say something.
_MOST, _WORDS, _FEWEST = 0.5, 2, 4


def findings(answers: Sequence[tuple[str, str]]) -> list[str]:
    """What is strange about the answers to these questions: pairs of a question and its answer."""
    texts = [text.strip() for _, text in answers]
    return [*_same_texts(answers), *_same_lines(texts), *_broken_off(texts)]


def _same_texts(answers: Sequence[tuple[str, str]]) -> list[str]:
    questions: dict[str, set[str]] = {}
    for question, text in answers:
        questions.setdefault(text.strip(), set()).add(question)
    repeated = [(len(asked), text) for text, asked in questions.items() if len(asked) > 1]
    if not repeated:
        return []
    count, text = max(repeated)
    return [f"{count} different questions have the same answer: {_short(text)!r}"]


def _same_lines(texts: Sequence[str]) -> list[str]:
    several = [lines for text in set(texts) if len(lines := [line for line in text.splitlines() if line.strip()]) > 1]
    found = []
    for where, place in (("first", 0), ("last", -1)):
        common = Counter(lines[place].strip() for lines in several).most_common(1)
        for line, count in common if len(texts) >= _FEWEST else ():
            if count > _MOST * len(texts) and len(line.split()) >= _WORDS:
                found.append(f"{count} of {len(texts)} answers have the same {where} line: {_short(line)!r}")
    return found


def _broken_off(texts: Sequence[str]) -> list[str]:
    """Long answers that end in the midst of a sentence, where most do not."""
    long = [text for text in texts if len(text.split()) >= 8]
    cut = [text for text in long if not ends_well(text) and text[-1:].isalpha() and not _ends_with_item(text)]
    if not cut or 2 * len(cut) > len(long):
        return []
    return [f"{len(cut)} of {len(texts)} answers may end in the midst of a sentence: ...{cut[0][-40:]!r}"]


def _ends_with_item(text: str) -> bool:
    return text.splitlines()[-1].lstrip().startswith(("-", "*", "|", "$", "#")) or text.splitlines()[-1][:1].isdigit()


def _short(text: str) -> str:
    one_line = " ".join(text.split())
    return one_line if len(one_line) <= 60 else f"{one_line[:57]}..."
