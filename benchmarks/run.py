"""Benchmarks: ragmeter beside what people use today, in one run. `python benchmarks/run.py --help`.

Every section also holds ragmeter's values to those of the peers, and fails if one is more than 1e-9 off; `judge` holds
every verdict to the server's rule. Nothing is written outside a temporary folder, and nothing is asked of other
machines.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from importlib import import_module
from pathlib import Path

from common import COMMAND, PEER, BenchmarkError, machine

_HOMES = {
    "text": "bench_text",
    "ranking": "bench_ranking",
    "compare": "bench_compare",
    "offline": "bench_offline",
    "support": "bench_support",
    "judge": "bench_judge",
    "web": "bench_web",
    "chat": "bench_chat",
    "report": "bench_report",
    "scale": "bench_text",
    "semantic": "bench_semantic",
    "start": "bench_start",
    "cores": "bench_cores",
    "cluster": "bench_cluster",
    "app": "bench_app",
}
SECTIONS = tuple(_HOMES)
DEFAULT = ("text", "ranking", "compare", "offline", "support", "judge", "start", "cores")
PEERS = ("openai", "ragas", "deepeval")


def main() -> int:
    """Run the sections that were asked for; the exit code is 1 if one of them found something wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument(
        "sections", nargs="*", metavar="SECTION", help=f"{', '.join(SECTIONS)}; default: {' '.join(DEFAULT)}"
    )
    parser.add_argument("--scale", action="store_true", help="the section scale as well, which takes minutes")
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows, to see whether everything works")
    parser.add_argument("--ragmeter", metavar="PATH", help="the command to measure, of a plain install")
    parser.add_argument(
        "--peer",
        nargs=2,
        action="append",
        default=[],
        metavar=("NAME", "PYTHON"),
        help=f"the interpreter that has a peer of the section judge: {', '.join(PEERS)}; default: this one",
    )
    chosen = parser.parse_args()
    if chosen.ragmeter:
        os.environ[COMMAND] = str(Path(chosen.ragmeter).absolute())
    for name, python in chosen.peer:
        if name not in PEERS or not Path(python).is_file():
            parser.error(f"--peer takes one of {', '.join(PEERS)} and the path of an interpreter")
        os.environ[PEER.format(name.upper())] = str(Path(python).absolute())
    for name in chosen.sections:
        if name not in SECTIONS:
            parser.error(f"unknown section {name!r}; there are {', '.join(SECTIONS)}")
    wanted = set(chosen.sections or DEFAULT) | ({"scale"} if chosen.scale else set())
    print(machine() + ("; a quick run, whose numbers mean little" if chosen.quick else ""))
    with tempfile.TemporaryDirectory(prefix="ragmeter-bench-") as scratch:
        folder = Path(scratch)
        _keep_peers_inside(folder)
        try:
            for name in SECTIONS:
                if name in wanted:
                    _run(name, folder, quick=chosen.quick)
        except BenchmarkError as error:
            print(f"\nFAILED: {error}", file=sys.stderr)
            return 1
    if wanted - {
        "offline",
        "support",
        "judge",
        "report",
        "semantic",
        "start",
        "web",
        "chat",
        "cores",
        "cluster",
        "app",
    }:
        print("\nAll values are the oracles' to 1e-9.")
    return 0


def _run(name: str, folder: Path, *, quick: bool) -> None:
    """Sections import late, so that one works without what another needs."""
    getattr(import_module(_HOMES[name]), name)(folder, quick=quick)


def _keep_peers_inside(folder: Path) -> None:
    """Some peers write caches into the user's home as soon as they are imported; here they get a folder of ours.

    Some also tell their makers that they are used, or ask a proxy for what is on this machine; here they don't.
    """
    for name in ("IR_DATASETS_HOME", "IR_DATASETS_TMP", "MPLCONFIGDIR", "NUMBA_CACHE_DIR", "DEEPEVAL_HOME", "HF_HOME"):
        os.environ[name] = str(folder / name.lower())
    for name in ("DEEPEVAL_TELEMETRY_OPT_OUT", "DEEPEVAL_NO_INSPECT_PROMPT", "RAGAS_DO_NOT_TRACK", "HF_HUB_OFFLINE"):
        os.environ[name] = "true"
    os.environ["NO_PROXY"] = os.environ["no_proxy"] = "127.0.0.1"


if __name__ == "__main__":
    sys.exit(main())
