"""Files of other tools: under which names and paths they have what the table needs.

A name alone may mean two things (`context` is what was retrieved, but the ideal context in DeepEval's files): so a tool
is known by several of its names together, and a line says what was read as what.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ragmeter.io.paths import decoded, split_path, value_at
from ragmeter.table import LIST_COLUMNS, Batch

#: Given titles that mean something else, the title of each of the table's columns that is known by its title.
Recognise = Callable[[frozenset[str]], Mapping[str, str]]
#: So many rows are looked at to see whether a path leads anywhere.
_LOOKED_AT = 200
QUESTION_KEYS = ("question", "query", "input", "user_input", "prompt", "text")
ANSWER_KEYS = ("answer", "output", "response", "generated_answer", "result", "text", "content")
_GOLD_KEYS = ("reference", "expected", "expected_answer", "expected_output", "expected_response", "ground_truth")
_CONTEXT_KEYS = ("contexts", "context", "retrieved_contexts", "documents", "source_documents", "retrieved_docs")


def _under(container: str, keys: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"{container}.{key}" for key in keys)


@dataclass(frozen=True)
class Tool:
    """A tool whose files are known by some of their titles.

    `paths` are candidates for each of the table's columns: the first that leads to a value is taken. `of_reference`
    replace them in a reference file. `not_meant` are titles that mean something else here, and why.
    """

    name: str
    known_by: tuple[frozenset[str], ...]
    paths: Mapping[str, tuple[str, ...]]
    of_reference: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    not_meant: Mapping[str, str] = field(default_factory=dict)

    def paths_in(self, role: str) -> Mapping[str, tuple[str, ...]]:
        """The paths for a file with this role."""
        return self.of_reference if role == "reference" and self.of_reference else self.paths


_CONTAINERS = {
    "question": (*_under("inputs", QUESTION_KEYS), "inputs"),
    "answer": (*_under("outputs", ANSWER_KEYS), "outputs", "predictions"),
    "contexts": (*_under("outputs", _CONTEXT_KEYS), "retrieved_context"),
    "retrieved": ("outputs.retrieved", "outputs.retrieved_ids", "outputs.doc_ids", "retrieved_doc_ids"),
    "reference": (
        *_under("reference_outputs", (*_GOLD_KEYS, *ANSWER_KEYS)),
        *_under("expectations", (*_GOLD_KEYS, *ANSWER_KEYS)),
        "reference_outputs",
        "targets",
        "ground_truth",
    ),
}
_EXAMPLES = {
    "question": _CONTAINERS["question"],
    "reference": (*_CONTAINERS["reference"], *_under("outputs", (*_GOLD_KEYS, *ANSWER_KEYS)), "outputs"),
}
_INPUT_OUTPUT = {"question": ("input.question", "input.query", "input"), "answer": ("output.answer", "output")}

TOOLS = (
    Tool(
        "promptfoo's results",
        (frozenset({"vars", "response"}), frozenset({"vars", "testCase"})),
        {
            "question": _under("vars", QUESTION_KEYS),
            "answer": ("response.output.answer", "response.output", "output"),
            "reference": _under("vars", (*_GOLD_KEYS, "answer")),
            "contexts": (*_under("response.metadata", _CONTEXT_KEYS), *_under("vars", _CONTEXT_KEYS)),
            "error": ("response.error",),
            "latency_ms": ("latencyMs",),
            "system_name": ("provider.id", "provider"),
        },
        not_meant={"error": "an assertion that failed, too", "response": "an object"},
    ),
    Tool(
        "Phoenix's questions and answers",
        (frozenset({"input", "output", "reference", "context.span_id"}),
         frozenset({"input", "output", "reference", "context.trace_id"})),
        {"question": ("input",), "answer": ("output",), "contexts": ("reference",)},
        not_meant={"reference": "what was retrieved"},
    ),
    Tool(
        "DeepEval's test cases",
        (frozenset({"actual_output"}), frozenset({"retrieval_context"}), frozenset({"input", "expected_output"}),
         frozenset({"actualOutput"}), frozenset({"input", "expectedOutput"})),
        {
            "question": ("input",),
            "answer": ("actual_output", "actualOutput"),
            "reference": ("expected_output", "expectedOutput"),
            "contexts": ("retrieval_context", "retrievalContext"),
        },
        {"question": ("input",), "reference": ("expected_output", "expectedOutput")},
        not_meant={"context": "the ideal context, not what was retrieved"},
    ),
    Tool(
        "LangSmith's examples",
        (frozenset({"inputs", "outputs", "dataset_id"}),),
        _EXAMPLES,
        _EXAMPLES,
    ),
    Tool(
        "LangSmith's or MLflow's inputs and outputs",
        (frozenset({"inputs", "outputs"}), frozenset({"inputs", "predictions"}), frozenset({"inputs", "expectations"})),
        _CONTAINERS,
        _EXAMPLES,
    ),
    Tool(
        "MLflow's requests and responses",
        (frozenset({"request", "response"}), frozenset({"request", "expected_response"})),
        {
            "question": (*_under("request", QUESTION_KEYS), "request.messages[0].content", "request"),
            "answer": (*_under("response", ANSWER_KEYS), "response.choices[0].message.content", "response"),
            "reference": ("expected_response",),
            "contexts": ("retrieved_context",),
            "relevant": ("expected_retrieved_context",),
        },
    ),
    Tool(
        "inputs and outputs",
        (frozenset({"input", "output"}), frozenset({"input", "expected"})),
        {**_INPUT_OUTPUT, "reference": (*_under("expected", ANSWER_KEYS), *_GOLD_KEYS, "expectedOutput", "ideal")},
        {"question": _INPUT_OUTPUT["question"], "reference": (*_GOLD_KEYS, "expectedOutput", "ideal", "output")},
    ),
    Tool(
        "SQuAD's answers",
        (frozenset({"question", "answers"}),),
        {"reference": ("answers.text", "answers")},
        {"reference": ("answers.text", "answers")},
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Known:
    """How a tool's file is read: paths for columns of the table, and titles that no alias is looked up for."""

    mapping: Mapping[str, str] = field(default_factory=dict)
    not_meant: frozenset[str] = frozenset()
    note: str = ""


def known_file(batch: Batch, role: str, given: Mapping[str, str], recognised: Recognise) -> Known:
    """What the titles of a file's first rows say. `given` is the user's mapping, which comes first.

    `recognised` gives the titles that are known by themselves, by the table's names: most need no path.
    """
    tool = _tool(batch.columns)
    if tool is None:
        return Known()
    not_meant = {
        title: why for title, why in tool.not_meant.items() if title in batch.columns and title not in given.values()
    }
    titles = recognised(frozenset(not_meant))
    mapping = {}
    for name, paths in tool.paths_in(role).items():
        if name in given or titles.get(name, "") not in {"", *map(head, paths)}:
            continue
        path = next((path for path in paths if leads_to_value(batch, path, name)), None)
        if path is not None:
            mapping[name] = path
    pairs = ", ".join(f"{name}={path}" for name, path in mapping.items())
    reasons = [f"{title!r} is {why}" for title, why in not_meant.items() if title not in mapping.values()]
    note = "; ".join((f"read as {tool.name}: {pairs}", *reasons)) if pairs else ""
    return Known(mapping, frozenset(not_meant), note)


def heads_of(titles: Collection[str], role: str) -> set[str]:
    """The columns that a tool's paths begin with, where the titles are a tool's."""
    tool = _tool(titles)
    return set() if tool is None else {head(path) for paths in tool.paths_in(role).values() for path in paths}


def head(path: str) -> str:
    """The column that a path of a tool begins with."""
    return path.partition(".")[0].partition("[")[0]


def _tool(titles: Collection[str]) -> Tool | None:
    present = set(titles)
    return next((tool for tool in TOOLS if any(names <= present for names in tool.known_by)), None)


def leads_to_value(batch: Batch, path: str, name: str) -> bool:
    """Whether a path leads to a value that this column may have, in one of the first rows."""
    parts = split_path(path, list(batch.columns))
    if parts is None:
        return False
    values = (value_at(value, parts[1]) for value in batch.columns[parts[0]][:_LOOKED_AT])
    return any(value is not None and _may_be(value, name) for value in values)


def _may_be(value: Any, name: str) -> bool:
    if name in ("contexts", "relevant"):
        return True
    value = decoded(value)
    if isinstance(value, Mapping):
        return False
    return name in LIST_COLUMNS or not isinstance(value, list | tuple)
