"""Are injected faults named? `python training/faults.py xquad.en.json xquad.es.json [--mtrag mtrag_human.json]`.

Right answers to real questions, each with its gold passage and two others of the same article, are broken in known
ways; `cause` should name each, with the ids of gold documents and without them. XQuAD's questions (English, Spanish)
are judged by the offline judge. MTRAG's have long references, which that one is not made for: their verdicts are given,
as a judge would have given them. docs/causes.md has the figures; a case that is not named is printed with `--wrong`.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ragmeter import evaluate
from ragmeter.metrics.sentences import sentences

_SEED = 36
_REFUSALS = {
    "en": ("I don't know.", "The passages do not say.", "I could not find this in the provided context.",
           "Sorry, there is no information about that in the documents."),
    "es": ("No lo sé.", "Los pasajes no lo dicen.", "No encuentro esa información en el contexto.",
           "Lo siento, no hay información sobre eso en los documentos."),
}  # fmt: skip
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True)
class Case:
    """A right row: its gold passage is the first; `others` are answers to other questions about that passage."""

    language: str
    question: str
    reference: str
    answer: str
    passages: tuple[tuple[str, str], ...]
    gold: tuple[str, ...]
    others: tuple[str, ...]
    article: int
    is_long: bool = False
    is_right: bool = True


def xquad_cases(path: Path, count: int, draw: random.Random) -> list[Case]:
    """Questions with their paragraphs: every second answer is the sentence of the paragraph that has it."""
    language = path.name.split(".")[1]
    cases = []
    for article, content in enumerate(json.loads(path.read_text(encoding="utf-8"))["data"]):
        texts = [paragraph["context"].lstrip("\ufeff").strip() for paragraph in content["paragraphs"]]
        ids = [f"{language}-{article}-{place}" for place in range(len(texts))]
        for place, paragraph in enumerate(content["paragraphs"]):
            answers = [asked["answers"][0]["text"].strip() for asked in paragraph["qas"]]
            for number, asked in enumerate(paragraph["qas"]):
                order = [place, (place + 1) % len(texts), (place + 2) % len(texts)]
                others = tuple(other for other in answers if not _overlap(other, answers[number]))
                answer = answers[number] if number % 2 else _sentence(texts[place], answers[number])
                passages = tuple((ids[at], texts[at]) for at in order)
                cases.append(
                    Case(
                        language,
                        asked["question"].strip(),
                        answers[number],
                        answer,
                        passages,
                        (ids[place],),
                        others,
                        article,
                    )
                )
    return draw.sample(cases, count)


def mtrag_cases(path: Path, count: int, draw: random.Random) -> list[Case]:
    """The last turns of conversations whose passages answer them, with the answer that the authors wrote."""
    content = json.loads(path.read_text(encoding="utf-8"))
    texts = {document["document_id"]: document["text"] for document in content["documents"]}
    tasks = [task for task in content["tasks"] if task["Answerability"] == ["ANSWERABLE"] and task["contexts"]]
    conversations = list(dict.fromkeys(task["task_id"].split("<::>")[0] for task in tasks))
    cases = []
    for task in tasks:
        ids = [passage["document_id"] for passage in task["contexts"]]
        text = task["targets"][0]["text"].strip()
        passages = tuple((name, texts[name]) for name in ids)
        article = conversations.index(task["task_id"].split("<::>")[0])
        cases.append(
            Case("en", task["input"][-1]["text"].strip(), text, text, passages, tuple(ids), (), article, is_long=True)
        )
    return draw.sample(cases, min(count, len(cases)))


def _sentence(text: str, answer: str) -> str:
    return next((sentence for sentence in sentences(text) if answer in sentence), answer)


def _overlap(one: str, other: str) -> bool:
    one, other = one.casefold(), other.casefold()
    return one in other or other in one


def _stands(text: str, case: Case) -> bool:
    return any(text.casefold() in passage.casefold() for _, passage in case.passages)


def faults(cases: list[Case], draw: random.Random) -> Iterator[tuple[str, str, Case]]:
    """Each fault's name, the cause that it should be given, and the row."""
    for case in cases:
        of_others = [other for other in cases if other.article != case.article and other.language == case.language]
        foreign = draw.choice(of_others)
        refusal = draw.choice(_REFUSALS[case.language])
        wrong = replace(case, is_right=False)
        yield "unchanged", "right", case
        yield "retriever broken", "not_retrieved", replace(wrong, passages=foreign.passages, answer=foreign.answer)
        left = tuple(passage for passage in case.passages if passage[0] not in case.gold)
        yield "gold passage dropped, declined", "not_retrieved", replace(wrong, passages=left, answer=refusal)
        elsewhere = next((o for o in draw.sample(of_others, len(of_others)) if not _stands(o.reference, case)), foreign)
        yield (
            "gold passage dropped, invented",
            "not_retrieved",
            replace(wrong, passages=left, answer=elsewhere.reference),
        )
        yield "swapped answer", "retrieved_not_used", replace(wrong, answer=elsewhere.reference)
        if case.others:
            yield "another answer of the passage", "misread", replace(wrong, answer=draw.choice(case.others))
        if (changed := _other_number(case, draw)) is not None:
            yield "wrong number", "retrieved_not_used", replace(wrong, answer=changed)
        yield "wrong gold", "misread", replace(wrong, reference=elsewhere.reference)
        yield "forced refusal", "declined_though_retrieved", replace(wrong, answer=refusal)
        yield "right from memory", "right_not_from_passages", replace(case, passages=foreign.passages)


def _other_number(case: Case, draw: random.Random) -> str | None:
    """The answer with other numbers, none of which stands in a passage; None for one without numbers."""
    wanted = set(_NUMBER.findall(case.reference))
    if not wanted or case.is_long:
        return None

    def other(match: re.Match[str]) -> str:
        if match[0] not in wanted:
            return match[0]
        while True:
            number = str(draw.randint(10 ** (len(match[0]) - 1), 10 ** len(match[0]) + 8))
            if number != match[0] and not _stands(number, case):
                return number

    return _NUMBER.sub(other, case.answer)


def _row(case: Case, *, with_ids: bool) -> dict[str, Any]:
    row: dict[str, Any] = {
        "question": case.question,
        "reference": [case.reference],
        "answer": case.answer,
        "contexts": [text for _, text in case.passages],
    }
    if case.is_long:
        row["verdict"] = "CORRECT" if case.is_right else "WRONG"
    if with_ids:
        row |= {"relevant": list(case.gold), "retrieved": [name for name, _ in case.passages]}
    return row


def named(injected: list[tuple[str, str, Case]], *, with_ids: bool) -> list[tuple[str, str]]:
    """The cause of each case, and its evidence."""
    causes: dict[int, tuple[str, str]] = {}
    for is_long in (False, True):
        places = [place for place, (_, _, case) in enumerate(injected) if case.is_long == is_long]
        if places:
            rows = [_row(injected[place][2], with_ids=with_ids) for place in places]
            table = evaluate(rows, metrics="llm_correct" if is_long else "offline_correct", cluster=None).rows
            pairs = zip(table["cause"].to_pylist(), table["cause_evidence"].to_pylist(), strict=True)
            causes |= dict(zip(places, pairs, strict=True))
    return [causes[place] for place in range(len(injected))]


def _show(title: str, injected: list[tuple[str, str, Case]], causes: list[tuple[str, str]]) -> None:
    print(f"\n{title}\n| fault | expected | n | named | else |\n|---|---|---|---|---|")
    groups: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for (fault, expected, _), (cause, _) in zip(injected, causes, strict=True):
        groups[fault].append((expected, cause))
    for fault, pairs in groups.items():
        others = Counter(cause for expected, cause in pairs if cause != expected).most_common(3)
        said = ", ".join(f"{cause} {count}" for cause, count in others)
        print(f"| {fault} | {pairs[0][0]} | {len(pairs)} | {_share(pairs)} | {said} |")
    everything = [pair for pairs in groups.values() for pair in pairs]
    broken = [pair for fault, pairs in groups.items() if fault != "unchanged" for pair in pairs]
    for title, some in (("all faults", broken), ("all rows", everything)):
        print(f"| {title} | | {len(some)} | {_share(some)} | |")


def _share(pairs: list[tuple[str, str]]) -> str:
    return f"{sum(expected == cause for expected, cause in pairs) / len(pairs):.1%}"


def main() -> None:
    """Inject the faults, and print what they were called."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("xquad", type=Path, nargs="+", help="XQuAD's files: xquad.en.json xquad.es.json")
    parser.add_argument("--mtrag", type=Path, help="MTRAG's human evaluation: mtrag_human.json")
    parser.add_argument("--rows", type=int, default=80, help="right rows of each file; default: %(default)s")
    parser.add_argument("--seed", type=int, default=_SEED, help="default: %(default)s")
    parser.add_argument("--wrong", action="store_true", help="list the cases that are named otherwise")
    chosen = parser.parse_args()
    draw = random.Random(chosen.seed)
    loaders: list[tuple[Callable[..., list[Case]], Path, int]] = [
        (xquad_cases, path, chosen.rows) for path in chosen.xquad
    ]
    if chosen.mtrag:
        loaders.append((mtrag_cases, chosen.mtrag, chosen.rows // 2))
    cases = [load(path, count, draw) for load, path, count in loaders]
    print(f"right rows: {sum(map(len, cases))}")
    injected = [fault for group in cases for fault in faults(group, draw)]
    for with_ids in (True, False):
        causes = named(injected, with_ids=with_ids)
        how = "with ids of gold documents" if with_ids else "by the texts alone"
        _show(f"**{how}, all**", injected, causes)
        for language, is_long in sorted({(case.language, case.is_long) for _, _, case in injected}):
            of = [p for p, (_, _, case) in enumerate(injected) if (case.language, case.is_long) == (language, is_long)]
            _show(
                f"**{how}, {language}{', long' if is_long else ''}**",
                [injected[p] for p in of],
                [causes[p] for p in of],
            )
        for (fault, expected, case), (cause, evidence) in zip(injected, causes, strict=True):
            if chosen.wrong and cause != expected:
                print(f"{fault}: {cause} by {evidence} | {case.question} | {case.reference} | {case.answer[:200]}")


if __name__ == "__main__":
    main()
