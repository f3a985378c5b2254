"""CRAG-MM: conversations about images, answered by an agent and judged turn by turn.

`config` holds the constants, `dataset_utils` reads conversations, `generation` has the agent answer, `truncation` cuts
its answers, `evaluation` judges them, `files` writes them, and `evaluator` is the class that people know.
"""

from ragmeter.compat.crag.config import (
    DEFAULT_EVAL_MODEL,
    DEFAULT_NUM_WORKERS,
    MAX_API_RETRIES,
    MAX_EVAL_TOKENS,
    MAX_RESPONSE_LENGTH_IN_TOKENS,
    MIN_BATCH_SIZE,
    max_batch_size,
)
from ragmeter.compat.crag.dataset_utils import (
    clean_text,
    convert_domain_indices_to_names,
    prepare_feature_vocabularies,
)
from ragmeter.compat.crag.evaluator import CRAGEvaluator
from ragmeter.judges.judge import LLMJudge

__all__ = [
    "DEFAULT_EVAL_MODEL",
    "DEFAULT_NUM_WORKERS",
    "MAX_API_RETRIES",
    "MAX_BATCH_SIZE",
    "MAX_EVAL_TOKENS",
    "MAX_RESPONSE_LENGTH_IN_TOKENS",
    "MIN_BATCH_SIZE",
    "CRAGEvaluator",
    "LLMJudge",
    "clean_text",
    "convert_domain_indices_to_names",
    "prepare_feature_vocabularies",
]


def __getattr__(name: str) -> int:
    if name == "MAX_BATCH_SIZE":  # set in the environment, and read when it is asked for
        return max_batch_size()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
