"""Titles of columns: what a column may be called in a file, by the file's role.

In a reference file `answer` is the gold answer, in a results file it is the system's answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from ragmeter.errors import ColumnError
from ragmeter.hints import column_option
from ragmeter.io.cells import as_text
from ragmeter.table import NAMED_COLUMNS

Role = Literal["both", "results", "reference"]

_GOLD_ANSWER = (
    "reference", "references", "ground_truth", "ground_truths", "golden_answer", "golden_answers", "gold_answer",
    "gold_answers", "gt_answer", "reference_answer", "expected_answer", "expected_output", "ans_full",
    "respuesta_esperada", "respuesta_correcta", "respuesta_de_referencia",
)  # fmt: skip
_GOLD_DOCUMENTS = (
    "relevant", "relevant_ids", "gold_doc_ids", "gold_document_ids", "golden_doc_ids", "gold_docs",
    "reference_context_ids", "gold_documents",
)  # fmt: skip
_RETRIEVED_DOCUMENTS = (
    "retrieved", "retrieved_ids", "retrieved_doc_ids", "retrieved_document_ids", "retrieved_docs",
    "retrieved_context_ids", "sources",
)  # fmt: skip
#: Titles that are known only where no other title of a file is: they may be columns of the user's own.
_WEAK = frozenset({"pregunta", "respuesta", "respuesta_esperada", "respuesta_correcta", "respuesta_de_referencia"})
#: The same, of columns of documents or passages; known only where the cells are lists of such.
_WEAK_LISTS = frozenset({"gold_documents", "sources", "chunks"})
_SHARED = {
    "qid": ("qid", "question_id", "query_id", "interaction_id", "id"),
    "question": ("question", "query", "user_input", "pregunta"),
    "session_id": ("session_id",),
    "reference_claims": ("reference_claims", "gt_answer_claims"),
    "expected_tool_calls": ("expected_tool_calls", "reference_tool_calls", "expected_tools"),
}
_OF_RESULTS = {
    "answer": (
        "answer",
        "generated_answer",
        "actual_response",
        "agent_response",
        "response",
        "prediction",
        "actual_output",
        "respuesta",
    ),
    "contexts": ("contexts", "retrieved_contexts", "retrieved_context", "retrieval_context", "context", "chunks"),
    "error": ("error",),
    "system_name": ("system_name", "system"),
    "latency_ms": ("latency_ms", "total_time_ms"),
    "time_to_first_token_ms": ("time_to_first_token_ms",),
    "tool_calls": ("tool_calls", "tools_called"),
    "claims": ("claims", "response_claims"),
    "support_by_reference": ("support_by_reference", "answer2response"),
    "support_by_passages": ("support_by_passages", "retrieved2response"),
    "reference_support_by_answer": ("reference_support_by_answer", "response2answer"),
    "reference_support_by_passages": ("reference_support_by_passages", "retrieved2answer"),
}
_ALIASES: dict[Role, dict[str, tuple[str, ...]]] = {
    "both": _SHARED
    | _OF_RESULTS
    | {
        "reference": _GOLD_ANSWER,
        "relevant": (*_GOLD_DOCUMENTS, "document_ids"),
        "retrieved": (*_RETRIEVED_DOCUMENTS, "doc_ids"),
    },
    "results": _SHARED | _OF_RESULTS | {"retrieved": (*_RETRIEVED_DOCUMENTS, "doc_ids", "document_ids")},
    "reference": _SHARED
    | {"reference": (*_GOLD_ANSWER, "answer", "respuesta"), "relevant": (*_GOLD_DOCUMENTS, "document_ids", "doc_ids")},
}
#: Titles that often mean a column and are never taken for it without a word of the user's: they are proposed.
_LIKELY = {
    "question": "prompt, input, inputs, instruction, user_question, user_query, user_message, utterance, request, q",
    "answer": "output, outputs, model_output, model_answer, model_response, system_answer, system_output, completion, "
    "generation, generated, generated_text, generated_response, predicted, predicted_answer, pred, reply, bot_answer, "
    "bot_response, chatbot_answer, llm_answer, llm_output, llm_response, rag_answer, rag_response, hypothesis",
    "reference": "gold, golden, gold_standard, target, targets, expected, expected_response, truth, gt, ideal, "
    "ideal_answer, correct_answer, best_answer, true_answer, right_answer, reference_output, reference_response",
    "contexts": "ctxs, ctx, passages, passage, documents, docs, snippets, evidence, retrieved_passages, "
    "retrieved_documents, retrieved_texts, retrieved_chunks, source_documents",
    "relevant": "gold_ids, relevant_docs, relevant_documents, positives, positive_ids, qrels, "
    "expected_ids, expected_docs",
    "retrieved": "hits, ranking, context_ids, chunk_ids, passage_ids, result_ids, top_k_ids",
}
_LIKELY_TITLES = {other.replace("_", ""): name for name, others in _LIKELY.items() for other in others.split(", ")}
#: The columns that a title may be mapped to.
MAPPED_COLUMNS = tuple(_ALIASES["both"])
_TEXTS = ("question", "reference", "answer")
#: A column with one of these titles has a list in every cell. Under other titles a gold answer may be a text.
PLURAL = frozenset({"references", "ground_truths", "golden_answers", "gold_answers"})


def text_column(title: str) -> str | None:
    """The table's question, reference or answer, by a title that such a column may have; None for any other."""
    return next((name for name in _TEXTS if title in titles_of(name)), None)


def titles_of(name: str) -> tuple[str, ...]:
    """The titles that the table's question, reference or answer may have; none for another column."""
    return tuple(title for title in _ALIASES["both"].get(name, ()) if name in _TEXTS and title not in PLURAL)


def by_alias(titles: Sequence[str], role: Role) -> dict[str, str]:
    """The first title that is known by itself, for each of the table's columns that has one."""
    titles_by_alias = {alias(title): title for title in reversed(titles)}
    matches = {
        name: _meant(name, [titles_by_alias[other] for other in aliases if other in titles_by_alias])
        for name, aliases in _ALIASES[role].items()
    }
    return {name: present[0] for name, present in matches.items() if present}


def likely_titles(titles: Sequence[str]) -> dict[str, str]:
    """For each of the table's columns that none of these titles is known to be, the first that is likely to mean it."""
    known = by_alias(titles, "both")
    likely: dict[str, str] = {}
    for title in titles:
        name = _LIKELY_TITLES.get(alias(title).replace("_", ""))
        if name is not None and name not in known:
            likely.setdefault(name, title)
    return {name: likely[name] for name in _LIKELY if name in likely}


def is_title(text: str) -> bool:
    """Whether a column of this title is known."""
    known = alias(text)
    return known not in _WEAK_LISTS and any(known in own for names in _ALIASES.values() for own in names.values())


def weak_lists(titles: Sequence[str], role: Role) -> dict[str, str]:
    """The titles that are known only where their cells are lists of documents or passages, with the table's names."""
    weak = {title: alias(title) for title in titles if alias(title) in _WEAK_LISTS}
    names = {other: name for name, aliases in _ALIASES[role].items() for other in aliases}
    return {title: names[other] for title, other in weak.items() if other in names}


def recognise(
    titles: Sequence[str],
    role: Role,
    mapping: Mapping[str, str],
    file: str,
    not_meant: frozenset[str] = frozenset(),
) -> dict[str, str]:
    """The table's name for each title of a file: by the user's mapping, then by the aliases, without those `not_meant`.

    Other columns keep their own title, unless the table uses that name for something else.
    """
    names: dict[str, str] = {}
    mapped = {title for name, title in mapping.items() if name in _ALIASES[role]} | not_meant
    known: dict[str, list[str]] = {}
    for other in titles:
        if other not in mapped:
            known.setdefault(alias(other), []).append(other)
    for name, aliases in _ALIASES[role].items():
        title = mapping.get(name)
        if title is not None and title in titles:
            names[title] = name
        else:  # of two files, only one may have the title in the mapping
            present = _meant(name, [own for other in aliases for own in known.get(other, ())])
            if len(present) > 1:
                raise ColumnError(
                    f"{' and '.join(map(repr, present))} could each be the {name}",
                    file=file,
                    hint=f"say which one: {column_option(name, present[0])}",
                )
            if present:
                names.setdefault(present[0], name)
    taken = set(names.values())
    for title in titles:
        if title not in names:
            own = as_text(title) or "unnamed"
            names[title] = own if own not in taken and own not in NAMED_COLUMNS else f"{role}.{own}"
    return {title: names[title] for title in titles}


def _meant(name: str, titles: list[str]) -> list[str]:
    """The titles that are meant for a column: its own name, or else its name in other letters."""
    own = [title for title in titles if title == name] or [title for title in titles if alias(title) == name]
    return own or [title for title in titles if alias(title) not in _WEAK | _WEAK_LISTS] or titles


def alias(title: str) -> str:
    """A title in the form of the aliases: `Ground Truth` is `ground_truth`."""
    return title.strip().casefold().replace(" ", "_").replace("-", "_")
