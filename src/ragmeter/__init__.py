"""ragmeter measures retrieval-augmented generation: fast, offline, with its uncertainty."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

__all__ = [
    "BaseScorer",
    "CRAGEvaluator",
    "Calibration",
    "Cascade",
    "ChatReply",
    "Comparison",
    "ContextRecall",
    "CosineScorer",
    "CosineSimilarityScorer",
    "EditDistanceEvaluator",
    "Evaluation",
    "EvaluationManager",
    "EvaluationResult",
    "ExactMatchScorer",
    "F1Scorer",
    "Failed",
    "FakeProvider",
    "Judge",
    "LLMJudge",
    "MeteorScorer",
    "Metric",
    "QAPair",
    "RAGResult",
    "ResponseEvaluator",
    "RougeLScorer",
    "RougeScorer",
    "Run",
    "RunFolder",
    "TokenF1Scorer",
    "WebInterface",
    "add_metrics",
    "ask",
    "calibrate",
    "choose_sample",
    "clean_text",
    "column",
    "compare",
    "convert_domain_indices_to_names",
    "evaluate",
    "explain",
    "gate",
    "get_metric",
    "list_metrics",
    "metric",
    "open_target",
    "prefer",
    "prepare_feature_vocabularies",
    "report",
]

#: The module of each public name. Nothing is imported before it is used, so that `import ragmeter` is fast.
_HOMES = {
    "BaseScorer": "ragmeter.registry",
    "CRAGEvaluator": "ragmeter.compat.crag.evaluator",
    "Calibration": "ragmeter.analysis.people.calibration",
    "Cascade": "ragmeter.judges.cascade",
    "ChatReply": "ragmeter.judges.providers.port",
    "Comparison": "ragmeter.analysis.comparing",
    "ContextRecall": "ragmeter.compat.context_recall",
    "CosineScorer": "ragmeter.compat.web",
    "CosineSimilarityScorer": "ragmeter.compat.web",
    "EditDistanceEvaluator": "ragmeter.compat.edit_distance",
    "Evaluation": "ragmeter.engine.evaluation",
    "EvaluationManager": "ragmeter.compat.web",
    "EvaluationResult": "ragmeter.compat.objects",
    "ExactMatchScorer": "ragmeter.compat.web",
    "F1Scorer": "ragmeter.compat.web",
    "Failed": "ragmeter.table",
    "FakeProvider": "ragmeter.judges.providers.fake",
    "Judge": "ragmeter.judges.judge",
    "LLMJudge": "ragmeter.judges.judge",
    "MeteorScorer": "ragmeter.compat.web",
    "Metric": "ragmeter.definition",
    "QAPair": "ragmeter.compat.objects",
    "RAGResult": "ragmeter.compat.objects",
    "ResponseEvaluator": "ragmeter.compat.response",
    "RougeLScorer": "ragmeter.compat.web",
    "RougeScorer": "ragmeter.compat.web",
    "Run": "ragmeter.runs.run",
    "RunFolder": "ragmeter.runs.run",
    "TokenF1Scorer": "ragmeter.compat.web",
    "WebInterface": "ragmeter.compat.web",
    "add_metrics": "ragmeter.engine.evaluation",
    "ask": "ragmeter.engine.asking:ask_and_score",
    "calibrate": "ragmeter.analysis.people.calibration",
    "choose_sample": "ragmeter.analysis.people.sampling",
    "clean_text": "ragmeter.compat.crag.dataset_utils",
    "column": "ragmeter.definition",
    "compare": "ragmeter.analysis.comparing",
    "convert_domain_indices_to_names": "ragmeter.compat.crag.dataset_utils",
    "evaluate": "ragmeter.engine.evaluation",
    "explain": "ragmeter.analysis.explaining",
    "gate": "ragmeter.analysis.gating",
    "get_metric": "ragmeter.registry:get",
    "list_metrics": "ragmeter.analysis.listing",
    "metric": "ragmeter.definition",
    "open_target": "ragmeter.targets.opening",
    "prefer": "ragmeter.analysis.preferring",
    "prepare_feature_vocabularies": "ragmeter.compat.crag.dataset_utils",
    "report": "ragmeter.show.report.report",
}

if TYPE_CHECKING:
    from ragmeter.analysis.comparing import Comparison, compare
    from ragmeter.analysis.explaining import explain
    from ragmeter.analysis.gating import gate
    from ragmeter.analysis.listing import list_metrics
    from ragmeter.analysis.people.calibration import Calibration, calibrate
    from ragmeter.analysis.people.sampling import choose_sample
    from ragmeter.analysis.preferring import prefer
    from ragmeter.compat.context_recall import ContextRecall
    from ragmeter.compat.crag.dataset_utils import (
        clean_text,
        convert_domain_indices_to_names,
        prepare_feature_vocabularies,
    )
    from ragmeter.compat.crag.evaluator import CRAGEvaluator
    from ragmeter.compat.edit_distance import EditDistanceEvaluator
    from ragmeter.compat.objects import EvaluationResult, QAPair, RAGResult
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
    from ragmeter.engine.asking import ask_and_score as ask
    from ragmeter.engine.evaluation import Evaluation, add_metrics, evaluate
    from ragmeter.judges.cascade import Cascade
    from ragmeter.judges.judge import Judge, LLMJudge
    from ragmeter.judges.providers.fake import FakeProvider
    from ragmeter.judges.providers.port import ChatReply
    from ragmeter.registry import BaseScorer
    from ragmeter.registry import get as get_metric
    from ragmeter.runs.run import Run, RunFolder
    from ragmeter.show.report.report import report
    from ragmeter.table import Failed
    from ragmeter.targets.opening import open_target


def __getattr__(name: str) -> Any:
    from importlib import import_module

    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'ragmeter' has no attribute {name!r}")
    module, _, attribute = home.partition(":")
    return getattr(import_module(module), attribute or name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
