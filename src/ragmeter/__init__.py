"""ragmeter measures retrieval-augmented generation: fast, offline, honest about its uncertainty."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

__all__ = [
    "BaseScorer",
    "CRAGEvaluator",
    "Calibration",
    "Cascade",
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
    "LLMJudge",
    "MeteorScorer",
    "Metric",
    "QAPair",
    "RAGResult",
    "ResponseEvaluator",
    "RougeLScorer",
    "RougeScorer",
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
    "prepare_feature_vocabularies",
    "report",
]

#: Where each public name lives. Nothing is imported before it is used: `import ragmeter` costs next to nothing.
_HOMES = {
    "BaseScorer": "ragmeter.registry",
    "CRAGEvaluator": "ragmeter.evaluators.crag.evaluator",
    "Calibration": "ragmeter.people.calibration",
    "Cascade": "ragmeter.evaluators.crag.cascade",
    "Comparison": "ragmeter.comparing",
    "ContextRecall": "ragmeter.evaluators.context_recall",
    "CosineScorer": "ragmeter.evaluators.web",
    "CosineSimilarityScorer": "ragmeter.evaluators.web",
    "EditDistanceEvaluator": "ragmeter.evaluators.edit_distance",
    "Evaluation": "ragmeter.api",
    "EvaluationManager": "ragmeter.evaluators.web",
    "EvaluationResult": "ragmeter.evaluators.objects",
    "ExactMatchScorer": "ragmeter.evaluators.web",
    "F1Scorer": "ragmeter.evaluators.web",
    "Failed": "ragmeter.table",
    "LLMJudge": "ragmeter.judges.judge",
    "MeteorScorer": "ragmeter.evaluators.web",
    "Metric": "ragmeter.definition",
    "QAPair": "ragmeter.evaluators.objects",
    "RAGResult": "ragmeter.evaluators.objects",
    "ResponseEvaluator": "ragmeter.evaluators.response",
    "RougeLScorer": "ragmeter.evaluators.web",
    "RougeScorer": "ragmeter.evaluators.web",
    "RunFolder": "ragmeter.store",
    "TokenF1Scorer": "ragmeter.evaluators.web",
    "WebInterface": "ragmeter.evaluators.web",
    "add_metrics": "ragmeter.api",
    "ask": "ragmeter.asking:ask_and_score",
    "calibrate": "ragmeter.people.calibration",
    "choose_sample": "ragmeter.people.sampling",
    "clean_text": "ragmeter.evaluators.crag.dataset_utils",
    "column": "ragmeter.definition",
    "compare": "ragmeter.comparing",
    "convert_domain_indices_to_names": "ragmeter.evaluators.crag.dataset_utils",
    "evaluate": "ragmeter.api",
    "explain": "ragmeter.explaining",
    "gate": "ragmeter.gating",
    "get_metric": "ragmeter.registry:get",
    "list_metrics": "ragmeter.listing",
    "metric": "ragmeter.definition",
    "open_target": "ragmeter.targets.opening",
    "prepare_feature_vocabularies": "ragmeter.evaluators.crag.dataset_utils",
    "report": "ragmeter.reporting.report",
}

if TYPE_CHECKING:
    from ragmeter.api import Evaluation, add_metrics, evaluate
    from ragmeter.asking import ask_and_score as ask
    from ragmeter.comparing import Comparison, compare
    from ragmeter.definition import Metric, column, metric
    from ragmeter.evaluators.context_recall import ContextRecall
    from ragmeter.evaluators.crag.cascade import Cascade
    from ragmeter.evaluators.crag.dataset_utils import (
        clean_text,
        convert_domain_indices_to_names,
        prepare_feature_vocabularies,
    )
    from ragmeter.evaluators.crag.evaluator import CRAGEvaluator
    from ragmeter.evaluators.edit_distance import EditDistanceEvaluator
    from ragmeter.evaluators.objects import EvaluationResult, QAPair, RAGResult
    from ragmeter.evaluators.response import ResponseEvaluator
    from ragmeter.evaluators.web import (
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
    from ragmeter.explaining import explain
    from ragmeter.gating import gate
    from ragmeter.judges.judge import LLMJudge
    from ragmeter.listing import list_metrics
    from ragmeter.people.calibration import Calibration, calibrate
    from ragmeter.people.sampling import choose_sample
    from ragmeter.registry import BaseScorer
    from ragmeter.registry import get as get_metric
    from ragmeter.reporting.report import report
    from ragmeter.store import RunFolder
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
