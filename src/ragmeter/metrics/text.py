"""Metrics that compare an answer's text with a reference's. With several references, the best score counts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from rapidfuzz import process
from rapidfuzz.distance import LCSseq, Levenshtein

from ragmeter import kernel
from ragmeter.definition import column, metric
from ragmeter.io.normal_form import normalized
from ragmeter.kernel.pairs import alignments, distances, subsequences, terms
from ragmeter.kernel.words import may_be_same, may_change_in_nfc
from ragmeter.metrics.bags import Bags, Ids, Sides, ranges, share
from ragmeter.metrics.normalize import Language, fold, strip_accents
from ragmeter.metrics.splitting import TABLES, text_array
from ragmeter.metrics.tokens import Tokens
from ragmeter.table import Scores, cells_at

#: Smooth idf over two documents of a term that occurs in only one of them; a term in both has weight 1.
_RARE = math.log(3 / 2) + 1

_SURROGATES, _LAST_CODE_POINT = (0xD800, 0xE000), 0x10FFFF


@column
def edits(reference: Sequence[str], answer: Sequence[str]) -> Ids:
    """The Levenshtein distance of each pair, after NFC."""
    distances = _compiled_distances(reference, answer)
    left = np.flatnonzero(distances < 0).tolist()
    if left:
        pairs = (_nfc([side[pair] for pair in left]) for side in (reference, answer))
        distances[left] = process.cpdist(*pairs, scorer=Levenshtein.distance, dtype=np.int64, workers=1)
    return distances


@column
def longest(reference: Sequence[str], answer: Sequence[str]) -> Ids:
    """The length of the longer text of each pair, in characters after NFC."""
    lengths = [np.fromiter(map(len, _nfc(side)), np.int64, len(side)) for side in (reference, answer)]
    return np.maximum(*lengths)


@column
def lcs(stems: Sides) -> Ids:
    """The length of the longest common subsequence of the stems of each pair."""
    lengths = subsequences(stems.ids, stems.starts) if kernel.library() else np.full(stems.pairs, -1)
    left = np.flatnonzero(lengths < 0).tolist()
    if left:
        texts = _as_sequences(stems)
        pairs = ([side[pair] for pair in left] for side in (texts[: stems.pairs], texts[stems.pairs :]))
        lengths[left] = process.cpdist(*pairs, scorer=LCSseq.similarity, dtype=np.int64, workers=1)
    return lengths


@column
def identical(reference: Sequence[str], answer: Sequence[str], tokens: Tokens) -> npt.NDArray[np.bool_]:
    """Whether the two texts of each pair are the same in their plain form: folded, without accents, with single spaces.

    Only texts with the same number of words are compared; an accent of its own, which may be a word, does not count.
    """
    sides = tokens.sides
    is_candidate = sides.reference_lengths == sides.answer_lengths
    if tokens.has_marks is not None:
        is_candidate |= tokens.has_marks[: sides.pairs] | tokens.has_marks[sides.pairs :]
    pairs = np.flatnonzero(is_candidate)
    first, second = cells_at(reference, pairs), cells_at(answer, pairs)
    if kernel.library():
        left = np.flatnonzero(may_be_same(text_array(first), text_array(second), TABLES))
        pairs, first, second = pairs[left], cells_at(first, left), cells_at(second, left)
    is_same = np.zeros(sides.pairs, bool)
    is_same[pairs] = [one == other or _are_same(one, other) for one, other in zip(first, second, strict=True)]
    return is_same


@metric(direction="lower", bounds=(0, math.inf))
def edit_distance(edits: Ids) -> Scores:
    """Levenshtein distance: the fewest single characters to insert, delete or replace to turn one text into the other.

    **Formula.** The minimum number of edits, each costing 1, between the two texts after Unicode NFC. Case, accents,
    punctuation and white space count.

    **Edge cases.** Both empty: 0. One empty: the length of the other.

    **Use it** for short texts that should be reproduced to the letter: codes, titles, extracted fields.
    **Not** for answers in free words: a right answer with a long explanation has a large distance.
    """
    return edits.astype(np.float64)


@metric(direction="lower")
def normalized_distance(edits: Ids, longest: Ids) -> Scores:
    """Edit distance as a share of the longer text: 0 is identical, 1 is entirely different.

    **Formula.** `edit_distance / max(len(reference), len(answer))`, lengths in characters after NFC.

    **Edge cases.** Both empty: 0. One empty: 1.

    **Use it** to compare edit distances across texts of different length.
    **Not** for answers in free words (see `edit_distance`).
    """
    return edits / np.maximum(longest, 1)


@metric(direction="higher", binary=True)
def exact_match(identical: npt.NDArray[np.bool_]) -> Scores:
    """1 if the texts are the same after normalisation, else 0.

    **Formula.** Equality after folding (NFC, case, quotes), without accents, with white space stripped at the ends and
    collapsed to single spaces inside. Punctuation counts.

    **Edge cases.** Both empty: 1. One empty: 0.

    **Use it** for questions with one short right answer.
    **Not** for answers in sentences: there it is almost always 0.
    """
    return identical.astype(np.float64)


@metric(direction="higher")
def token_f1(token_bags: Bags, identical: npt.NDArray[np.bool_]) -> Scores:
    """Harmonic mean of token precision and recall, duplicates counted (the SQuAD way).

    **Formula.** `2PR / (P + R)`, with `P = common / answer tokens` and `R = common / reference tokens`; a word that
    occurs twice in both texts counts twice. Tokens are folded words; no stemming, no article rule.

    **Edge cases.** Both empty: 1. No tokens on one side: 0; on neither (only punctuation): 1 if identical, else 0.

    **Use it** for short factual answers: it gives partial credit where exact match gives none.
    **Not** where word order or meaning decides: "A beat B" and "B beat A" score 1.
    """
    return share(2 * token_bags.overlap, token_bags.sides.pair_lengths, empty=identical)


@metric(direction="higher")
def token_precision(token_bags: Bags, identical: npt.NDArray[np.bool_]) -> Scores:
    """Share of the answer's tokens that occur in the reference, duplicates counted.

    **Formula.** `common / answer tokens`.

    **Edge cases.** Both empty: 1. No tokens on one side: 0; on neither (only punctuation): 1 if identical, else 0.

    **Use it** to see whether an answer adds words that the reference lacks.
    **Not** alone: an answer of one right word has precision 1.
    """
    return share(token_bags.overlap, token_bags.sides.answer_lengths, empty=identical)


@metric(direction="higher")
def token_recall(token_bags: Bags, identical: npt.NDArray[np.bool_]) -> Scores:
    """Share of the reference's tokens that occur in the answer, duplicates counted.

    **Formula.** `common / reference tokens`.

    **Edge cases.** Both empty: 1. No tokens on one side: 0; on neither (only punctuation): 1 if identical, else 0.

    **Use it** to see whether a long answer contains the reference, whatever else it says.
    **Not** alone: an answer that lists every word has recall 1.
    """
    return share(token_bags.overlap, token_bags.sides.reference_lengths, empty=identical)


@metric(direction="higher")
def rouge_l_score(lcs: Ids, stems: Sides, *, language: Language | None = None) -> Scores:
    """ROUGE-L: F-measure of the longest common subsequence of words.

    **Formula.** With `L` the length of the longest common subsequence: `2L / (reference words + answer words)`, the
    harmonic mean of `rouge_l_precision` and `rouge_l_recall`. With a language, words are stemmed first.

    **Edge cases.** No words on a side: 0, also when both are empty.

    **Use it** where the order of words should matter: summaries, steps, longer answers.
    **Not** for right answers in another order: they score low.
    """
    return share(2 * lcs, stems.pair_lengths)


@metric(direction="higher")
def rouge_l_precision(lcs: Ids, stems: Sides, *, language: Language | None = None) -> Scores:
    """ROUGE-L precision: the longest common subsequence as a share of the answer.

    **Formula.** `L / answer words` (see `rouge_l_score`).

    **Edge cases.** No words on a side: 0.

    **Use it** to see how much of an answer is the reference, in order. **Not** alone: short answers score high.
    """
    return share(lcs, stems.answer_lengths)


@metric(direction="higher")
def rouge_l_recall(lcs: Ids, stems: Sides, *, language: Language | None = None) -> Scores:
    """ROUGE-L recall: the longest common subsequence as a share of the reference.

    **Formula.** `L / reference words` (see `rouge_l_score`).

    **Edge cases.** No words on a side: 0.

    **Use it** to see whether a long answer contains the reference, in order. **Not** alone: long answers score high.
    """
    return share(lcs, stems.reference_lengths)


@metric(direction="higher")
def meteor_score(token_bags: Bags, stem_bags: Bags, *, language: Language | None = None) -> Scores:
    """METEOR: recall-weighted overlap of words and stems, with a penalty for different order.

    **Formula.** Words are matched exactly, then the rest by stem (with a language), the last occurrences first, as
    NLTK does. With `m` matches in `c` runs that are adjacent on both sides: `P = m / answer words`, `R = m / reference
    words`, `F = PR / (0.9 P + 0.1 R)`, and the score is `F (1 - 0.5 (c / m)^3)`. WordNet synonyms are not used.

    **Edge cases.** No match, or no words on a side: 0. An identical text of one word: 0.5, of ten: 0.9995; only very
    long identical texts come close to 1.

    **Use it** for longer answers where inflected forms should count, in any Snowball language.
    **Not** for one-word answers: the order penalty halves the score of a perfect one.
    """
    sides = token_bags.sides
    matches, runs = _alignment(token_bags, stem_bags)
    precision = share(matches, sides.answer_lengths)
    recall = share(matches, sides.reference_lengths)
    mean = share(precision * recall, 0.9 * precision + 0.1 * recall)
    return mean * (1 - 0.5 * share(runs, matches) ** 3)


@metric(direction="higher")
def cosine_similarity(stem_bags: Bags, *, language: Language | None = None) -> Scores:
    """Cosine of the TF-IDF vectors of the two texts, fitted on just these two.

    **Formula.** Raw term counts times smooth idf, `ln((1 + 2) / (1 + df)) + 1`, l2-normalised, as scikit-learn
    defines it: a term of both texts has weight 1, of one text 1.405. With a language, terms are stems.

    **Edge cases.** No words on a side: 0, also when both are empty.

    **Use it** as an overlap that ignores order and length. **Not** as a measure of meaning: with two documents the idf
    has little effect, and synonyms score 0. For meaning use an embedding.
    """
    dot, *squares, of_both, of_both_in_answer = _term_sums(stem_bags)
    norms = []
    for all_squares, shared in zip(squares, (of_both, of_both_in_answer), strict=True):
        norms.append(shared + _RARE**2 * (all_squares - shared))
    return np.minimum(share(dot, np.sqrt(norms[0] * norms[1])), 1.0)


@metric(direction="higher")
def average_score(
    cosine_similarity: Scores,
    rouge_l_score: Scores,
    exact_match: Scores,
    token_f1: Scores,
    meteor_score: Scores,
    *,
    language: Language | None = None,
) -> Scores:
    """Mean of cosine_similarity, rouge_l_score, exact_match, token_f1 and meteor_score.

    **Formula.** The plain mean of the five scores of the row.

    **Edge cases.** Those of the five: both texts empty gives 0.4.

    **Use it** for a first impression, as in earlier tools. **Not** to decide: the five are correlated, and exact match
    alone takes a fifth off every answer in free words. Read the single scores.
    """
    return (cosine_similarity + rouge_l_score + exact_match + token_f1 + meteor_score) / 5


def _are_same(first: str, second: str) -> bool:
    """Whether two texts are the same chunk by chunk; most differ in the first."""
    chunks, others = first.split(), second.split()
    return len(chunks) == len(others) and all(
        chunk == other or _plain(chunk) == _plain(other) for chunk, other in zip(chunks, others, strict=True)
    )


def _plain(chunk: str) -> str:
    return fold(chunk) if chunk.isascii() else strip_accents(fold(chunk.encode(errors="replace").decode()))


def _nfc(texts: Sequence[str]) -> list[str]:
    return [text if text.isascii() else normalized("NFC", text) for text in texts]


def _compiled_distances(reference: Sequence[str], answer: Sequence[str]) -> Ids:
    """The distances by the kernel, and -1 where it has none."""
    if kernel.library():
        with suppress(UnicodeEncodeError):  # lone surrogates
            return distances(_nfc_array(reference), _nfc_array(answer))
    return np.full(len(reference), -1)


def _nfc_array(texts: Sequence[str]) -> Any:
    """The texts in NFC as an Arrow array. Most are, and the kernel sees which may not be."""
    array = pa.array(texts, pa.large_string())
    in_doubt = cells_at(texts, np.flatnonzero(may_change_in_nfc(array)))
    if all(text == normalized("NFC", text) for text in in_doubt):
        return array
    return pa.array(_nfc(texts), pa.large_string())


def _as_sequences(stems: Sides) -> list[Any]:
    """Each text's stems as a string with a character for each stem: rapidfuzz is fastest on strings."""
    ids = stems.ids
    first, after = _SURROGATES
    if len(ids) and int(ids.max()) > _LAST_CODE_POINT - (after - first):
        ids = np.unique(ids, return_inverse=True)[1]
        if int(ids.max()) > _LAST_CODE_POINT - (after - first):  # more distinct words than there are characters
            return [ids[begin:end].tolist() for begin, end in pairwise(stems.starts.tolist())]
    code_points = np.where(ids < first, ids, ids + (after - first)).astype("<u4")
    text = code_points.tobytes().decode("utf-32-le")
    return [text[begin:end] for begin, end in pairwise(stems.starts.tolist())]


def _term_sums(stem_bags: Bags) -> Iterable[Scores]:
    """Sums over each pair's distinct stems: see `kernel.pairs.terms`."""
    if kernel.library():
        return terms(stem_bags.sides.ids, stem_bags.sides.starts).T.astype(np.float64)
    reference, answer = stem_bags.reference_counts, stem_bags.answer_counts
    dot, squares = reference * answer, (reference * reference, answer * answer)
    return map(stem_bags.per_pair, (dot, *squares, *(square * (dot > 0) for square in squares)))


def _alignment(token_bags: Bags, stem_bags: Bags) -> tuple[Ids, Ids]:
    """How many words of each pair are matched, and in how many runs that are adjacent on both sides."""
    sides = token_bags.sides
    if kernel.library():
        return alignments(sides.ids, stem_bags.sides.ids, sides.starts)
    partner = _partners(token_bags, stem_bags)
    places = np.flatnonzero(partner >= 0)  # the matched words of all answers, in the order of the texts
    pair = sides.pair_of_item[places]
    adjacent = (np.diff(places) == 1) & (np.diff(partner[places]) == 1) & (np.diff(pair) == 0)
    begins = np.concatenate([np.ones(min(1, len(places)), dtype=bool), ~adjacent])
    return np.bincount(pair, minlength=sides.pairs), np.bincount(pair[begins], minlength=sides.pairs)


def _partners(token_bags: Bags, stem_bags: Bags) -> Ids:
    """The reference's item that each of an answer's items is matched with, by word, then by stem; -1 for none."""
    partner = np.full(len(token_bags.sides.ids), -1)
    words_in_both = np.flatnonzero((token_bags.reference_counts > 0) & (token_bags.answer_counts > 0))
    reference, answer = _last_matches(token_bags, words_in_both)
    partner[answer] = reference
    more = stem_bags.overlap > token_bags.overlap  # in these pairs there are matches by stem
    if more.any():
        matched = partner >= 0
        matched[reference] = True
        in_both = (stem_bags.reference_counts > 0) & (stem_bags.answer_counts > 0) & more[stem_bags.pair]
        reference, answer = _last_matches(stem_bags, np.flatnonzero(in_both), without=matched)
        partner[answer] = reference
    return partner


def _last_matches(bags: Bags, groups: Ids, without: npt.NDArray[np.bool_] | None = None) -> tuple[Ids, Ids]:
    """Equal items of both sides, paired from the last backwards: their places in the references and in the answers."""
    order, firsts = bags.order, bags.firsts[groups]
    references, answers = bags.reference_counts[groups], bags.answer_counts[groups]
    if without is not None:
        order = order[ranges(firsts, references + answers)]
        is_left = ~without[order]
        before = np.concatenate([[0], np.cumsum(is_left)])
        ends = np.cumsum(references + answers)
        middles = ends - answers
        firsts = middles - references
        references, answers = before[middles] - before[firsts], before[ends] - before[middles]
        order, firsts = order[is_left], before[firsts]
    matches = np.minimum(references, answers)
    middles = firsts + references
    return order[ranges(middles - matches, matches)], order[ranges(middles + answers - matches, matches)]
