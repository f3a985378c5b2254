"""ragmeter measures retrieval-augmented generation: fast, offline, with its uncertainty."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

__all__ = [
    "BaseScorer", "CRAGEvaluator", "Calibration", "Cascade", "ChatReply", "Comparison", "ContextRecall",
    "CosineScorer", "CosineSimilarityScorer", "EditDistanceEvaluator", "Evaluation", "EvaluationManager",
    "EvaluationResult", "EvaluationResultRow", "EvaluatorInterface", "ExactMatchScorer", "F1Scorer", "Failed",
    "FakeProvider", "Judge", "LLMJudge", "MeteorScorer", "Metric", "QAPair", "RAGResult", "ResponseEvaluator",
    "RougeLScorer", "RougeScorer", "Run", "TokenF1Scorer", "WebInterface", "add_metrics", "ask",
    "calibrate", "choose_sample", "clean_text", "column", "compare", "convert_domain_indices_to_names", "evaluate",
    "explain", "export", "gate", "get_metric", "list_documents", "list_metrics", "metric", "open_target", "prefer",
    "prepare_feature_vocabularies", "repeats", "report", "score_table", "watch",
]  # fmt: skip

#: Where the public names are. Nothing is imported before it is used, so that `import ragmeter` is fast.
_MODULES = {
    "ragmeter.analysis.comparing": "Comparison compare",
    "ragmeter.analysis.document_list": "list_documents",
    "ragmeter.analysis.explanation": "explain",
    "ragmeter.analysis.gating": "gate",
    "ragmeter.analysis.metric_list": "list_metrics",
    "ragmeter.analysis.people.calibration": "Calibration calibrate",
    "ragmeter.analysis.people.sample": "choose_sample",
    "ragmeter.analysis.preferences": "prefer",
    "ragmeter.analysis.repeats": "repeats",
    "ragmeter.analysis.watching": "watch",
    "ragmeter.compat.base": "EvaluatorInterface",
    "ragmeter.compat.context_recall": "ContextRecall",
    "ragmeter.compat.crag.dataset_utils": "clean_text convert_domain_indices_to_names prepare_feature_vocabularies",
    "ragmeter.compat.crag.evaluator": "CRAGEvaluator",
    "ragmeter.compat.crag.llm_judge": "LLMJudge",
    "ragmeter.compat.edit_distance": "EditDistanceEvaluator",
    "ragmeter.compat.objects": "EvaluationResult EvaluationResultRow QAPair RAGResult",
    "ragmeter.compat.response": "ResponseEvaluator",
    "ragmeter.compat.web": (
        "CosineScorer CosineSimilarityScorer EvaluationManager ExactMatchScorer F1Scorer MeteorScorer RougeLScorer "
        "RougeScorer TokenF1Scorer WebInterface"
    ),
    "ragmeter.definition": "Metric column metric",
    "ragmeter.engine.ask": "ask",
    "ragmeter.engine.evaluation": "add_metrics evaluate",
    "ragmeter.engine.results": "Evaluation",
    "ragmeter.engine.tables": "score_table",
    "ragmeter.judges.asking.cascade": "Cascade",
    "ragmeter.judges.asking.judge": "Judge",
    "ragmeter.models.fake": "FakeProvider",
    "ragmeter.models.port": "ChatReply",
    "ragmeter.registry": "BaseScorer get_metric",
    "ragmeter.runs.run": "Run",
    "ragmeter.show.exports.export": "export",
    "ragmeter.show.report.report": "report",
    "ragmeter.table": "Failed",
    "ragmeter.targets.opening": "open_target",
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names.split()}
#: Those that have another name there.
_RENAMED = {"get_metric": "get"}

if TYPE_CHECKING:
    from ragmeter.analysis.comparing import Comparison, compare
    from ragmeter.analysis.document_list import list_documents
    from ragmeter.analysis.explanation import explain
    from ragmeter.analysis.gating import gate
    from ragmeter.analysis.metric_list import list_metrics
    from ragmeter.analysis.people.calibration import Calibration, calibrate
    from ragmeter.analysis.people.sample import choose_sample
    from ragmeter.analysis.preferences import prefer
    from ragmeter.analysis.repeats import repeats
    from ragmeter.analysis.watching import watch
    from ragmeter.compat.base import EvaluatorInterface
    from ragmeter.compat.context_recall import ContextRecall
    from ragmeter.compat.crag.dataset_utils import (
        clean_text,
        convert_domain_indices_to_names,
        prepare_feature_vocabularies,
    )
    from ragmeter.compat.crag.evaluator import CRAGEvaluator
    from ragmeter.compat.crag.llm_judge import LLMJudge
    from ragmeter.compat.edit_distance import EditDistanceEvaluator
    from ragmeter.compat.objects import EvaluationResult, EvaluationResultRow, QAPair, RAGResult
    from ragmeter.compat.response import ResponseEvaluator
    from ragmeter.compat.web import (
        CosineScorer,
        CosineSimilarityScorer,
        EvaluationManager,
        ExactMatchScorer,
        F1Scorer,
        MeteorScorer,
        RougeLScorer,
        RougeScorer,
        TokenF1Scorer,
        WebInterface,
    )
    from ragmeter.definition import Metric, column, metric
    from ragmeter.engine.ask import ask
    from ragmeter.engine.evaluation import add_metrics, evaluate
    from ragmeter.engine.results import Evaluation
    from ragmeter.engine.tables import score_table
    from ragmeter.judges.asking.cascade import Cascade
    from ragmeter.judges.asking.judge import Judge
    from ragmeter.models.fake import FakeProvider
    from ragmeter.models.port import ChatReply
    from ragmeter.registry import BaseScorer
    from ragmeter.registry import get as get_metric
    from ragmeter.runs.run import Run
    from ragmeter.show.exports.export import export
    from ragmeter.show.report.report import report
    from ragmeter.table import Failed
    from ragmeter.targets.opening import open_target


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module 'ragmeter' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), _RENAMED.get(name, name))


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
