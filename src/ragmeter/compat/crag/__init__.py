"""CRAG-MM: conversations about images, answered by an agent and judged turn by turn.

`config` has the constants, `dataset_utils` reads conversations, `generation` lets the agent answer, `truncation` cuts
its answers, `turns` reads them, `evaluation` makes them an ordinary evaluation, `files` writes the files, `evaluator`
and `llm_judge` have the classes.
"""

from ragmeter.compat.crag.config import (
    DEFAULT_EVAL_MODEL,
    DEFAULT_NUM_WORKERS,
    MAX_API_RETRIES,
    MAX_EVAL_TOKENS,
    MAX_RESPONSE_LENGTH_IN_TOKENS,
    MIN_BATCH_SIZE,
)
from ragmeter.compat.crag.config import __getattr__ as __getattr__  # MAX_BATCH_SIZE is read from the environment
from ragmeter.compat.crag.dataset_utils import (
    clean_text,
    convert_domain_indices_to_names,
    prepare_feature_vocabularies,
)
from ragmeter.compat.crag.evaluator import CRAGEvaluator
from ragmeter.compat.crag.llm_judge import LLMJudge

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
