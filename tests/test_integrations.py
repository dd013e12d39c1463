"""Where people already are: the hooks of pre-commit, and the shell steps of the GitHub action."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from world import CHECKOUT, SURROUNDINGS, repository

OLD = "import torch\n\nscaler = torch.cuda.amp.GradScaler()\n"
NEW = OLD.replace("torch.cuda.amp.GradScaler()", 'torch.amp.GradScaler("cuda")')


@pytest.fixture
def command(tmp_path: Path) -> dict[str, str]:
    """An environment in which `fixer` is a command."""
    place = tmp_path / "bin"
    place.mkdir()
    script = place / "fixer"
    script.write_text(f"#!/bin/sh\nexec '{sys.executable}' -c 'from fixer.cli import main; main()' \"$@\"\n")
    script.chmod(0o755)
    path = f"{place}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, **SURROUNDINGS, "PATH": path, "PYTHONPATH": str(CHECKOUT)}


def test_the_hooks_of_pre_commit(tmp_path: Path, command: dict[str, str]) -> None:
    """pre-commit puts the names of files behind the entry."""
    hooks = {hook["id"]: hook for hook in yaml.safe_load((CHECKOUT / ".pre-commit-hooks.yaml").read_text())}
    files = {
        "train.py": OLD,
        "a/conf.yaml": "trainer:\n  precision: 16\n",
        "pyproject.toml": "[project]\nname = 'x'\nversion = '1'\ndependencies = ['torch>=2.4']\n",
        "b c.py": "",
    }
    root = repository(tmp_path / "work", files)
    assert all(hook["language"] == "python" and hook["types_or"] for hook in hooks.values())
    for name, code, text in (("fixer-check", 1, OLD), ("fixer-apply", 0, NEW), ("fixer-check", 0, NEW)):
        words = [*hooks[name]["entry"].split(), *files]
        done = subprocess.run(words, cwd=root, env=command, capture_output=True, check=False, timeout=120)
        assert (done.returncode, (root / "train.py").read_text()) == (code, text), done.stderr.decode()


def steps() -> dict[str, dict[str, Any]]:
    action = yaml.safe_load((CHECKOUT / "action.yml").read_text(encoding="utf-8"))
    return {step["name"]: step for step in action["runs"]["steps"]}


def done(step: dict[str, Any], at: Path, environment: dict[str, str], **given: str) -> subprocess.CompletedProcess[str]:
    """Run one step as a runner would, with what stands for each expression."""
    values = inputs(given)
    known = {name: values[text[3:-2].strip()] for name, text in step["env"].items()}
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=at,
        env={**environment, **known},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def inputs(given: Mapping[str, str]) -> dict[str, str]:
    """What the expressions of the action stand for: the inputs as they are given, else as they are by default."""
    action = yaml.safe_load((CHECKOUT / "action.yml").read_text(encoding="utf-8"))
    values = {f"inputs.{name}": value["default"] for name, value in action["inputs"].items()}
    values |= {f"inputs.{name.replace('_', '-')}": value for name, value in given.items()}
    assert len(values) == len(action["inputs"]), "an input that the action does not have"
    return {"github.action_path": str(CHECKOUT), **values}


def run(at: Path, environment: dict[str, str], *, installed: bool = True, **given: str) -> dict[str, Any]:
    """Run the action as a runner would: a step is left out if its condition does not hold, or an earlier one failed."""
    values, ended = inputs(given), dict[str, Any]()
    failed = not installed
    for name, step in steps().items():
        if name == "Install fixer":
            continue
        condition = str(step.get("if", "success()")).removeprefix("${{").removesuffix("}}")
        whatever = "cancelled()" in condition
        holds = True
        for part in condition.split("&&"):
            match part.strip():
                case "!cancelled()" | "success()":
                    pass
                case "steps.install.outcome == 'success'":
                    holds = holds and installed
                case other:
                    holds = holds and bool(values[other])
        if holds and (whatever or not failed):
            ended[name] = done(step, at, environment, **given)
            failed = failed or ended[name].returncode != 0
    return ended


def test_the_steps_of_the_action(tmp_path: Path, command: dict[str, str]) -> None:
    """Annotations, SARIF and a branch; words of an input are never read by the shell."""
    odd = "$(touch pwned) 'a.py"
    root = repository(tmp_path / "work", {"train.py": OLD, odd: OLD})
    options = "--select=AMP002\n\n--target=torch>=2.4\n"
    annotated = done(steps()["Annotate the changes"], root, command, options=options, paths=f"{odd}\ntrain.py\n")
    assert annotated.returncode == 1
    assert [line.partition(",")[0] for line in annotated.stdout.splitlines()] == [
        f"::warning file={odd}",
        "::warning file=train.py",
    ]
    written = done(steps()["Write SARIF"], root, command, options=options, sarif="out.sarif")
    assert written.returncode == 0, written.stderr
    assert len(json.loads((root / "out.sarif").read_text())["runs"][0]["results"]) == 2
    branch = steps()["Open a pull request with the fixes"]
    refused = done(branch, root, command, apply_options=options, fix_branch="fix/amp")
    assert refused.returncode == 2 and "remote" in refused.stderr
    assert not list(tmp_path.rglob("pwned"))


@pytest.mark.parametrize("more", [{}, {"apply_options": "--ignore-in-blame\n--target=torch>=2.4"}])
def test_options_of_check_are_not_handed_to_apply(
    more: dict[str, str], tmp_path: Path, command: dict[str, str]
) -> None:
    """Each has options that the other does not know. Here the branch cannot be pushed, as there is no remote."""
    root = repository(tmp_path / "work", {"train.py": OLD})
    options = "--fail-on=silent\n--target=torch>=2.4"
    ended = run(root, command, options=options, fix_branch="fix/amp", sarif="out.sarif", **more)
    written, branch, annotated = ended.values()
    assert written.returncode == 0, written.stderr
    assert branch.returncode == 2 and "remote" in branch.stderr and "No such option" not in branch.stderr
    assert annotated.returncode == 0, annotated.stderr
    assert annotated.stdout.startswith("::warning file=train.py"), "annotated also if the branch failed"


def test_steps_that_are_left_out(tmp_path: Path, command: dict[str, str]) -> None:
    root = repository(tmp_path / "work", {"train.py": OLD})
    assert list(run(root, command)) == ["Annotate the changes"]
    assert run(root, command, installed=False) == {}


def test_what_the_action_uses() -> None:
    """No expression stands in a script, where its value would be read as code."""
    assert all("${{" not in step["run"] and step["shell"] == "bash" for step in steps().values())
    assert steps()["Install fixer"]["env"]["EXTRA"] == "${{ inputs.fix-branch && '[github]' || '' }}"
