"""`fixer check --watch`: the processor time from a saved file to the answer. Needs Linux, whose processes tell it."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

from benchmarks.everyday import COMMENTED, commented, editing
from benchmarks.measure import Failed
from benchmarks.pins import LARGE
from benchmarks.setting import Setting

GOAL = 0.3
"""Seconds of processor time."""
_PATIENCE = 300.0
"""Seconds."""


def saved_to_answer(setting: Setting, rounds: int) -> list[tuple[float, float]]:
    """Seconds on the clock and of processor time, once for each round: a comment is saved, the answer is printed.

    Raises:
        Failed: if there is no answer.
    """
    at = setting.corpora.alone[LARGE]
    edit = editing(at, COMMENTED[LARGE], commented)
    command = [setting.tools.fixer, "check", "--isolated", "--watch", "."]
    said = setting.cache / "watch.log"
    with said.open("wb") as errors:
        running = subprocess.Popen(command, cwd=at, env=setting.environment, stdout=subprocess.DEVNULL, stderr=errors)
        try:
            _answered(said, 1)
            found = []
            for number in range(rounds + 1):
                before, cpu = time.perf_counter(), _processor_time(running.pid)
                edit()
                _answered(said, number + 2)
                found.append((time.perf_counter() - before, _processor_time(running.pid) - cpu))
        finally:
            running.kill()
            running.wait()
    return found[1:]  # the first answer still loads what later ones have at hand


def _answered(said: Path, times: int) -> None:
    end = time.monotonic() + _PATIENCE
    while said.read_text().count("checked in") < times:
        if time.monotonic() > end:
            raise Failed(f"`fixer check --watch` gave no answer: {said.read_text()[-2000:]}")
        time.sleep(0.01)


def _processor_time(process: int) -> float:
    """Seconds, of all its threads and of the children that it has waited for."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
