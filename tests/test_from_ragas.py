"""Ten public scripts of Ragas, ported: each runs, and the page says how many of its lines changed.

Ragas's own are in `tests/data/ragas/`, from the documentation and the examples of its release 0.4.3 (Apache-2.0).
"""

from __future__ import annotations

import difflib
import re
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

import ragmeter
from tests.pages import ROOT

THEIRS, OURS = ROOT / "tests" / "data" / "ragas", ROOT / "examples" / "from_ragas"
PAGE = (ROOT / "docs" / "coming-from.md").read_text(encoding="utf-8")
NAMES = sorted(path.stem for path in THEIRS.glob("*.txt"))
#: What each prints, where nobody is asked: the judge is the offline one, or says yes; meaning is by a small model.
PRINTED = {
    "answer_correctness": "Answer Correctness Score: ",
    "aspect_critic": "Score: 1.0",
    "context_recall": "Context Recall Score: 0.0",
    "experiment": "Experiment results saved to: ",
    "factual_correctness": "Factual Correctness Score: ",
    "faithfulness": "Faithfulness Score: ",
    "goal_accuracy": "Agent Goal Accuracy: 1.0",
    "noise_sensitivity": "Noise Sensitivity: {'noise_sensitivity_in_relevant",
    "semantic_similarity": "Semantic Similarity Score: 0.9",
    "tool_call_accuracy": "Tool Call Accuracy: 1.0",
}
#: Who says yes to a criterion, and to a verdict.
SAYS_YES = ("aspect_critic", "experiment", "goal_accuracy")
#: Metrics of claims, where a script names them.
CLAIMS = r'(?<=[",])(faithfulness|context_claim_recall|claim_f1|noise_sensitivity_in_\w+)(?=[",])'


def lines(path: Path) -> list[str]:
    return [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def changed(name: str) -> tuple[int, int, int, int]:
    """Lines of Ragas's script and of the port; how many of the one are gone, and how many of the other are new."""
    theirs, ours = lines(THEIRS / f"{name}.txt"), lines(OURS / f"{name}.py")
    same = sum(
        block.size for block in difflib.SequenceMatcher(None, theirs, ours, autojunk=False).get_matching_blocks()
    )
    return len(theirs), len(ours), len(theirs) - same, len(ours) - same


def test_ten_are_ported() -> None:
    assert len(NAMES) == 10
    assert sorted(path.stem for path in OURS.glob("*.py")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_the_page_says_how_many_lines_changed(name: str) -> None:
    theirs, ours, gone, new = changed(name)
    assert f"| `{name}.py` | {theirs} | {ours} | {gone} | {new} |" in PAGE


@pytest.mark.parametrize("name", NAMES)
def test_a_port_runs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    reply = "correct" if name == "goal_accuracy" else "Yes"
    says_yes = ragmeter.Judge(provider=ragmeter.FakeProvider(reply), check=False)

    def query(question: str) -> dict[str, str]:
        return {"answer": f"an answer to {question}"}

    rag, openai = ModuleType("rag"), ModuleType("openai")
    rag.default_rag_client = lambda **options: SimpleNamespace(query=query)  # type: ignore[attr-defined]
    openai.OpenAI = lambda **options: None  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "rag", rag)
    monkeypatch.setitem(sys.modules, "openai", openai)
    monkeypatch.setattr(ragmeter, "Judge", lambda model: says_yes)
    monkeypatch.chdir(tmp_path)
    path = OURS / f"{name}.py"
    script = path.read_text(encoding="utf-8").replace("openai:text-embedding-3-small", "wordllama")
    if name not in SAYS_YES:
        script = re.sub(CLAIMS, r"\1[judge=offline]", script.replace(", judge=judge", ""))
    monkeypatch.setattr(sys, "path", [*sys.path])
    exec(compile(script, str(path), "exec"), {"__name__": "__main__", "__file__": str(path)})  # noqa: S102
    assert PRINTED[name] in capsys.readouterr().out
