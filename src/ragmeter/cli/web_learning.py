"""How `ragmeter web` learns a page: `--learn`, `--page`, and the first questions of a run that has neither."""

from __future__ import annotations

import argparse
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragmeter.cli.options import UNSCORED, check_numbers, read_columns, read_reading
from ragmeter.errors import UsageError
from ragmeter.io.write import check_writable
from ragmeter.table import SELECTOR_NOT_FOUND, TIMEOUT, UNSURE

if TYPE_CHECKING:
    from ragmeter.targets.port import Question
    from ragmeter.targets.web.learning.asking import Lessons
    from ragmeter.targets.web.target import WebTarget

_SHOWN = 400  # characters of an answer that are printed
_ALL = 3  # questions that have failed: so would the others
_FIRST = 6  # questions of a dataset that may be needed


def learn(chosen: argparse.Namespace, target: WebTarget) -> int:
    """`--learn FILE`: ask three questions, one of them twice; write the profile and its picture, print what is read."""
    from ragmeter.targets.port import Question
    from ragmeter.targets.web.learning.asking import QUESTIONS, learn_page

    check_numbers(chosen)
    path: Path = chosen.learn
    check_writable(path.parent)
    questions = _first_questions(chosen) or [Question(f"learn-{i}", text) for i, text in enumerate(QUESTIONS, 1)]
    lessons = learn_page(target, questions, path.with_suffix(".png"), twice=True)
    return keep_lessons(chosen, path, lessons)


def keep_lessons(chosen: argparse.Namespace, path: Path, lessons: Lessons) -> int:
    """Print what was read, and write the profile that was learnt."""
    from ragmeter.targets.web.profile import write_profile

    show(lessons)
    if lessons.profile is None:
        return UNSCORED
    picture = path.with_suffix(".png")
    write_profile(path, lessons.profile, lessons.doubts and [f"In doubt: {doubt}" for doubt in lessons.doubts])
    print(f"written: {path}" + (f" and {picture}, where all of it is outlined" if lessons.has_picture else ""))
    for doubt in lessons.doubts:
        print(f"in doubt: {doubt}")
    print(f"go on with: ragmeter web --url {shlex.quote(chosen.url)} --input FILE --output FILE --page {path}")
    return UNSCORED if lessons.doubts else 0


def show(lessons: Lessons) -> None:
    """Print the answers as they would be read."""
    from ragmeter.show.terminal import printable

    print("the answers would be read so:")
    for lesson in lessons.lessons:
        print(f"  {printable(lesson.question.text)}")
        text = lesson.failure if lesson.answer is None else lesson.answer.answer
        short = text if len(text) <= _SHOWN else f"{text[:_SHOWN]} ... ({len(text):,} characters)"
        print("\n".join(f"    {printable(line)}" for line in short.splitlines()))


def learn_first(chosen: argparse.Namespace, target: WebTarget, questions: Sequence[Question], run: Path) -> None:
    """Learn a page with the first questions of a run, and keep their answers. At a doubt it stops, or asks a person."""
    from ragmeter.targets.web.learning.asking import learn_page
    from ragmeter.targets.web.learning.doubts import IN_COMMON
    from ragmeter.targets.web.profile import read_profile, write_profile

    learnt = learnt_file(run)
    if learnt.exists():  # the run was broken off
        target.read_by(read_profile(learnt))
        return
    alone = {question.text: question for question in questions if not question.history and question.repeat == 1}
    if chosen.answer_selector is not None or not alone:
        return
    picture = learnt.with_suffix(".png")
    lessons = learn_page(target, list(alone.values())[:_FIRST], picture)
    if lessons.profile is None:
        _check_can_be_read(chosen, lessons)
        return  # the run itself says of each question what is wrong
    out = sys.stderr if chosen.json else sys.stdout
    goes_on = not lessons.doubts or _is_old_call(chosen)
    if goes_on:
        target.reading.doubts = [doubt for doubt in lessons.doubts if not doubt.startswith(IN_COMMON)]
    file = learnt if goes_on else chosen.output.with_suffix(".page.toml")
    write_profile(file, lessons.profile, [f"In doubt: {doubt}" for doubt in lessons.doubts])
    if not goes_on and lessons.has_picture:
        shutil.move(picture, file.with_suffix(".png"))
    if not chosen.json:
        show(lessons)
    for doubt in lessons.doubts:
        print(f"in doubt: {doubt}", file=out)
    if not goes_on and not _agreed():
        raise UsageError(
            f"it is not sure how this page is read: {lessons.doubts[0]}",
            hint=f"look at {file.with_suffix('.png')}, correct {file}, and go on with --page {file}",
        )
    if not goes_on:
        target.reading.doubts = []
        shutil.copy(file, learnt)
    target.known.update(
        {lesson.question.qid: lesson.answer.as_reply() for lesson in lessons.read if lesson.answer is not None}
        if not target.reading.doubts
        else {}
    )


def _check_can_be_read(chosen: argparse.Namespace, lessons: Lessons) -> None:
    """Stop a run whose first questions have all failed in reading: the others would fail for the same reason."""
    failures = [lesson.failure for lesson in lessons.lessons if lesson.failure]
    if _is_old_call(chosen) or len(failures) < len(lessons.lessons) or len(failures) < _ALL:
        return
    if all(failure.startswith((TIMEOUT, SELECTOR_NOT_FOUND, UNSURE)) for failure in failures):
        raise UsageError(
            f"none of the first {len(failures)} questions has an answer that can be read: {failures[-1]}",
            hint="`--learn page.toml` writes what is known of the page, with a picture; --page reads it by that file",
        )


def learnt_file(run: Path) -> Path:
    """Where the profile is that a run has learnt, until the run is complete."""
    return run.with_name(f"{run.name}.page.toml")


def keep_learnt(run: Path, folder: Path) -> Path | None:
    """Move the profile that a run has learnt, and its picture, into its folder."""
    file = learnt_file(run)
    if not file.exists():
        return None
    kept = folder / "page.toml"
    for source in (file, file.with_suffix(".png")):
        if source.exists():
            shutil.move(str(source), str(kept.with_suffix(source.suffix)))
    return kept


def _agreed() -> bool:
    """Whether somebody at a terminal wants to go on."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    return input("Go on like this? [y/N] ").strip().casefold() in ("y", "yes")


def _is_old_call(chosen: argparse.Namespace) -> bool:
    """Whether box and button are named, as the tool wanted it whose options these are: it never asked anything."""
    return chosen.input_selector is not None and chosen.submit_selector is not None


def _first_questions(chosen: argparse.Namespace) -> list[Question]:
    """The first questions of the file, if one is given."""
    if chosen.input is None:
        return []
    from ragmeter.engine.questions import Dataset
    from ragmeter.io.source import open_source

    source: Any = open_source(chosen.input, read_reading(chosen), what="dataset")
    return Dataset.read(source, read_columns(chosen.column), limit=_FIRST).questions
