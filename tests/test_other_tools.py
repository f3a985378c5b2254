"""The real Ragas, DeepEval, promptfoo and ir_measures do what docs/coming-from.md shows, on the files of that page.

A stand-in for the model says yes to whatever it is asked. trec_eval's own code is in pytrec_eval: see
tests/test_tutorials.py.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from ragmeter import evaluate
from tests.judge_server import Action, JudgeServer, completion
from tests.pages import BLOCK, ROOT, expected_exit, shell_lines
from tests.tools import QUIET, programs

PAGE = (ROOT / "docs" / "coming-from.md").read_text(encoding="utf-8")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def model() -> Iterator[JudgeServer]:
    with JudgeServer(lambda request, number: Action(body=completion(json.dumps(reply(request))))) as server:
        yield server


def reply(request: Mapping[str, Any]) -> Any:
    """An object of the schema that the request has or that stands in its text; else one that says that all is well."""
    schema = request.get("response_format", {}).get("json_schema", {}).get("schema") or schema_in(
        "\n".join(str(message["content"]) for message in request["messages"])
    )
    return {"reason": "it does", "pass": True, "score": 1} if schema is None else example(schema, schema)


def schema_in(text: str) -> Any:
    """The first JSON schema in a text."""
    for match in re.finditer(r"\{", text):
        try:
            value, _ = json.JSONDecoder().raw_decode(text, match.start())
        except ValueError:
            continue
        if isinstance(value, dict) and "properties" in value:
            return value
    return None


def example(schema: Mapping[str, Any], whole: Mapping[str, Any]) -> Any:
    """A value of a schema: one item in each list, 1, true, and the first of several choices."""
    if "$ref" in schema:
        return example(whole["$defs"][schema["$ref"].rsplit("/", 1)[-1]], whole)
    if "anyOf" in schema:
        return example(schema["anyOf"][0], whole)
    if "enum" in schema:
        return schema["enum"][0]
    if schema.get("type") == "object":
        return {name: example(part, whole) for name, part in schema.get("properties", {}).items()}
    if schema.get("type") == "array":
        return [example(schema.get("items", {}), whole)]
    return {"integer": 1, "number": 1, "boolean": True}.get(schema.get("type", ""), "The bridge was built in 1887.")


def section(title: str) -> str:
    """A section of the page, from its title to the next."""
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def follow(title: str, tool: str, folder: Path, model: JudgeServer | None = None) -> str:
    """Write the files of a section and run the tool's commands, which end as the page says; what they print."""
    path = os.pathsep.join([str(programs(tool)), str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**QUIET, "PATH": path, "HOME": str(folder), "OPENAI_API_KEY": "none"}
    environment |= {"OPENAI_BASE_URL": model.url} if model else {}
    shown = ""
    for kind, name, text in BLOCK.findall(section(title)):
        if name:
            (folder / name).write_text(text, encoding="utf-8")
        for line in shell_lines(text) if kind == "bash" else ():
            if line.startswith(("pip", "npm", "trec_eval")):
                continue
            command, code = expected_exit(line)
            done = subprocess.run(
                ["sh", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, check=False
            )
            assert done.returncode == code, done.stdout + done.stderr
            shown += done.stdout
    return shown


def test_ragas(tmp_path: Path, model: JudgeServer) -> None:
    assert follow("Ragas", "ragas", tmp_path, model).splitlines() == [
        "Faithfulness 1.0", "ContextRecall 1.0", "FactualCorrectness 1.0",
    ]  # fmt: skip


def test_deepeval(tmp_path: Path, model: JudgeServer) -> None:
    assert "Passed: 1 | Failed: 0" in follow("DeepEval", "deepeval", tmp_path, model)
    ours = evaluate(tmp_path / ".deepeval" / ".latest_test_run.json", metrics="offline_supported")
    assert ours["offline_supported"].n_scored == 1


def test_promptfoo(tmp_path: Path, model: JudgeServer) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    shown = follow("promptfoo", "promptfoo", tmp_path, model)
    assert "1 passed" in shown
    assert "1 failed" in shown
    ours = evaluate(tmp_path / "results.json", metrics="token_recall")
    assert ours.rows["token_recall"].to_pylist() == [1, 0]


def test_ir_measures(tmp_path: Path) -> None:
    theirs = dict(line.split("\t") for line in follow("trec_eval", "ir-measures", tmp_path).splitlines())
    ours = evaluate(tmp_path / "my.run", tmp_path / "qrels.txt", metrics="ndcg@10,map,recall@2,judged@10")
    assert list(theirs) == ["nDCG@10", "AP", "R@2", "Judged@10"]
    assert list(theirs.values()) == [f"{ours[name].mean:.4f}" for name in ("ndcg@10", "map", "recall@2", "judged@10")]


@pytest.mark.parametrize(
    ("title", "tool", "modules"),
    [
        ("Ragas", "ragas", ["ragas.metrics.collections", "ragas.metrics"]),
        ("DeepEval", "deepeval", ["deepeval.metrics", "deepeval.test_case", "deepeval.dataset"]),
    ],
)
def test_the_metrics_of_a_table_are_there(tmp_path: Path, title: str, tool: str, modules: list[str]) -> None:
    names = re.findall(r"`([A-Z]\w+)", "".join(re.findall(r"^\|(.*?)\|", section(title), re.MULTILINE)))
    assert len(names) > 5
    code = "import importlib, json, sys, warnings\nwarnings.simplefilter('ignore')\n" + (
        "names, modules = map(json.loads, sys.argv[1:])\n"
        "modules = [importlib.import_module(module) for module in modules]\n"
        "print([name for name in names if not any(hasattr(module, name) for module in modules)])"
    )
    command = [str(programs(tool) / "python"), "-c", code, json.dumps(names), json.dumps(modules)]
    environment = {**QUIET, "PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1:] == ["[]"], done.stdout + done.stderr


#: The metrics that a package has, where it lists them, and its objects, scored by us as they are.
OF_RAGAS = """
import warnings; warnings.simplefilter("ignore")
from ragas import metrics
from ragas.metrics import collections
print(*sorted({name for name in (*collections.__all__, *metrics._DEPRECATED_METRICS) if name[0].isupper()}))
from ragas import EvaluationDataset, MultiTurnSample, SingleTurnSample
from ragas.messages import AIMessage, HumanMessage, ToolCall, ToolMessage
one = SingleTurnSample(user_input="capital?", response="Paris", reference="Paris", retrieved_contexts=["Paris."])
calls = [ToolCall(name="atlas", args={"of": "France"})]
talk = MultiTurnSample(
    user_input=[HumanMessage(content="capital?"), AIMessage(content="", tool_calls=calls),
                ToolMessage(content="Paris"), AIMessage(content="Paris"),
                HumanMessage(content="sure?"), AIMessage(content="Yes")],
    reference="Yes", reference_tool_calls=calls)
from ragmeter import evaluate
for data in (one, [one], EvaluationDataset(samples=[one]), talk, EvaluationDataset(samples=[talk])):
    rows = evaluate(data, metrics="exact_match").rows.to_pydict()
    print(rows["answer"], rows["exact_match"])
"""
OF_DEEPEVAL = """
from deepeval.dataset import EvaluationDataset, Golden
from deepeval.test_case import ConversationalTestCase, LLMTestCase, ToolCall, Turn
from deepeval.test_case.llm_test_case import RetrievedContextData
passage = RetrievedContextData(context="Paris.", source="a.pdf")
one = LLMTestCase(input="capital?", actual_output="Paris", expected_output="Paris", context=["ideal"],
                  retrieval_context=[passage], tools_called=[ToolCall(name="atlas")])
talk = ConversationalTestCase(turns=[Turn(role="user", content="capital?"),
                                     Turn(role="assistant", content="Paris", retrieval_context=["Paris."])])
cases, talks = EvaluationDataset(), EvaluationDataset()
cases.add_test_case(one)
talks.add_test_case(talk)
goldens = EvaluationDataset(goldens=[Golden(input="capital?", expected_output="Paris")])
from ragmeter import ask, evaluate
for data in (one, [one], cases, talk, talks):
    rows = evaluate(data, metrics="offline_supported").rows.to_pydict()
    print(rows["answer"], rows["contexts"])
print(ask(goldens, lambda question: "Paris", metrics="exact_match")["exact_match"].mean)
"""


def printed(tool: str, code: str, folder: Path) -> list[str]:
    """What a script prints in a tool's environment."""
    environment = {**QUIET, "PATH": os.environ["PATH"], "HOME": str(folder)}
    command = [str(programs(tool) / "python"), "-W", "ignore", "-c", code]
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_ragas_s_metrics_are_all_in_the_table_and_its_objects_are_read(tmp_path: Path) -> None:
    metrics, *results = printed("ragas", OF_RAGAS, tmp_path)
    table = set(re.findall(r"`([A-Z]\w+)", "".join(re.findall(r"^\|(.*?)\|", section("Ragas"), re.MULTILINE))))
    assert set(metrics.split()) - {"BaseMetric"} <= table
    assert results == ["['Paris'] [1.0]"] * 3 + ["['Paris', 'Yes'] [nan, 1.0]"] * 2


def test_deepeval_s_objects_are_read(tmp_path: Path) -> None:
    assert printed("deepeval", OF_DEEPEVAL, tmp_path) == ["['Paris'] [['Paris.']]"] * 5 + ["1.0"]
