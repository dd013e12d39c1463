"""Lint, format and types are part of the test run."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize(
    "command",
    [["ruff", "check", "."], ["ruff", "format", "--check", "."], ["mypy"]],
    ids=["ruff-check", "ruff-format", "mypy"],
)
def test_static(command: list[str]) -> None:
    done = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_property_looks_at_a_clock() -> None:
    """The profile of conftest.py holds everywhere: nobody sets limits of their own."""
    assert settings.default is not None and settings.default.deadline is None
    own = {"deadline", "suppress_health_check"}
    for path in sorted((ROOT / "tests").glob("*.py")):
        if path.name != "conftest.py":
            found = [n.arg for n in ast.walk(ast.parse(path.read_bytes())) if isinstance(n, ast.keyword)]
            assert own.isdisjoint(found), path


def test_python_3_10_can_evaluate_every_class_variable() -> None:
    """`typing.get_type_hints` of it refuses a bare `ClassVar`, and options are read from type hints."""
    for package in ("codemods", "fixer"):
        for path in sorted((ROOT / package).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_bytes())):
                if isinstance(node, ast.AnnAssign):
                    assert ast.unparse(node.annotation) not in ("ClassVar", "typing.ClassVar"), (path, node.lineno)
