"""Criteria of one's own, in a file: yes or no, or a scale; one, or several in one call. By a language model.

    scale: 1-5

    ## tone
    Is the answer polite?

    ## brevity
    Is the answer as short as it can be?

Without `scale:` the answer to each is yes or no. A file without headings is one criterion. `{contexts}` and the like
stand for columns of the table; a file that names none is asked about the question and the answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ragmeter.definition import metric
from ragmeter.definition.judge_columns import FIELD, Changes, Form, judge_column
from ragmeter.errors import InputError, UsageError
from ragmeter.io.write import dumps
from ragmeter.judges.asking.forms import bare_reply
from ragmeter.judges.grade import ScaleName
from ragmeter.naming import Settings
from ragmeter.table import UNPARSABLE, Failed, Row

_SCALE = re.compile(r"\A\s*scale:[ \t]*(\S+)[ \t]*(?:\n|\Z)", re.IGNORECASE)
_HEADING = re.compile(r"^##[ \t]+(.+?)[ \t]*$", re.MULTILINE)
_LINE = re.compile(r"\s*[-*]?\s*[*_\"'`]*(?:(.+?)[*_\"'`]*\s*[:=])?\s*[*_\"'`]*([\w-]+)[*_\"'`]*[.!]?\s*")
#: A file without headings has one criterion, which is called this.
_ONLY = "rating"
_TOKENS = 8


@dataclass(frozen=True)
class Ratings(Form):
    """A rating by each of several criteria: yes or no, or a number of a scale."""

    names: tuple[str, ...]
    scale: tuple[int, int] | None

    def instruction(self, *, reasons: bool) -> str:
        """A line for each; a single criterion takes one word."""
        words = "Yes or No"
        if self.scale is not None:
            words = f"a whole number from {self.scale[0]} (worst) to {self.scale[1]} (best)"
        if len(self.names) == 1:
            return f"Reply with nothing but {words}."
        names = ", ".join(self.names)
        return f"Reply with one line for each of {names}: its name, a colon, and {words}."

    def choices(self, *, reasons: bool) -> tuple[str, ...]:
        """The words for a reply about a single criterion; empty if there are several."""
        if len(self.names) > 1:
            return ()
        return ("Yes", "No") if self.scale is None else tuple(map(str, range(self.scale[0], self.scale[1] + 1)))

    def read(self, reply: str, sent: Mapping[str, str]) -> dict[str, str] | None:
        """The ratings, if there is one by each criterion and nothing else."""
        matches = [_LINE.fullmatch(line) for line in bare_reply(reply).split("\n") if line.strip()]
        if not all(matches) or len(matches) != len(self.names):
            return None
        ratings: dict[str, float] = {}
        for name, match in zip(self.names, matches, strict=True):
            named = match is not None and match[1] is not None
            rating = None if match is None else self._rating(match[2])
            right_name = match is not None and (match[1] or "").strip().casefold() == name.casefold()
            if rating is None or (named and not right_name) or (len(self.names) > 1 and not right_name):
                return None
            ratings[name] = rating
        return {"value": dumps(ratings)}

    def _rating(self, word: str) -> float | None:
        """The rating that a word stands for: from 0 (no, or the worst) to 1 (yes, or the best)."""
        if self.scale is None:
            return {"yes": 1.0, "no": 0.0, "sí": 1.0, "si": 1.0}.get(word.casefold())
        low, high = self.scale
        return (int(word) - low) / (high - low) if word.isdecimal() and low <= int(word) <= high else None

    def reply_tokens(self, sent: Mapping[str, str], *, reasons: bool) -> int:
        """A line for each."""
        return _TOKENS * len(self.names)


def _configure(settings: Settings) -> Changes:
    file = str(settings["file"])
    return {**_read(file, _modified(file)), "known": None} if file else {}


def _modified(file: str) -> int:
    try:
        return Path(file).stat().st_mtime_ns
    except OSError:
        return 0


@lru_cache(maxsize=64)
def _read(file: str, modified: int) -> Changes:
    """The words and the form of the reply, from a file that was last changed at this time."""
    try:
        text = Path(file).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror}", file=file) from None
    except UnicodeDecodeError as error:
        raise InputError(f"the criteria are not UTF-8: {error.reason}", file=file) from None
    header = _SCALE.match(text)
    try:
        scale = None if header is None else ScaleName.parse(header[1]).ends
    except UsageError as error:
        raise InputError(str(error), file=file, line=1) from None
    words = text[header.end() :].strip() if header else text.strip()
    names = _HEADING.findall(words) or [_ONLY]
    if not words:
        raise InputError("there are no criteria in it", file=file, hint="write a question about the answer")
    if len({name.casefold() for name in names}) < len(names):
        raise InputError("two criteria have the same name", file=file, hint="give each a heading of its own")
    if not FIELD.search(words):
        words = f"{{question}}\n{{answer}}\n\n{words}"
    return {"words": words, "form": Ratings(tuple(names), scale)}


def _has_file(row: Row) -> None:
    raise UsageError("criteria needs a file", hint="for example criteria[file=tone.md]")


ratings = judge_column(
    "ratings",
    words="{answer}",
    form=Ratings((_ONLY,), None),
    settings={"file": ""},
    structured=True,
    optional=("question",),
    known=_has_file,
    labels={"question": "Question", "answer": "Answer"},
    instead="offline there is no metric that reads criteria; a rule in Python, declared with @metric, may do",
    configure=_configure,
)


@metric(direction="higher")
def criteria(ratings: Sequence[Mapping[str, float]], *, file: str = "", only: str = "") -> list[float | Failed]:
    """How an answer does by criteria of your own, as judged by a language model.

    **Formula.** The mean of the ratings by each criterion: 1 for yes and 0 for no, or `(number − lowest) / (highest −
    lowest)` on a scale. The column `ratings` is filled by the judge's model, all criteria of a file in one call.

    **Settings.** `file=tone.md` has the criteria: a question, or several under headings `## name`; a first line `scale:
    1-5` asks for numbers. `{contexts}` or any other column may be a field. `only=tone` is one of several criteria by
    itself, and costs nothing more.

    **Edge cases.** A reply without a rating by each criterion is `unparsable`, and has no score.

    **Use it** for tone, form, safety, rules of your own. **Not** for right or wrong: `llm_correct` has been compared
    with people's verdicts.
    """
    scores: list[float | Failed] = []
    for by_name in ratings:
        if only and only not in by_name:
            raise UsageError(f"there is no criterion {only!r} in {file}", hint=f"it has {', '.join(by_name)}")
        values = [by_name[only]] if only else list(by_name.values())
        scores.append(sum(values) / len(values) if values else Failed(UNPARSABLE))
    return scores
