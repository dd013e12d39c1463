"""A campaign whose forge fails; `sweep_campaign.py` tries many more faults."""

from __future__ import annotations

import pytest
from sweep_campaign import sweep

pytest.importorskip("github")


def test_the_same_refs_and_one_pull_request() -> None:
    assert sweep(range(1)) == []
