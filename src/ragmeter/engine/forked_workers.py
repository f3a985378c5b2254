"""What workers on this machine import, in the process that they are forked from.

Importing Arrow and this package takes most of a second of CPU: it is done once, not once in each worker. Whoever
imports this module is that process, and nothing else.
"""

from __future__ import annotations

import os
import sys

from ragmeter.effects.process.own_process import set_up_own_process

for _library in ("OMP", "OPENBLAS", "MKL"):  # a worker has one thread
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")
sys.stdout = sys.stderr  # for what the user's code prints, as in engine/processes.py
set_up_own_process()  # before Arrow is imported

import ragmeter.engine.parts.work  # noqa: E402
import ragmeter.engine.processes  # noqa: E402
import ragmeter.judges.claims  # noqa: E402, F401
