"""Codemods that are wrong on purpose are refuted before anything is written; `sweep_verify.py` tries all of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from wrong_fixes import WRONG, WrongFix, attempted

pytest.importorskip("torch")
pytestmark = pytest.mark.law


@pytest.mark.parametrize("wrong", [pytest.param(each, id=each.name) for each in WRONG[:5]])
def test_a_wrong_fix_is_refuted(wrong: WrongFix, tmp_path: Path) -> None:
    answer = attempted(wrong, tmp_path)
    assert answer.code == 1, answer.err
    assert "refuted: after the fixes" in answer.err and wrong.says in answer.err
    assert (tmp_path / "project" / "train.py").read_text() == wrong.program
