"""Runs a command and prints its wall time, CPU time and peak memory as JSON: `python measured.py COMMAND ...`.

A process of its own, and a lean one: a child starts its life with the memory of its parent on its account, so one that
has scikit-learn loaded can't measure anything smaller than itself.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time


def main(command: list[str]) -> None:
    """Run the command with its output thrown away; what it says on standard error is kept for when it fails."""
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begin
    unit = 1 if sys.platform == "darwin" else 1024
    cpu_seconds = usage.ru_utime + usage.ru_stime
    print(json.dumps({"seconds": seconds, "cpu_seconds": cpu_seconds, "peak_bytes": usage.ru_maxrss * unit}))
    process.returncode = os.waitstatus_to_exitcode(status)
    sys.exit(process.returncode)


if __name__ == "__main__":
    main(sys.argv[1:])
