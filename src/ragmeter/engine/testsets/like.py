"""Real questions, to compare those of a test set with."""

from __future__ import annotations

from collections import defaultdict

from ragmeter.documents.testset import Texts
from ragmeter.engine.questions import Dataset
from ragmeter.io.reading import Reading
from ragmeter.io.source import open_source
from ragmeter.testsets.documents import Documents
from ragmeter.testsets.languages import language_of
from ragmeter.testsets.texts import texts_of


def texts_like(place: str, documents: Documents) -> Texts:
    """The figures of a file of questions; of those whose `relevant` ids are these documents', with their passages."""
    dataset = Dataset.read(open_source(place, Reading(), what="real questions"), {})
    golds: list[list[str]] = [
        list(names or ())
        for batch in dataset.batches
        for names in (batch.columns.get("relevant") or [None] * len(batch))
    ]
    wanted = {name for names in golds for name in names}
    texts: dict[str, list[str]] = defaultdict(list)
    for passage in documents.passages() if wanted else ():
        if passage.id in wanted:
            texts[passage.id].append(passage.text)
    questions = [question.text for question in dataset.questions]
    language = documents.language or language_of(" ".join(questions[:20]))
    rows = zip(questions, golds, strict=True)
    return texts_of(((text, [passage for name in names for passage in texts[name]]) for text, names in rows), language)
