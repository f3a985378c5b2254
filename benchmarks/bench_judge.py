"""How near to the limit judge calls come, beside what people make them with today; and how soon a full journal is read.

The judge is a server on this machine that takes as long as it is told to and judges by a rule, so that every verdict
can be held to it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from common import BenchmarkError, Usage, measure, peer_python, progress, ragmeter_command, table
from judge_engines import MODEL, WORKERS

TURNS, LATENCY = 6_400, 0.05  # a hundred whole rounds of 64: a last round with few calls would count as waiting
IDEAL = WORKERS / LATENCY
TARGET, CPU_TARGET = 0.95, 0.4  # of the ideal; milliseconds a call
MANY, MANY_TURNS, MANY_LATENCY, MANY_TARGET = 512, 10_000, 0.4, 0.8  # as many calls a second, of a slower server
RESUMED, RESUME_TARGET = 10_000, 5.0
_TRIAL = 200
_HERE = Path(__file__).parent
_SERVER = _HERE.parent / "tests" / "judge_server.py"


class Child:
    """A process that answers each line with one of JSON. What it says besides is kept, for when it fails."""

    def __init__(self, command: Sequence[str], log: Path) -> None:
        self._name, self._log = f"{Path(command[1]).name} {command[2]}", log
        with log.open("wb") as said:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said, text=True, cwd=log.parent
            )
        self.greeting = self._read()

    def ask(self, question: object = None) -> Any:
        """Say something and wait for the answer."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # it is gone, which the reading will say better
            self._process.stdin.write(json.dumps(question) + "\n")
            self._process.stdin.flush()
        return self._read()

    def end(self) -> None:
        """Close its standard input, which ends it."""
        self._process.communicate()

    def _read(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self.end()
            said = self._log.read_text(encoding="utf-8", errors="replace").strip()
            raise BenchmarkError(f"{self._name} failed with {self._process.returncode}:\n{said[-2000:]}")
        return json.loads(line)


@dataclass
class Engine:
    """Something that makes calls, in a process of its own. `child` is None where it is not installed.

    `calls` holds the seconds from the first request to the last reply, as the server sees them; `whole` what the whole
    took, as the user does.
    """

    name: str
    key: str
    versions: str = ""
    child: Child | None = None
    calls: list[float] = field(default_factory=list)
    whole: list[Usage] = field(default_factory=list)
    peak: int = 0


def judge(folder: Path, *, quick: bool) -> None:
    """Every engine in turn, several times; then runs that have nothing left to ask."""
    _throughput(folder, TURNS // 10 if quick else TURNS, 2 if quick else 7)
    _many(folder, MANY_TURNS // 10 if quick else MANY_TURNS, 1 if quick else 3)
    _resume(folder, RESUMED // 10 if quick else RESUMED, 2 if quick else 5)


def make_turns(count: int) -> list[dict[str, Any]]:
    """Conversations of one turn, none of them a refusal or an exact match; every other answer is right."""
    seasons = ("spring", "autumn")
    return [
        {
            "session_id": f"s{number:06d}",
            "interaction_id": f"i{number:06d}",
            "turn_idx": 0,
            "is_ego": False,
            "query": f"When was the building with the number {number:06d} in this picture finished?",
            "ground_truth": f"in the spring of {number:06d}",
            "agent_response": f"It was finished in the {seasons[number % 2]} of {number:06d}, at last.",
        }
        for number in range(count)
    ]


def _throughput(folder: Path, count: int, repetitions: int) -> None:
    engines = [
        Engine("ragmeter, with its journal", "ragmeter"),
        Engine(f"a pool of {WORKERS} threads", "openai"),
        Engine("ragas's Executor", "ragas"),
        Engine("deepeval's evaluate()", "deepeval"),
    ]
    cases = folder / "cases.json"
    cases.write_text(json.dumps(_cases(count)), encoding="utf-8")
    with ExitStack() as stack:
        server = stack.enter_context(_server(folder, LATENCY))
        for engine in engines:
            progress(f"judge: starting {engine.key}")
            child = Child(
                [peer_python(engine.key), str(_HERE / "judge_engines.py"), engine.key, _url(server), str(cases)],
                _made(folder / engine.key) / "log",
            )
            stack.callback(child.end)
            if _starts(engine, child):
                _round(engine, server, min(_TRIAL, count), folder / engine.key / "trial")
                engine.calls.clear()
                engine.whole.clear()
        ready = [engine for engine in engines if engine.child is not None]
        for place in range(repetitions):
            progress(f"judge: repetition {place + 1} of {repetitions}")
            for engine in ready:
                _round(engine, server, count, folder / engine.key / f"{place}")
    _print(engines, count, repetitions)


def _starts(engine: Engine, child: Child) -> bool:
    """Whether all that it needs is there."""
    if "versions" in child.greeting:
        engine.child, engine.versions = child, child.greeting["versions"]
        return True
    if engine.key == "ragmeter":
        raise BenchmarkError(f"judge: {child.greeting['missing']}; python -m pip install --editable '.[http]'")
    print(f"judge: {engine.name} is left out ({child.greeting['missing']}); see benchmarks/README.md")
    return False


def _cases(count: int) -> dict[str, list[dict[str, Any]]]:
    """The turns, and what ragmeter would ask about each of them: the peers' prompts are made for them beforehand."""
    from ragmeter.judges.asking.prompt import Prompt
    from ragmeter.judges.verdict import verdict

    turns = make_turns(count)
    given = {"model": MODEL, "temperature": 0.0, "seed": 0, "max_tokens": 1024}
    names = {"question": "query", "reference": "ground_truth", "answer": "agent_response"}
    prompt = Prompt(verdict)
    requests = [prompt.messages({name: turn[own] for name, own in names.items()}) for turn in turns]
    return {"turns": turns, "requests": [{"messages": request, **given} for request in requests]}


def _many(folder: Path, count: int, repetitions: int) -> None:
    """ragmeter alone, with many more calls at once."""
    engine = Engine("ragmeter, with its journal", "ragmeter")
    cases, home = folder / "many.json", _made(folder / "many")
    cases.write_text(json.dumps({"turns": make_turns(count), "requests": []}), encoding="utf-8")
    with ExitStack() as stack:
        server = stack.enter_context(_server(folder, MANY_LATENCY))
        command = [peer_python("ragmeter"), str(_HERE / "judge_engines.py"), "ragmeter", _url(server), str(cases)]
        engine.child = Child(command, home / "log")
        stack.callback(engine.child.end)
        for place in range(repetitions):
            progress(f"judge: {MANY} at once, repetition {place + 1} of {repetitions}")
            _round(engine, server, count, home / f"{place}", MANY)
    rates = [count / seconds for seconds in engine.calls]
    ideal = MANY / MANY_LATENCY
    table(
        f"JUDGE  {count:,} calls to a server that takes {MANY_LATENCY * 1000:.0f} ms, {MANY} at once: "
        f"{ideal:,.0f} calls/s are ideal; median of {repetitions}",
        ("engine", "calls/s", "of ideal", "(range)", "target", "CPU ms/call", "at once"),
        [
            (
                engine.name,
                f"{median(rates):,.0f}",
                f"{median(rates) / ideal:.1%}",
                f"{min(rates) / ideal:.0%}-{max(rates) / ideal:.0%}",
                f"{MANY_TARGET:.0%}",
                f"{median(usage.cpu_seconds for usage in engine.whole) / count * 1000:.2f}",
                f"{engine.peak}",
            )
        ],
    )


def _round(engine: Engine, server: Child, count: int, folder: Path, workers: int = WORKERS) -> None:
    """One run of one engine; each turn must have been asked about once, and judged by the rule."""
    assert engine.child is not None
    server.ask()
    done = engine.child.ask([count, str(_made(folder)), workers])
    seen = server.ask()
    expected = [number % 2 == 0 for number in range(count)]
    right = sum(a is b for a, b in zip(done["verdicts"], expected, strict=False))
    if right != count or len(done["verdicts"]) != count:
        raise BenchmarkError(f"{engine.name}: {right:,} of {count:,} verdicts are there and right")
    if seen["count"] != count or seen["peak"] > workers:
        raise BenchmarkError(f"{engine.name}: {seen['count']:,} calls for {count:,} turns, {seen['peak']} at once")
    engine.calls.append(seen["seconds"])
    engine.whole.append(Usage(done["seconds"], done["cpu_seconds"]))
    engine.peak = max(engine.peak, seen["peak"])


def _print(engines: list[Engine], count: int, repetitions: int) -> None:
    best = engines[0]
    lines: list[tuple[str, ...]] = []
    for engine in engines:
        if engine.child is None:
            lines.append((engine.name, "not installed", *[""] * 10))
            continue
        rates = [count / seconds for seconds in engine.calls]
        ratios = [b / a for a, b in zip(best.calls, engine.calls, strict=True)]
        whole = [b.seconds / a.seconds for a, b in zip(best.whole, engine.whole, strict=True)]
        lines.append(
            (
                engine.name,
                engine.versions,
                f"{median(rates):,.0f}",
                f"{median(rates) / IDEAL:.1%}",
                f"{min(rates) / IDEAL:.0%}-{max(rates) / IDEAL:.0%}",
                f"{TARGET:.0%}" if engine is best else "",
                "" if engine is best else f"{median(ratios):.1f}x",
                "" if engine is best else f"{min(ratios):.1f}-{max(ratios):.1f}",
                f"{median(run.seconds for run in engine.whole):.2f}",
                "" if engine is best else f"{median(whole):.1f}x",
                f"{median(run.cpu_seconds for run in engine.whole) / count * 1000:.2f}",
                f"{engine.peak}",
            )
        )
    table(
        f"JUDGE  {count:,} calls to a server on this machine that takes {LATENCY * 1000:.0f} ms, {WORKERS} at once: "
        f"{IDEAL:,.0f} calls/s are ideal;\n"
        f"       median of {repetitions}; calls/s: from the first request to the last reply, as the server sees it;\n"
        "       whole: seconds of the whole call, without imports; ratio: how many times as fast the first line is;\n"
        f"       target for the CPU of the first line: {CPU_TARGET} ms",
        (
            "engine",
            "versions",
            "calls/s",
            "of ideal",
            "(range)",
            "target",
            "ratio",
            "(range)",
            "whole",
            "ratio",
            "CPU ms/call",
            "at once",
        ),
        lines,
    )


def _resume(folder: Path, count: int, repetitions: int) -> None:
    """The command that a user types again after a crash, when in fact all was done."""
    progress(f"judge: {count:,} turns to resume")
    file, output = folder / "turns.jsonl", folder / "resumed"
    file.write_text("".join(json.dumps(turn) + "\n" for turn in make_turns(count)), encoding="utf-8")
    with _server(folder, 0.0) as server:
        what = ["--turns", str(file), "--output-dir", str(output), "--judge-model", MODEL, "--base-url", _url(server)]
        what += ["--workers", str(WORKERS), "--no-judge-check"]  # this server's rule is none of a good judge
        command = ragmeter_command("crag", "evaluate", *what)
        first = measure(command)
        asked = server.ask()["count"]
        again = [measure(command) for _ in range(repetitions)]
        more = server.ask()["count"]
    if (asked, more) != (count, 0):
        raise BenchmarkError(f"resume: {asked:,} calls for {count:,} turns at first, and {more:,} more to resume")
    scores = json.loads((output / "scores_dictionary.json").read_text(encoding="utf-8"))
    if scores["all"]["accuracy"] != 0.5:
        raise BenchmarkError(f"resume: the accuracy is {scores['all']['accuracy']}, and should be 0.5")
    seconds = [run.seconds for run in again]
    table(
        f"RESUME  ragmeter crag evaluate with every verdict in the journal, whole command; median of {repetitions}",
        ("turns", "first run", "resumed", "(range)", "target", "CPU s", "peak memory", "calls made"),
        [
            (
                f"{count:,}",
                f"{first.seconds:.1f} s",
                f"{median(seconds):.2f} s",
                f"{min(seconds):.2f}-{max(seconds):.2f}",
                f"< {RESUME_TARGET:.0f} s",
                f"{median(run.cpu_seconds for run in again):.2f}",
                f"{max(run.peak_bytes for run in again) / 1e6:,.0f} MB",
                f"{more}",
            )
        ],
    )


@contextmanager
def _server(folder: Path, latency: float) -> Iterator[Child]:
    server = Child([sys.executable, str(_SERVER), "--latency", str(latency)], folder / f"server-{latency:g}.log")
    try:
        yield server
    finally:
        server.end()


def _url(server: Child) -> str:
    return f"http://127.0.0.1:{server.greeting}/v1"


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder
