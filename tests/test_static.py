"""Lint, format and types are part of the test run."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from hypothesis import settings
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
PROVIDED = {"codemods", "fixer", "peft", "transformers", "requests", "lsprotocol"}
"""Our own; those of a proof, which runs where they are installed; what PyGithub, python-gitlab and pygls speak with."""


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


def test_what_is_imported_is_declared() -> None:
    """An environment of a developer holds more than the wheel brings: nothing is taken from there by accident."""
    project = pytest.importorskip("tomllib").loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    lines = [*project["dependencies"], *(line for name in extras.keys() - {"dev"} for line in extras[name])]
    declared = {canonicalize_name(Requirement(line).name) for line in lines}
    distributions = packages_distributions()
    for path in (each for package in ("codemods", "fixer") for each in sorted((ROOT / package).rglob("*.py"))):
        for name in imported(ast.parse(path.read_bytes())) - sys.stdlib_module_names - PROVIDED:
            brought = {canonicalize_name(each) for each in distributions.get(name, [name])}
            assert brought & declared, f"{path.relative_to(ROOT)} imports {name}"


def imported(tree: ast.AST) -> set[str]:
    """The top-level names of the modules that are imported when the program runs."""
    found: set[str] = set()
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
        found |= imported(node)
    return found
