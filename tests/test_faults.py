"""Faults at random moments, those of some fixed numbers; `sweep_faults.py` tries many more."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from faults import Fault
from sweep_faults import Ground, next_wrong, tried

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists() or not hasattr(os, "fork"), reason="Linux")


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Ground:
    return Ground(tmp_path_factory.mktemp("faults").resolve())


@pytest.mark.parametrize("number", range(12))
@pytest.mark.few(5)
def test_nothing_is_lost(ground: Ground, number: int) -> None:
    what, wrong = tried(ground, number)
    assert not wrong, what


def test_a_temporary_file_whose_directory_is_swapped_is_removed_by_the_next_run(ground: Ground) -> None:
    from fault_kinds import swapping

    with ground.trial("apply") as trial:
        swap = swapping(trial, "tied")

        def act(event: str, arguments: tuple[Any, ...]) -> None:
            if event == "os.chmod" and "/tied/." in str(arguments[0]) and not (trial.root / "tied.away").exists():
                swap(event, arguments)

        trial.run(fault=Fault(0, act, lasting=True))
        assert (trial.root / "tied.away").exists()
        for end in trial.mend:
            end()
        assert not list(next_wrong(trial))
