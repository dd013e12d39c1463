"""The page "Writing a rule", followed to the letter: its files, its commands and what they print."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_proofs import needs_torch

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "writing-a-rule.md").read_text(encoding="utf-8")
EXAMPLE = PAGE.partition("## A real rule in ten minutes\n")[2].partition("\n## 1. ")[0]
BLOCKS = re.findall(r"^`(\S+\.py)`[^\n]*\n\n```(python|diff)\n(.*?)^```$", EXAMPLE, re.MULTILINE | re.DOTALL)
"""Path, language and text of what stands in files."""
CONSOLE = "\n".join(re.findall(r"^```console\n(.*?)\n```$", EXAMPLE, re.MULTILINE | re.DOTALL))
STEPS = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*(?:\n|\Z))*)", CONSOLE, re.MULTILINE)
"""Commands of the example, and what each prints; the first makes the skeleton."""
TESTS = re.search(r"^## 7\..*?^```sh\n(.*?)\n```$", PAGE, re.MULTILINE | re.DOTALL)
LATER = [*STEPS[1:], *((command, "") for command in (TESTS[1].splitlines() if TESTS else ()))]


def files() -> dict[str, str]:
    """Path → contents; of a fixture that is shown as a diff both sides."""
    found = {}
    for path, language, text in BLOCKS:
        if language == "python":
            found[path] = text
        else:
            for name, other in (("before", "+"), ("after", "-")):
                kept = [line[1:] for line in text.splitlines() if not line.startswith(other)]
                found[path.replace("before.py", f"{name}.py")] = "".join(f"{line}\n" for line in kept)
    return found


def marks(command: str) -> list[pytest.MarkDecorator]:
    """A proof needs torch, and the page shows what Python says since 3.11."""
    old = pytest.mark.skipif(sys.version_info < (3, 11), reason="older Pythons raise another error")
    return [pytest.mark.torch, needs_torch, old] if "verify.proof" in command else []


def follow(command: str, checkout: Path) -> str:
    """What a command prints in the copy, whose `.venv/bin` stands for this environment."""
    environment = os.environ | {
        "PYTHONPATH": str(checkout),
        "PYTHONDONTWRITEBYTECODE": "1",
        "XDG_CACHE_HOME": str(checkout / ".cache"),
    }
    done = subprocess.run(
        command, shell=True, cwd=checkout, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A copy of the checkout in which the rule of the page was started, and then written."""
    root = tmp_path_factory.mktemp("checkout")
    for name in ("codemods", "fixer", "tests", "docs"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("README.md", "CONTRIBUTING.md", "pyproject.toml"):
        shutil.copy(ROOT / name, root)
    programs = {"python": "", "fixer": " -c 'from fixer.cli import main; main()'"}
    for name, arguments in programs.items():
        path = root / ".venv" / "bin" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)}{arguments} "$@"\n')
        path.chmod(0o755)
    command, printed = STEPS[0]
    assert follow(command, root).split() == printed.split()
    assert sorted(files()) == sorted(printed.split()), "the page fills in what the skeleton has"
    for file, contents in files().items():
        (root / file).write_text(contents)
    yield root
    shutil.rmtree(root)


def test_the_page_has_an_example() -> None:
    assert len(files()) == 6 and len(STEPS) == 3 and len(LATER) > len(STEPS)


@pytest.mark.parametrize(
    ("command", "printed"), [pytest.param(*step, marks=marks(step[0]), id=step[0]) for step in LATER]
)
def test_a_command_of_the_page(command: str, printed: str, checkout: Path) -> None:
    """It succeeds, and prints what the page shows, wherever the page breaks the lines."""
    shown = follow(command, checkout)
    assert not printed or shown.split() == printed.split()
