"""The metrics over claims, against RAGChecker's own figures and the cases without a denominator."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragmeter import evaluate, get_metric

DATA = Path(__file__).parents[1] / "data" / "ragchecker_example_outputs.json"
#: RAGChecker's names and ours.
NAMES = {
    "precision": "claim_precision", "recall": "claim_recall", "f1": "claim_f1",
    "claim_recall": "context_claim_recall", "context_precision": "context_claim_precision",
    "context_utilization": "context_utilization", "faithfulness": "faithfulness", "hallucination": "hallucination",
    "self_knowledge": "self_knowledge", "noise_sensitivity_in_relevant": "noise_sensitivity_in_relevant",
    "noise_sensitivity_in_irrelevant": "noise_sensitivity_in_irrelevant",
}  # fmt: skip


@pytest.fixture(scope="module")
def ragchecker() -> dict[str, Any]:
    return dict(json.loads(DATA.read_text(encoding="utf-8")))


def test_the_figures_are_ragcheckers(ragchecker: dict[str, Any], tmp_path: Path) -> None:
    result = evaluate(DATA, metrics=list(NAMES.values()), output_dir=tmp_path)
    for theirs, ours in NAMES.items():
        expected = [row["metrics"][theirs] for row in ragchecker["results"]]
        np.testing.assert_allclose(result.rows[ours].to_numpy(), expected, rtol=0, atol=1e-12)
    printed = {name: value for part in ragchecker["metrics"].values() for name, value in part.items()}
    means = {theirs: float(result.rows[ours].to_numpy().mean()) for theirs, ours in NAMES.items()}
    assert {theirs: round(100 * mean, 1) for theirs, mean in means.items()} == printed


Y, N = "supported", "not mentioned"


def test_columns_of_claims_may_have_any_title(tmp_path: Path) -> None:
    row = {"answer": "It is red.", "contexts": ["Red."], "facts": ["It is red."], "checks": [[Y]]}
    mapping = {"claims": "facts", "support_by_passages": "checks"}
    assert evaluate([row], metrics="faithfulness", columns=mapping, output_dir=tmp_path)["faithfulness"].mean == 1


@pytest.mark.parametrize(
    ("name", "columns", "expected"),
    [
        ("claim_precision", [[Y, Y, N, N]], 0.5),
        ("claim_precision", [[]], None),
        ("claim_f1", [[N], [N]], 0.0),
        ("faithfulness", [[[Y, N], [N, N], [N, Y]]], 2 / 3),
        ("faithfulness", [[[], []]], None),
        ("context_claim_precision", [[[Y, N, N], [Y, N, Y]]], 2 / 3),
        ("context_utilization", [[[Y], [Y], [N]], [Y, N, Y]], 0.5),
        ("context_utilization", [[[N], [N]], [Y, N]], None),
        ("hallucination", [[Y, N, N, N], [[N], [Y], [N], [N]]], 0.5),
        ("self_knowledge", [[Y, N, Y, N], [[N], [Y], [Y], [N]]], 0.25),
        ("noise_sensitivity_in_relevant", [[N, N], [[Y, N], [N, Y]], [[Y, N]]], 0.5),
        ("noise_sensitivity_in_irrelevant", [[N, N], [[Y, N], [N, Y]], [[Y, N]]], 0.5),
        ("noise_sensitivity_in_irrelevant", [[N], [[Y, Y]], [[Y, N]]], 0.0),  # a relevant passage says it too
    ],
)
def test_by_hand(name: str, columns: list[Any], expected: float | None) -> None:
    (score,) = get_metric(name)(*([column] for column in columns))
    assert np.isnan(score) if expected is None else score == pytest.approx(expected)


def test_the_shares_of_claims_add_up() -> None:
    """Every claim is faithful or not, and what no passage supports is either made up or known."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        claims, passages = rng.integers(1, 6, 2)
        by_reference = rng.choice([Y, N], claims).tolist()
        by_passages = rng.choice([Y, N], (claims, passages)).tolist()
        reference = rng.choice([Y, N], (3, passages)).tolist()
        names = ("faithfulness", "hallucination", "self_knowledge")
        columns = ([by_passages], [by_reference, by_passages], [by_reference, by_passages])
        shares = [get_metric(name)(*([c] for c in given))[0] for name, given in zip(names, columns, strict=True)]
        assert sum(shares) == pytest.approx(1)
        noise = [
            get_metric(f"noise_sensitivity_in_{kind}")([by_reference], [by_passages], [reference])[0]
            for kind in ("relevant", "irrelevant")
        ]
        precision = get_metric("claim_precision")([by_reference])[0]
        assert sum(noise) + shares[1] == pytest.approx(1 - precision)
