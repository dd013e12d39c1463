"""A campaign that is killed at any moment comes to what an undisturbed one does (a small `sweep_bulk.py`)."""

from __future__ import annotations

from pathlib import Path

from sweep_bulk import invented, sweep


def test_a_killed_campaign_goes_on_where_it_was(tmp_path: Path) -> None:
    said = sweep(tmp_path, list(invented(6)), kills=3, seed=3, settings="limits.concurrent = 2\n")
    assert said.startswith("6 repositories, ")
