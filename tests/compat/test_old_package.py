"""Evaluators of the package that ragmeter replaces, while it can still be imported: a small one of the same form."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = {
    "evaluators/__init__.py": "",
    "evaluators/basic_evaluator/__init__.py": "",
    "evaluators/context_recall/__init__.py": "from evaluators.context_recall.evaluator import ContextRecall\n",
    "systems/__init__.py": "",
    "services/__init__.py": "",
    "systems/rag_result.py": """
from dataclasses import dataclass

@dataclass
class RAGResult:
    question: str
    answer: str
    context: list
    doc_ids: list
    total_time_ms: float
    qid: str = None
""",
    "services/ds_data_morgana.py": """
from dataclasses import dataclass

@dataclass
class QAPair:
    question: str
    answer: str
    context: list
    question_categories: list
    user_categories: list
    document_ids: list
    qid: str = None
""",
    "evaluators/evaluation_result.py": """
from dataclasses import dataclass, field
from datetime import datetime

@dataclass
class EvaluationResultRow:
    qid: str
    metrics: dict
    evaluator_name: str

@dataclass
class EvaluationResult:
    metrics: dict
    evaluator_name: str
    sample_count: int
    system_name: str = None
    timestamp: datetime = field(default_factory=datetime.now)
    rows: list = None
    total_time_ms: float = None
    total_cost: float = None
    system_analysis: object = None
""",
    "evaluators/basic_evaluator/edit_distance_evaluator.py": """
from evaluators.evaluation_result import EvaluationResult, EvaluationResultRow
from services.ds_data_morgana import QAPair
from systems.rag_result import RAGResult

class EditDistanceEvaluator:
    def __init__(self, normalize: bool = True):
        self.normalize = normalize

    def evaluate(self, rag_results: list[RAGResult], references: list[QAPair]) -> EvaluationResult:
        by_qid = {pair.qid: pair for pair in references}
        rows = []
        for result in rag_results:
            assert result.answer_words_count == len(result.answer.split()), result
            assert result.context + [] == list(result.context), result
            assert result.generated_queries == ["one", "two"], result
            pair = by_qid[result.qid]
            distance = abs(len(pair.answer) - len(result.answer))
            rows.append(EvaluationResultRow(qid=result.qid, metrics={"distance": distance}, evaluator_name="Old"))
        return EvaluationResult(
            metrics={"normalize": self.normalize, "categories": references[0].question_categories[0]["category_name"],
                     "users": len(references[0].user_categories), "gold": references[0].context,
                     "time": rag_results[0].total_time_ms, "moment": rag_results[0].timestamp.year},
            evaluator_name=self.__class__.__name__, sample_count=len(rows), rows=rows, total_time_ms=1.5,
        )
""",
    "evaluators/context_recall/evaluator.py": """
from evaluators.evaluation_result import EvaluationResult

class ContextRecall:
    def evaluate(self, rag_results, references):
        hits = [len(set(result.doc_ids) & set(pair.document_ids)) for result, pair in zip(rag_results, references)]
        return EvaluationResult({"hits": sum(hits)}, "ContextRecall", len(hits), system_name=rag_results[0].system_name)
""",
}
RESULTS = (
    "qid\tquestion\tanswer\tcontext\tdoc_ids\ttotal_time_ms\ttimestamp\tgenerated_queries\n"
    '1\tq\tone two\t["c"]\t["d1"]\t12.5\t2025-04-20T23:37:01\t["one", "two"]\n'
)
REFERENCE = (
    "qid\tquestion\tanswer\tcontext\tdocument_ids\tquestion_factuality\tuser_expertise\tquestion_length\n"
    "1\tq\tthree\t['gold one', 'gold two']\t['d1']\tfactoid\tnovice\t1\n"
)


@pytest.fixture
def old(tmp_path: Path) -> Path:
    for name, code in PACKAGE.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(code)
    (tmp_path / "nq_Old.tsv").write_text(RESULTS)
    (tmp_path / "reference.tsv").write_text(REFERENCE)
    return tmp_path


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """In a process of its own: nothing of the package stays behind."""
    files = ["--results", "nq_Old.tsv", "--reference", "reference.tsv"]
    command = [sys.executable, "-m", "ragmeter", "evaluate", *files, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)


def test_the_old_dotted_paths_while_the_old_package_is_there(old: Path) -> None:
    distance = "evaluators.basic_evaluator.edit_distance_evaluator.EditDistanceEvaluator"
    recall = "evaluators.context_recall.ContextRecall"
    done = run(old, "--evaluator", distance, recall, "--no-normalize", "--json")
    assert done.returncode == 0, done.stderr
    first, second = json.loads(done.stdout)
    assert (first["evaluator_name"], first["sample_count"], first["normalize"]) == ("EditDistanceEvaluator", 1, False)
    assert (first["categories"], first["users"], first["gold"]) == ("factoid", 1, ["gold one", "gold two"])
    assert (first["time"], first["moment"], first["total_time_ms"]) == (12.5, 2025, 1.5)
    assert (second["hits"], second["system_name"], second["sample_count"]) == (1, "nq_Old", 1)
    folder = old / "data" / "evaluation_results"
    with (folder / "nq_Old.EditDistanceEvaluator.evaluation.rows.tsv").open(newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert rows == [{"qid": "1", "evaluator_name": "Old", "is_aggregated": "False", "distance": "2"}]
    with (folder / "nq_Old.EditDistanceEvaluator.evaluation.aggregated.tsv").open(newline="") as file:
        (row,) = csv.DictReader(file, delimiter="\t")
    assert list(row)[:6] == [
        "evaluator_name", "sample_count", "system_name", "timestamp", "is_aggregated", "total_time_ms",
    ]  # fmt: skip


def test_a_file_without_documents_gives_an_old_evaluator_empty_lists(old: Path) -> None:
    (old / "nq_Old.tsv").write_text("qid\tanswer\n1\ta\n")
    (old / "reference.tsv").write_text("qid\tanswer\n1\tb\n")
    done = run(old, "--evaluator", "evaluators.context_recall.evaluator.ContextRecall", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)[0]["hits"] == 0
