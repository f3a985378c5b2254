"""The values of the five old tools beside ragmeter's, on the samples in `data/` and `tests/data/`.

    python benchmarks/migrating.py

prints what docs/migrating.md says. Each old tool is written down plainly here, by its documented behaviour and with the
libraries that it used: NLTK, rouge-score, scikit-learn.
"""

from __future__ import annotations

import gzip
import importlib
import json
import math
import re
import sys
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from common import Values
from nltk.stem import SnowballStemmer
from nltk.tokenize import word_tokenize
from nltk.translate.meteor_score import meteor_score
from rapidfuzz.distance import Levenshtein
from rouge_score.rouge_scorer import RougeScorer
from samples import DATA, Row
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics.pairwise import cosine_similarity

from ragmeter import ContextRecall, QAPair, RAGResult, evaluate, get_metric
from ragmeter.compat.crag.evaluation import scores
from ragmeter.metrics.conversation import Turn, is_same_answer
from ragmeter.metrics.refusals import is_miss

ROOT = Path(__file__).parents[1]
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_STEM = SnowballStemmer("spanish").stem


def load(path: Path) -> list[dict[str, Any]]:
    """The rows of a file of JSON lines, compressed or not."""
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def sample(name: str) -> list[Row]:
    """One of the samples in `data/`, as it is."""
    return [Row(**row) for row in load(DATA / f"{name}.jsonl.gz")]


def compare(name: str, old: Sequence[float], ours: Sequence[float]) -> None:
    """One line: both means, the mean distance between them, the largest, and how many rows differ."""
    before, after = np.asarray(old, dtype=float), np.asarray(ours, dtype=float)
    apart = np.abs(after - before)
    rows = f"{np.mean(apart > 1e-9):.1%} of {len(apart):,} rows differ"
    print(f"  {name:20} {before.mean():9.4f} {after.mean():9.4f}   {apart.mean():.4f} {apart.max():.4f}   {rows}")


def title(text: str) -> None:
    """The heading of a part."""
    print(f"\n{text}\n  {'':20} {'old':>9} {'ragmeter':>9}   apart: mean, largest")


# -- response evaluation by a web page --------------------------------------------------------------------------------


def old_tokens(text: str) -> list[str]:
    """NLTK's words, marks among them; sentences by their marks, since NLTK's own model has to be fetched."""
    return [word for part in _SENTENCE.split(text.lower()) for word in word_tokenize(part, preserve_line=True)]


def old_stems(text: str) -> list[str]:
    """The same, stemmed."""
    return [_STEM(word) for word in old_tokens(text)]


def old_cosine(reference: str, answer: str) -> float:
    """TF-IDF of the two texts, marks among the terms."""
    try:
        vectors = TfidfVectorizer(tokenizer=old_stems, token_pattern=None).fit_transform([reference, answer])
    except ValueError:
        return 0.0
    return float(cosine_similarity(vectors[0], vectors[1])[0, 0])


def old_rouge(reference: str, answer: str) -> float:
    """rouge-score on the stems, joined: its own tokeniser knows a to z and 0 to 9 alone."""
    texts = [" ".join(old_stems(text)) for text in (reference, answer)]
    return float(RougeScorer(["rougeL"], use_stemmer=False).score(*texts)["rougeL"].fmeasure)


def old_exact(reference: str, answer: str) -> float:
    """Equality of what is ASCII once accents are taken apart."""
    apart = [unicodedata.normalize("NFD", text.lower()) for text in (reference, answer)]
    return float(len({text.encode("ascii", "ignore").strip() for text in apart}) == 1)


def old_f1(reference: str, answer: str) -> float:
    """F1 of the sets of words and marks."""
    expected, given = set(old_tokens(reference)), set(old_tokens(answer))
    common = len(expected & given)
    return 2 * common / (len(expected) + len(given)) if common else 0.0


class _NoSynonyms:
    def synsets(self, word: str) -> list[Any]:
        """None: WordNet has to be fetched, and knows English alone."""
        return []


def old_meteor(reference: str, answer: str) -> float:
    """NLTK's METEOR on Spanish stems, which it stems once more as English."""
    return float(meteor_score([old_stems(reference)], old_stems(answer), wordnet=_NoSynonyms()))


OLD_SCORERS: dict[str, Callable[[str, str], float]] = {
    "cosine_similarity": old_cosine,
    "rouge_l_score": old_rouge,
    "exact_match": old_exact,
    "token_f1": old_f1,
    "meteor_score": old_meteor,
}


def our_scores(name: str, references: Sequence[str], answers: Sequence[str]) -> Values:
    """A metric's scores, with Spanish stems where it stems."""
    metric = get_metric(name)
    settings = {"language": "es"} if "language" in metric.defaults else {}
    return np.asarray((metric.with_settings(**settings) if settings else metric)(references, answers), dtype=float)


def web() -> None:
    """The five scores and their average."""
    for name, rows in {
        "XQuAD, Spanish, 1,000 pairs": sample("xquad_es"),
        "RAGChecker, English, 192 long answers": sample("ragchecker"),
        "EVOUNA, English, 5,000 short answers": sample("evouna"),
    }.items():
        title(f"WEB  {name}")
        references, answers = [row.reference for row in rows], [row.answer for row in rows]
        old = {
            metric: [scorer(*pair) for pair in zip(references, answers, strict=True)]
            for metric, scorer in OLD_SCORERS.items()
        }
        ours = {metric: our_scores(metric, references, answers) for metric in OLD_SCORERS}
        for metric in OLD_SCORERS:
            compare(metric, old[metric], list(ours[metric]))
        compare("average_score", list(np.mean(list(old.values()), axis=0)), list(np.mean(list(ours.values()), axis=0)))
    for language in ("es", "de", "tr", "ru", "ar", "zh", "th"):
        rows_of = [row for row in load(ROOT / "tests" / "data" / "xquad.jsonl") if row["language"] == language]
        gold = [row["answer"].removeprefix(row["question"]).strip() for row in rows_of]
        pairs = [(one, other) for one in gold for other in gold if one != other]
        old_share = np.mean([old_exact(*pair) for pair in pairs])
        our_share = our_scores("exact_match", *map(list, zip(*pairs, strict=True))).mean()
        print(f"  exact_match of {len(pairs)} pairs of different answers, {language}: {old_share:.1%}, {our_share:.1%}")


# -- edit distance -----------------------------------------------------------------------------------------------------


def edit() -> None:
    """Raw characters in the old tool, NFC here."""
    rows = sample("xquad_es")
    for form in ("NFC", "NFD"):
        title(f"EDIT DISTANCE  XQuAD, Spanish, 1,000 pairs, the answers in {form}")
        references = [unicodedata.normalize("NFC", row.reference) for row in rows]
        answers = [unicodedata.normalize(form, row.answer) for row in rows]
        pairs = list(zip(references, answers, strict=True))
        raw = [Levenshtein.distance(*pair) for pair in pairs]
        longest = [max(map(len, pair)) for pair in pairs]
        compare("edit_distance", raw, list(our_scores("edit_distance", references, answers)))
        shares = [count / length for count, length in zip(raw, longest, strict=True)]
        compare("normalized_distance", shares, list(our_scores("normalized_distance", references, answers)))


# -- context recall ----------------------------------------------------------------------------------------------------


def document_of(chunk: str) -> str:
    """The document that a chunk belongs to."""
    return chunk.partition("::")[0].removeprefix("doc-")


def old_ndcg(retrieved: Sequence[str], gold: Sequence[str]) -> float:
    """Each chunk of a gold document is a hit, and the ideal is over the hits alone."""
    hits = [rank for rank, chunk in enumerate(retrieved[:10], 1) if document_of(chunk) in gold]
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, len(hits) + 1))
    return sum(1 / math.log2(rank + 1) for rank in hits) / ideal if hits else 0.0


def retrieval() -> Iterator[tuple[str, list[list[str]], list[list[str]]]]:
    """Sentences of RAGChecker's references as chunks, retrieved by TF-IDF for each question or pair of questions."""
    texts = {row.question: row.reference for row in sample("ragchecker")}
    chunks = [
        (f"doc-<{place}>::chunk-{number}", sentence)
        for place, text in enumerate(texts.values())
        for number, sentence in enumerate(_SENTENCE.split(text))
    ]
    vectorizer = TfidfVectorizer()
    index = vectorizer.fit_transform([sentence for _, sentence in chunks])
    questions, count = list(texts), len(texts)
    singles = [(question, [f"<{place}>"]) for place, question in enumerate(questions)]
    pairs = [
        (f"{question} {questions[(place + 1) % count]}", [f"<{place}>", f"<{(place + 1) % count}>"])
        for place, question in enumerate(questions)
    ]
    two = "two gold documents"
    for name, asked, many in (("one gold document", singles, 10), (two, pairs, 10), (two, pairs, 3)):
        similarity = cosine_similarity(vectorizer.transform([question for question, _ in asked]), index)
        best = np.argsort(-similarity, axis=1, kind="stable")[:, :many]
        documents = [[chunks[place][0] for place in row] for row in best]
        yield f"{name}, {many} chunks retrieved", documents, [gold for _, gold in asked]


def recall() -> None:
    """NDCG@10; recall, precision and F1 are the same."""
    for name, retrieved, gold in retrieval():
        title(f"CONTEXT RECALL  {len(gold)} questions of RAGChecker, {name}")
        result = ContextRecall(doc_id_pattern=r"(<\d+>)").evaluate(
            [RAGResult(qid=str(place), doc_ids=documents) for place, documents in enumerate(retrieved)],
            [QAPair(qid=str(place), document_ids=documents) for place, documents in enumerate(gold)],
        )
        distinct = [set(map(document_of, row)) for row in retrieved]
        shares = [len(documents & set(row)) / len(row) for documents, row in zip(distinct, gold, strict=True)]
        compare("context_recall", shares, [row["context_recall"] for row in result.rows])
        old = [old_ndcg(documents, row) for documents, row in zip(retrieved, gold, strict=True)]
        compare("ndcg_10", old, [row["ndcg_10"] for row in result.rows])


# -- semantic similarity, coverage, satisfaction -----------------------------------------------------------------------


def service() -> None:
    """What a call that fails does to the means. The model is wordllama, which needs no download."""
    sys.path.insert(0, str(ROOT))
    pipeline = importlib.import_module("examples.rag_app").Agenda()
    rows = load(ROOT / "examples" / "agenda_qa.jsonl")
    answered = [
        {"answer": reply["answer"], "reference": row["ground_truth"], "events": bool(reply["events"])}
        for row in rows
        for reply in [pipeline.query(row["question"])]
    ]
    for every in (0, 4):
        failed = [bool(every) and place % every == 0 for place in range(len(rows))]
        old_texts = ["Error" if lost else row["answer"] for row, lost in zip(answered, failed, strict=True)]
        similar = _similarity([row["reference"] for row in answered], old_texts)
        events = [0.0 if lost else float(row["events"]) for row, lost in zip(answered, failed, strict=True)]
        satisfied = [0.5 * one + 0.3 * other + 0.2 for one, other in zip(similar, events, strict=True)]
        kept = [place for place, lost in enumerate(failed) if not lost]
        print(f"\nSERVICE  {sum(failed)} of {len(rows)} calls fail; latency taken as 0; old, ragmeter")
        for name, values in (("semantic_similarity", similar), ("satisfaction_score", satisfied)):
            print(f"  {name:20} {np.mean(values):9.4f} {np.mean([values[place] for place in kept]):9.4f}")


def _similarity(references: Sequence[str], answers: Sequence[str]) -> list[float]:
    rows = [{"reference": one, "answer": other} for one, other in zip(references, answers, strict=True)]
    name = "semantic_similarity[model=wordllama]"
    scores: list[float] = evaluate(rows, metrics=name).rows[name].to_pylist()
    return scores


# -- CRAG-MM -----------------------------------------------------------------------------------------------------------


def old_miss(answer: str) -> bool:
    """Two phrases, anywhere in the answer."""
    plain = re.sub(r"[^a-z0-9\s]", "", answer.lower())
    return "i dont know" in plain or "i do not know" in plain


def crag() -> None:
    """ "I don't know", exact matches, the rule for conversations, and judge calls that fail."""
    rows = sample("evouna")
    old, ours = [old_miss(row.answer) for row in rows], [is_miss(row.answer) for row in rows]
    print(f"\nCRAG  misses among {len(rows):,} answers of EVOUNA: {sum(old)} old, {sum(ours)} ragmeter")
    exact_old = sum(row.answer.strip().lower() == row.reference.strip().lower() for row in rows)
    exact_ours = sum(is_same_answer(row.answer, row.reference) for row in rows)
    print(f"CRAG  exact matches of the same: {exact_old} old, {exact_ours} ragmeter")
    people = load(ROOT / "tests" / "data" / "evouna_people.jsonl.gz")
    turns = [Turn(correct=bool(row["correct"]), miss=is_miss(row["answer"]) and not row["correct"]) for row in people]
    accuracy, missing = np.mean([turn.correct is True for turn in turns]), np.mean([turn.miss for turn in turns])
    print(f"CRAG  {len(turns):,} verdicts of people on ChatGPT: accuracy {accuracy:.4f}, missing {missing:.4f}")
    for length in (3, 5):
        after = scores([turns[begin : begin + length] for begin in range(0, len(turns), length)])
        print(f"CRAG  as conversations of {length}, by the rule: {after['accuracy']:.4f}, {after['missing']:.4f}")
    lost = [place % 20 == 0 for place in range(len(turns))]
    counted_wrong = np.mean([turn.correct is True and not gone for turn, gone in zip(turns, lost, strict=True)])
    left = [turn for turn, gone in zip(turns, lost, strict=True) if not gone]
    unscored = np.mean([turn.correct is True for turn in left])
    print(
        f"CRAG  one of 20 judge calls fails: accuracy {counted_wrong:.4f} old, {unscored:.4f} of {len(left):,} ragmeter"
    )


if __name__ == "__main__":
    parts = {"edit": edit, "recall": recall, "web": web, "service": service, "crag": crag}
    for part in sys.argv[1:] or parts:
        parts[part]()
