"""A command that is interrupted leaves nothing half done; `sweep_interrupt.py` tries many more moments."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from sweep_interrupt import FILES, FILLING, Ground, interrupted


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Ground:
    return Ground(tmp_path_factory.mktemp("ground").resolve(), files=8, filling=FILES * FILLING // 8)


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="the processes that are left are read in /proc")
@pytest.mark.parametrize(
    ("way", "how", "after"),
    [
        ("check", "SIGTERM", 0.2),
        ("check", "SIGKILL", 1.5),
        ("apply", "SIGINT", 1.5),
        ("branch", "SIGINT to the group", 2.0),
    ],
)
def test_nothing_half_done_is_left(ground: Ground, way: str, how: str, after: float) -> None:
    _, wrong = interrupted(ground, way, how, after, ground.place / "cache")
    assert not [each for each in wrong if each.startswith("WRONG")]


IGNORED = """
import signal, time, weakref
from fixer.cli.ending import end_when_told

class Kept: ...

signal.signal(signal.{number}, signal.SIG_DFL)
end_when_told()
kept = Kept()
lost = weakref.ref(kept, lambda _: signal.raise_signal(signal.{number}))
del kept
time.sleep(60)
"""
"""Python prints and drops what the callback of a weak reference raises. Who starts the tests may ignore a signal, as
`nohup` does."""


@pytest.mark.parametrize(("number", "code"), [("SIGTERM", 143), ("SIGHUP", 129), ("SIGINT", -2)])
def test_a_signal_is_not_lost_where_exceptions_are_ignored(number: str, code: int) -> None:
    command = [sys.executable, "-c", IGNORED.format(number=number)]
    ended = subprocess.run(command, check=False, timeout=30, capture_output=True, text=True)
    assert ended.returncode == code
    assert "ignored" not in ended.stderr
