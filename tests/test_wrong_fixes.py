"""Codemods that are wrong on purpose are refuted, from what the probe sees.

That nothing is written then is held by `test_verify_run.py`; `sweep_verify.py` tries the whole command on all of them.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from functools import cache

import pytest
from riding import Forks, watched
from wrong_fixes import WRONG, WrongFix

from codemods.verify.comparison import judge
from codemods.verify.symptoms import Run

pytestmark = [
    pytest.mark.law,
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed"),
]


@pytest.fixture(scope="module")
def ran(forks: Forks, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Run]:
    """A program, run with the probe."""

    @cache
    def run(program: str) -> Run:
        shown, traces = forks.watched(tmp_path_factory.mktemp("program"), program)
        if not traces:  # a fork that failed before it trained has no report
            shown, traces = watched(tmp_path_factory.mktemp("program"), program)
        return Run("exit", int("Traceback" in shown), 1.0, shown, traces)

    return run


@pytest.mark.parametrize("wrong", [pytest.param(each, id=each.name) for each in WRONG])
@pytest.mark.few(8)
def test_a_wrong_fix_is_refuted(wrong: WrongFix, ran: Callable[[str], Run]) -> None:
    verdict = judge(ran(wrong.program), ran(wrong.after), effect=wrong.effect)
    assert verdict.word == "refuted" and any(wrong.says in each for each in (verdict.summary, *verdict.new)), verdict
