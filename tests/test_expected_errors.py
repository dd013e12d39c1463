"""No rule repairs what a test expects to fail: a few fixtures of each, their functions where the error is expected."""

from __future__ import annotations

import ast
from collections.abc import Callable

import pytest
from cases import Case, hold, sources
from memory import Memory
from test_twins import decoded, nested

from codemods.engine.rounds import Options, plan
from codemods.model.edits import Safety
from codemods.model.plan import Plan
from codemods.transforms import load

EXPECTING = {
    "raises": ("import pytest", "with pytest.raises(RuntimeError):"),
    "warns": ("from pytest import warns", "with warns(UserWarning):"),
    "assertRaises": ("import unittest", "with unittest.TestCase().assertRaises(RuntimeError):"),
    "suppress": ("import contextlib", "with contextlib.suppress(RuntimeError):"),
}
OBSERVING = {
    "catch_warnings": ("import warnings", "with warnings.catch_warnings():"),
    "mock.patch": ("from unittest import mock", 'with mock.patch("torch.autocast"):'),
}
each_rule = pytest.mark.parametrize("code", [rule.code for rule in load() if rule.triggers])


def inside(case: Case, statement: str, header: str) -> tuple[Plan, list[range]] | None:
    """What is found in a fixture whose functions have their bodies in a `with`, and the lines of these bodies."""
    text = decoded(case.path.read_bytes())
    twin = nested(header)(text) if text is not None else None
    if text is None or twin is None or twin == text:
        return None
    first = ast.parse(twin).body[0]
    at = 1 if isinstance(first, ast.Expr) else 0
    while isinstance(future := ast.parse(twin).body[at], ast.ImportFrom) and future.module == "__future__":
        at += 1
    lines = twin.split("\n")
    lines.insert(ast.parse(twin).body[at].lineno - 1, statement)
    twin = "\n".join(lines)
    files = {"case.py": twin.encode()}
    bodies = [
        range(node.body[0].lineno, (node.end_lineno or 0) + 1)
        for node in ast.walk(ast.parse(twin))
        if isinstance(node, ast.With) and ast.unparse(node).startswith(header)
    ]
    return plan(sources(files), Memory(files), case.engine_options(), fix=False), bodies


def asked(code: str, chosen: list[Case]) -> dict[str, Case]:
    return {case.name: case for case in chosen if case.rule.code == code and case.python and case.kind == "before"}


@each_rule
def test_what_expects_an_error_is_left_alone(code: str, chosen: list[Case]) -> None:
    def law(case: Case) -> None:
        for statement, header in EXPECTING.values():
            if (found := inside(case, statement, header)) is not None:
                result, bodies = found
                assert [f.message for f in result.findings if any(f.place.line in body for body in bodies)] == [], (
                    header
                )

    hold(law, asked(code, chosen))


@each_rule
def test_where_warnings_are_caught_nothing_is_repaired(code: str, chosen: list[Case]) -> None:
    def law(case: Case) -> None:
        for statement, header in OBSERVING.values():
            if (found := inside(case, statement, header)) is not None:
                result, bodies = found
                there = [f for f in result.findings if any(f.place.line in body for body in bodies)]
                assert [f.message for f in there if f.fix or f.safety is not Safety.DISPLAY] == [], header

    hold(law, asked(code, chosen))


FOUND = """\
import torch


def bug(model, x):
    loss = torch.nn.functional.mse_loss(model(x), x)
    loss.detach().backward()
"""
HIDDEN: dict[str, Callable[[str], str]] = {
    "lambda": lambda text: (
        f"import pytest\n{text}\ndef test(model, x):\n    pytest.raises(RuntimeError, lambda: bug(model, x))\n"
    ),
    "helper": lambda text: (
        f"import pytest\n{text}\ndef test(model, x):\n    with pytest.raises(RuntimeError):\n        bug(model, x)\n"
    ),
    "handed over": lambda text: (
        f"import pytest\n{text}\ndef test(model, x):\n    pytest.raises(RuntimeError, bug, model, x)\n"
    ),
    "method": lambda text: (
        f"import unittest\n{text}\nclass T(unittest.TestCase):\n    def test(self):\n"
        "        self.assertRaises(RuntimeError, bug, None, None)\n"
    ),
    "xfail": lambda text: text.replace("def bug", "@pytest.mark.xfail\ndef bug").replace(
        "import torch", "import pytest, torch"
    ),
    "xfail with a reason": lambda text: text.replace("def bug", '@pytest.mark.xfail(reason="x")\ndef bug').replace(
        "import torch", "import pytest, torch"
    ),
    "expectedFailure": lambda text: text.replace("def bug", "@unittest.expectedFailure\ndef bug").replace(
        "import torch", "import unittest, torch"
    ),
}
SHOWN: dict[str, Callable[[str], str]] = {
    "as it is": lambda text: text,
    "called elsewhere, too": lambda text: f"{HIDDEN['helper'](text)}\ndef main(model, x):\n    bug(model, x)\n",
    "another error is suppressed": lambda text: text.replace(
        "    loss.detach", "    with contextlib.suppress(KeyboardInterrupt):\n        loss.detach"
    ).replace("import torch", "import contextlib, torch"),
    "a method called patch": lambda text: text.replace(
        "    loss.detach", "    with model.patch():\n        loss.detach"
    ),
}


def fixed(text: str) -> list[str]:
    files = {"a.py": text.encode()}
    rules = tuple(rule for rule in load() if rule.code == "GRD002")
    return [f.code for f in plan(["a.py"], Memory(files), Options(rules), fix=False).findings if f.fix]


@pytest.mark.parametrize("change", HIDDEN.values(), ids=HIDDEN)
def test_expected_by_other_ways(change: Callable[[str], str]) -> None:
    assert fixed(change(FOUND)) == []


@pytest.mark.parametrize("change", SHOWN.values(), ids=SHOWN)
def test_not_expected(change: Callable[[str], str]) -> None:
    assert fixed(change(FOUND)) == ["GRD002"]


def test_what_comes_behind_an_expected_error_is_repaired() -> None:
    expected = "def test(model, x):\n    with pytest.raises(RuntimeError):\n        bug(model, x)\n"
    again = FOUND.partition("\n")[2].replace("def bug", "def again")
    assert fixed(f"import pytest\n{FOUND}\n\n{expected}\n{again}") == ["GRD002"]
