"""ragmeter.toml: `ragmeter run` and `ragmeter init`."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from ragmeter.cli.project import read_project
from ragmeter.cli.project_keys import SYSTEMS, keys_after, keys_of, schema, table_keys
from ragmeter.errors import RagmeterError
from tests.conftest import Run
from tests.judge_server import JudgeServer

RAG = """
def log(name):
    with open("asked.txt", "a") as file:
        file.write(name + "\\n")

def plain(question):
    log("plain")
    return "Paris"

def build(top_k, model="m"):
    def ask(question):
        log(f"{model} {top_k}")
        return {"answer": "Rome", "retrieved": [f"d{n}" for n in range(top_k)]}
    return ask
"""
TOML = """
metrics = ["token_f1"]
workers = 1
[data]
dataset = "qa.jsonl"
"""
TWO = TOML + '[systems.a]\ntarget = "rag:plain"\n[systems.b]\ntarget = "rag:build"\nsettings = { top_k = [1, 2] }\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rag.py").write_text(RAG)
    rows = [{"qid": str(n), "question": f"q{n}?", "reference": "Paris", "relevant": ["d1"]} for n in range(3)]
    (tmp_path / "qa.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return tmp_path


def write(folder: Path, text: str) -> Path:
    path = folder / "ragmeter.toml"
    path.write_text(text)
    return path


def asked(folder: Path) -> list[str]:
    return (folder / "asked.txt").read_text().splitlines()


def test_all_systems_with_all_settings_in_one_table(ragmeter: Run, folder: Path) -> None:
    write(folder, TWO)
    done = ragmeter("run")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("token_f1 ↑") == 1
    assert "The baseline is a" in done.stdout
    for name in ("a", "b-top_k=1", "b-top_k=2"):
        assert name in done.stdout
        assert (folder / "runs" / name / "summary.json").exists()
    assert asked(folder) == ["plain"] * 3 + ["m 1"] * 3 + ["m 2"] * 3
    assert not (folder / ".ragmeter.toml.done.json").exists()


def test_two_systems_are_compared_in_full(ragmeter: Run, folder: Path) -> None:
    write(folder, TOML + '[systems.a]\ntarget = "rag:plain"\n[systems.b]\ntarget = "rag:build(top_k=2)"\n'
          "[compare]\nalpha = 0.2\nmovers = 0\n[report]\noutput = 'page.html'\n")  # fmt: skip
    done = ragmeter("run")
    assert done.returncode == 0, done.stderr
    assert "baseline: a, candidate: b" in done.stdout
    assert "p below 0.2." in done.stdout
    assert (folder / "page.html").exists()


def test_one_of_them_alone_and_as_json(ragmeter: Run, folder: Path) -> None:
    write(folder, TWO)
    for _ in range(2):  # asked again each time: it is the system that changes
        done = ragmeter("run", "--only", "b-top_k=2", "--json")
        assert list(json.loads(done.stdout)["systems"]) == ["b-top_k=2"]
    assert asked(folder) == ["m 2"] * 6
    assert json.loads(ragmeter("run", "--only", "b", "--json").stdout)["comparison"]["runs"]
    done = ragmeter("run", "--only", "bb")
    assert (done.returncode, "did you mean b?" in done.stderr) == (2, True)


def test_the_first_questions_of_each_system(ragmeter: Run, folder: Path) -> None:
    write(folder, TWO + '[systems.file]\nresults = "qa.jsonl"\ncolumn = { answer = "question" }\n')
    systems = json.loads(ragmeter("run", "--limit", "2", "--json").stdout)["systems"]
    assert list(systems) == ["a-first-2", "b-top_k=1-first-2", "b-top_k=2-first-2", "file"]
    assert [system["limit"] for system in systems.values()] == [{"asked": 2, "of": 3}] * 3 + [None]
    assert asked(folder) == ["plain"] * 2 + ["m 1"] * 2 + ["m 2"] * 2
    assert "only the first 2 questions were asked, of 3" in ragmeter("summary", "a-first-2").stdout
    assert "first 2" in ragmeter("runs").stdout
    assert "only the first 2 questions" in ragmeter("gate", "a-first-2", "--fail-under", "token_f1=0").stdout
    ragmeter("report", "a-first-2", "--markdown", "page.md")
    assert "**a-first-2**: only the first 2 questions were asked, of 3" in (folder / "page.md").read_text()
    write(folder, TWO.replace("[data]", "limit = 1\n[data]"))
    done = ragmeter("run", "--only", "b-top_k=2")
    assert "only the first question was asked, of 3" in done.stdout
    write(folder, TOML + '[systems.file]\nresults = "qa.jsonl"\n')
    assert "--limit has no effect: no system is asked" in ragmeter("run", "--limit", "2").stderr


def test_the_same_command_goes_on_after_a_failure(ragmeter: Run, folder: Path) -> None:
    write(folder, TOML + '[systems.a]\ntarget = "rag:plain"\n[systems.b]\ntarget = "later:ask"\n')
    assert ragmeter("run").returncode == 2
    (folder / "later.py").write_text("def ask(question): return 'x'")
    done = ragmeter("run")
    assert done.returncode == 0, done.stderr
    assert "a (1 of 2): done before" in done.stderr
    assert asked(folder) == ["plain"] * 3
    assert "done before" not in ragmeter("run").stderr


def test_what_changed_is_made_again(ragmeter: Run, folder: Path) -> None:
    text = TOML + '[systems.a]\ntarget = "rag:plain"\n[systems.b]\ntarget = "later:ask"\n'
    write(folder, text)
    assert ragmeter("run").returncode == 2
    with (folder / "qa.jsonl").open("a") as file:
        file.write('\n{"qid": "9", "question": "q9?", "reference": "Rome"}')
    assert ragmeter("run").returncode == 2
    assert asked(folder) == ["plain"] * 7


def test_gates_judges_and_files_of_answers(ragmeter: Run, folder: Path) -> None:
    (folder / "answers.jsonl").write_text("\n".join(json.dumps({"qid": str(n), "answer": "Rome"}) for n in range(3)))
    write(folder, TOML + '[systems.a]\ntarget = "rag:plain"\n[systems.kept]\nresults = "answers.jsonl"\n'
          'interval = "bootstrap"\n[gate]\nfail_under = { token_f1 = 0.5 }\n'
          '[judge]\njudge = "offline"\n')  # fmt: skip
    done = ragmeter("run")
    assert done.returncode == 1
    assert "kept: the gate failed" in done.stdout
    assert "a: the gate failed" not in done.stdout
    summary = json.loads((folder / "runs" / "kept" / "summary.json").read_text())
    assert "bootstrap" in summary["metrics"]["token_f1"]["interval_method"]


def test_a_gate_needs_its_baseline_before_it(ragmeter: Run, folder: Path) -> None:
    systems = '[systems.b]\ntarget = "rag:plain"\n', '[systems.a]\ntarget = "rag:plain"\n'
    gate = '[gate]\nno_worse_than = "{}:token_f1:0.02"\n'
    write(folder, TOML + "".join(systems) + "no_worse_than = 'b:token_f1:0.02'\n")  # a, after b
    assert ragmeter("run").returncode in (0, 1)
    write(folder, TOML + "".join(systems) + gate.format("new"))
    (folder / "asked.txt").unlink()
    assert "unknown run 'new'" in ragmeter("run").stderr
    write(folder, TOML.replace("[data]", "replace = true\n[data]") + systems[0].replace("systems.b", "systems.c")
          + "no_worse_than = 'd:token_f1:0.02'\n" + systems[1].replace("systems.a", "systems.d"))  # fmt: skip
    (folder / "asked.txt").unlink(missing_ok=True)
    done = ragmeter("run")
    assert done.returncode == 2
    assert "the gate compares c with d, which is made after it\n  put [systems.d] first" in done.stderr
    assert not (folder / "asked.txt").exists()


def test_what_is_done_with_the_runs_at_the_end(ragmeter: Run, folder: Path) -> None:
    labels = "".join(f"{n},{'correct' if n else 'wrong'}\n" for n in range(3))
    (folder / "a.csv").write_text("qid,label\n" + labels)
    rows = [
        {"qid": str(n), "question": "?", "reference": name} for n, name in enumerate(("Paris", "Rome", "Paris or so"))
    ]
    (folder / "qa.jsonl").write_text("\n".join(map(json.dumps, rows)))
    write(folder, TWO + '[summary]\n[label]\nn = 2\n[calibrate]\nlabels = "{run}.csv"\nmetric = "token_f1"\n'
          'threshold = 1.0\n[export]\nto = "csv"\n[power]\nmetric = "token_f1"\ndifference = 0.1\n')  # fmt: skip
    done = ragmeter("run")
    assert done.returncode == 0, done.stderr
    assert "a, calibrate:" in done.stdout
    assert "corrected (PPI++)" in done.stdout
    assert "calibrate: b-top_k=1.csv: there is no such file" in done.stderr
    assert len((folder / "b-top_k=2-labels.csv").read_text().splitlines()) == 3
    assert len((folder / "a.csv").read_text().splitlines()) == 4
    assert "questions" in done.stdout.rpartition("export:")[2]


def test_conversations_of_an_agent_and_of_a_file(ragmeter: Run, folder: Path) -> None:
    (folder / "rag.py").write_text(
        "class Agent:\n    def get_batch_size(self):\n        return 2\n"
        "    def batch_generate_response(self, queries, images, message_histories):\n"
        "        return ['Paris' for _ in queries]\n"
    )
    turns = [{"query": "Where?", "ground_truth": "Paris", "interaction_id": "i", "turn_idx": 0, "session_id": "s",
              "agent_response": "I don't know"}]  # fmt: skip
    (folder / "turns.jsonl").write_text("\n".join(map(json.dumps, turns)))
    asked = {"session_id": "s", "image": None, "turns": [{"interaction_id": "i", "query": "Where?"}],
             "answers": [{"interaction_id": "i", "ans_full": "Paris"}]}  # fmt: skip
    (folder / "conversations.jsonl").write_text(json.dumps(asked))
    write(folder, '[data]\ndataset = "conversations.jsonl"\n[judge]\njudge = "offline"\n'
          '[systems.agent]\nagent = "rag:Agent"\n[systems.earlier]\nturns = "turns.jsonl"\n')  # fmt: skip
    done = ragmeter("run", "--json")
    assert done.returncode == 0, done.stderr
    systems = json.loads(done.stdout)["systems"]
    assert systems["agent"]["metrics"]["exact_answer"]["mean"] == 1
    assert systems["earlier"]["metrics"]["missing"]["mean"] == 1
    assert (folder / "runs" / "agent.turns.jsonl").is_file()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("metrcs = 1", "unknown key 'metrcs': did you mean metrics?"),
        ("[judge]\nmodle = 'x'", "unknown key 'modle' in [judge]: did you mean model?"),
        ("[systems.a]\ntarget = 'x:y'\nworkrs = 3", "unknown key 'workrs' in [systems.a]: did you mean workers?"),
        ("[compare]\nalhpa = 1", "unknown key 'alhpa' in [compare]: did you mean alpha?"),
        ("[calibrate]\nlabel = 'l.csv'", "unknown key 'label' in [calibrate]: did you mean labels?"),
        ("[systems.a]\nturns = 't.jsonl'\njugde = 'x'", "unknown key 'jugde' in [systems.a]: did you mean judge?"),
        ("[systems.a]\nresults = 'r.csv'\n[calibrate]\nlevel = 0.9", "the following arguments are required: --labels"),
        ("[systems.a]\nworkers = 3", "[systems.a] should have one of target, results, url, turns, agent"),
        ("[systems.a]\ntarget = 'rag:plain'\nworkers = '3'", 'systems.a.workers should be a whole number, got "3"'),
        ("[systems.a]\ntarget = 'rag:plain'\nmethod = 'PSOT'", "can't be 'PSOT': did you mean POST?"),
        ("[systems.a]\ntarget = 'rag:plain'\nresume = 1", "systems.a.resume should be true or false, got 1"),
        ("[systems.a]\ntarget = ['a']", "systems.a.target should be one value, got a list"),
        ("[systems.a]\nresults = 'r.csv'\nsettings.k = 1", "the setting k is used nowhere"),
        ("systems = 3", "systems should be a table, got 3"),
        ("", "there is no system"),
        ("x = ", "can't be read"),
        ("[systems.a]\ntarget='x:y'\noutput='o'\n[systems.b]\ntarget='x:z'\noutput='o'", "would write the same file"),
        ("[systems.a]\nresults = 'r.csv'\noutput_dir = 'x'", "unknown key 'output_dir' in [systems.a]"),
    ],
)
def test_mistakes_are_found_before_anything_runs(folder: Path, text: str, message: str) -> None:
    with pytest.raises(RagmeterError) as error:
        read_project(write(folder, text))
    assert message in str(error.value)


def test_settings_stand_in_any_text(folder: Path) -> None:
    system = """
[settings]
top_k = [1, 2]
[systems.model]
target = "{model}"
settings = { model = ["openai:small", "openai:large"], top_k = 1 }
metrics = ["ndcg@{top_k}"]
[systems.http]
target = "http://localhost/{top_k}"
output = "{run}.json"
header = { "X-K" = "{top_k}" }
request = { q = "{question}", k = "{top_k}" }
"""
    project = read_project(write(folder, TOML + system))
    *models, first, second = project.plans
    assert [plan.run for plan in models] == ["model-model=openai_small", "model-model=openai_large"]  # a folder's name
    assert second.run == "http-top_k=2"
    assert "--target=http://localhost/1" in first.arguments
    assert "--output=http-top_k=2.json" in second.arguments
    assert "--header=X-K: 1" in first.arguments
    assert '--request={"q": "{question}", "k": 2}' in second.arguments


def test_every_option_has_its_key() -> None:
    for command in SYSTEMS:
        assert "_h" not in keys_of(command)
        for name, key in keys_of(command).items():
            assert name == key.action.option_strings[0].removeprefix("--").replace("-", "_")
    assert "model" in table_keys("judge")
    assert "fail_under" in table_keys("gate")
    assert {"labels", "delimiter"} <= set(keys_after("calibrate"))
    assert {"n", "by", "strata"} <= set(keys_after("label"))
    assert "alpha" in keys_after("compare")
    described: Any = schema()["properties"]
    assert described["workers"]["type"] == "integer"
    kinds = described["judge"]["properties"]["model"]["anyOf"]  # one model, or a jury
    assert [kind["type"] for kind in kinds] == ["string", "array"]
    assert {"type": "object"} in described["gate"]["properties"]["fail_under"]["anyOf"]
    assert described["systems"]["additionalProperties"]["properties"]["method"]["enum"] == ["POST", "GET", "PUT"]


def test_the_schema_is_printed(ragmeter: Run) -> None:
    assert json.loads(ragmeter("run", "--schema").stdout) == json.loads(json.dumps(schema()))


@pytest.mark.parametrize(
    ("row", "options", "metrics", "system"),
    [
        ({"question": "q", "answer": "a", "reference": "b"}, [], ["offline_correct", "token_f1"],
         {"results": "data.jsonl"}),
        ({"user_input": "q", "response": "a", "reference": "b", "retrieved_contexts": ["c"]}, [],
         ["offline_correct", "token_f1", "offline_hallucinated"], {"results": "data.jsonl"}),
        ({"retrieved": ["d"], "relevant": ["d"]}, [], ["recall@5", "ndcg@10"], {"results": "data.jsonl"}),
        ({"question": "q", "answer": "a", "relevant": ["d"]}, ["--target", "rag:plain"],
         ["offline_correct", "token_f1", "recall@5", "ndcg@10"], {"target": "rag:plain"}),
        ({"question": "q", "gold": "a"}, ["--column", "reference=gold", "--target", "rag:plain"],
         ["offline_correct", "token_f1"], {"target": "rag:plain"}),
    ],
)  # fmt: skip
def test_init_looks_at_the_data(
    ragmeter: Run, folder: Path, row: dict[str, Any], options: list[str], metrics: list[str], system: dict[str, str]
) -> None:
    (folder / "data.jsonl").write_text(json.dumps({"qid": "1", **row}))
    done = ragmeter("init", "data.jsonl", *options)
    assert done.returncode == 0, done.stderr
    document = tomllib.loads((folder / "ragmeter.toml").read_text())
    assert document["metrics"] == metrics
    assert document["systems"] == {"first": system}
    assert json.loads((folder / "ragmeter.schema.json").read_text())["title"] == "ragmeter.toml"
    assert "is there already" in ragmeter("init", "data.jsonl", *options).stderr
    done = ragmeter("run")
    assert done.returncode == 0, done.stderr


def test_init_takes_an_answer_alone_for_the_gold_one(ragmeter: Run, folder: Path) -> None:
    (folder / "data.jsonl").write_text('{"qid": "1", "question": "q", "answer": "a", "relevant": ["d"]}')
    done = ragmeter("init", "data.jsonl")
    assert "name your system in it, in place of mypkg.rag:pipeline, then: ragmeter run" in done.stdout
    document = tomllib.loads((folder / "ragmeter.toml").read_text())
    assert document["data"] == {"dataset": "data.jsonl"}
    assert document["metrics"] == ["offline_correct", "token_f1", "recall@5", "ndcg@10"]


def test_init_of_a_file_of_another_form(ragmeter: Run, folder: Path) -> None:
    """Its hints name options that it has, and `run` reads the file in the same way."""
    (folder / "data.csv").write_bytes("question;reference\nq?;Pérez\n".encode("latin-1"))
    target = ["--target", "rag:plain"]
    assert "add --delimiter ';'" in ragmeter("init", "data.csv", *target, "--encoding", "latin-1").stderr
    assert "--encoding latin-1" in ragmeter("init", "data.csv", *target).stderr
    done = ragmeter("init", "data.csv", *target, "--encoding", "latin-1", "--delimiter", ";")
    assert done.returncode == 0, done.stderr
    assert tomllib.loads((folder / "ragmeter.toml").read_text())["data"]["delimiter"] == ";"
    done = ragmeter("run")
    assert done.returncode == 0, done.stderr


def test_init_of_one_of_several_lists(ragmeter: Run, folder: Path) -> None:
    row = {"question": "q", "answer": "a", "reference": "b"}
    (folder / "data.json").write_text(json.dumps({"train": [row], "test": [row, row]}))
    assert "--split train" in ragmeter("init", "data.json").stderr
    assert ragmeter("init", "data.json", "--split", "test").returncode == 0
    assert json.loads(ragmeter("run", "--json").stdout)["systems"]["first"]["metrics"]["token_f1"]["n_total"] == 2


def test_init_without_anything_to_score(ragmeter: Run, folder: Path) -> None:
    (folder / "data.jsonl").write_text('{"qid": "1", "question": "q", "claim": "c"}')
    done = ragmeter("init", "data.jsonl")
    assert (done.returncode, "neither gold answers nor gold documents" in done.stderr) == (2, True)
    assert "the columns are claim, qid, question; name the right one: --column reference=ITS_NAME" in done.stderr
    assert not (folder / "ragmeter.toml").exists()


def test_the_file_in_the_documents_is_read(tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "docs" / "run.md").read_text(encoding="utf-8")
    project = read_project(write(tmp_path, text.split('```toml title="ragmeter.toml"\n')[1].split("```")[0]))
    runs = ["small", "large-top_k=3", "large-top_k=10", "service-top_k=3", "service-top_k=10", "last_week"]
    assert [plan.run for plan in project.plans] == runs
    assert "--target=mypkg.rag:build(top_k=3, model='big')" in project.plans[1].arguments
    assert {"--judge-model=gpt-4o-mini", "--judge-budget=2.0"} <= set(project.plans[0].arguments)
    assert "--reference=qa.jsonl" in project.plans[-1].arguments


def test_a_judge_costs_nothing_that_no_metric_asks_for(ragmeter: Run, folder: Path) -> None:
    plain = TOML.replace('metrics = ["token_f1"]\n', "")
    with JudgeServer() as server:
        judge = f'[judge]\nmodel = "m"\nbase_url = "{server.url}"\ncheck = false\n'
        write(folder, f'{plain}{judge}[systems.a]\ntarget = "rag:plain"\n')
        done = ragmeter("run")
        assert done.returncode == 0, done.stderr
        assert not server.requests
        assert "right" in done.stdout.splitlines()[0], "one system is shown as by its command: the headline first"
        assert "next: `ragmeter report a`" in done.stdout
        wrong = 'target = "rag:build"\nsettings = { top_k = 1 }\n'
        metrics = 'metrics = ["llm_correct"]\n'
        write(folder, f"{metrics}{plain}{judge}[systems.a]\n{wrong}replace = true\n")
        assert ragmeter("run").returncode == 0
        n_asked = len(server.requests)
        assert n_asked
        write(folder, f"{metrics}{plain}{judge}[systems.a]\n{wrong}[systems.b]\n{wrong}")
        done = ragmeter("run")
        assert (done.returncode, "a is kept as it is" in done.stderr) == (0, True), done.stderr
        assert "replace = true" in done.stderr
        assert (folder / "runs" / "b" / "summary.json").is_file(), "the other system is asked all the same"
