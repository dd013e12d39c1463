"""A command that is interrupted leaves nothing half done; `sweep_interrupt.py` tries many more moments."""

from __future__ import annotations

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
