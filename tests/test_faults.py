"""Faults at random moments, those of some fixed numbers; `sweep_faults.py` tries many more."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from sweep_faults import Ground, tried

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists() or not hasattr(os, "fork"), reason="Linux")


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Ground:
    return Ground(tmp_path_factory.mktemp("faults").resolve())


@pytest.mark.parametrize("number", range(12))
def test_nothing_is_lost(ground: Ground, number: int) -> None:
    what, wrong = tried(ground, number)
    assert not wrong, what
