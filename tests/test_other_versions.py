"""Versions never switch rules off in silence: what applies to other versions is counted and told."""

from __future__ import annotations

import json
from pathlib import Path
from unittest import mock

import pytest
from memory import Memory
from world import Result, fixer, repository, write

from codemods.engine.rounds import Options, plan
from codemods.model.edits import Unaffected
from codemods.model.names import NEWEST
from codemods.model.plan import OtherVersions, Plan
from codemods.transforms import load
from fixer.output.split import restricted
from fixer.report.tally import in_other_versions, other_versions
from fixer.run import execute
from fixer.run.cache import Cache
from fixer.run.execute import no_progress
from fixer.run.request import Request, plan_directory

ROOT = Path(__file__).parent.parent
RULES = {rule.code: rule for rule in load()}
CALLS = "from torch.cuda.amp import GradScaler, autocast\n\nscaler, other = GradScaler(), GradScaler()\n"
CACHED = """\
import torch

def step(model, teacher, x):
    with torch.autocast("cuda"):
        with torch.no_grad():
            y = model(x)
        return (model(x) - y).sum().backward()
"""
OLD, NEW = {"requirements.txt": "torch==1.6.0\n"}, {"requirements.txt": "torch==2.13.0\n"}
HINT = "apply to other versions than torch 1.6.0 (requirements.txt); run with --target torch=2.13 to see them."


def found(files: dict[str, str], *codes: str) -> Plan:
    paths = [path for path in files if path.endswith((".py", ".ipynb"))]
    return plan(paths, Memory(files), Options(rules=tuple(RULES[code] for code in codes)), fix=True)


def check(root: Path, *options: str) -> Result:
    return fixer("check", *options, at=root, real=True)


def test_it_is_counted_and_told_on_standard_error(tmp_path: Path) -> None:
    write(tmp_path, {**OLD, "a.py": CALLS})
    answer = check(tmp_path)
    assert (answer.code, answer.out) == (0, b"")
    assert f"\n2 findings {HINT}\n" in answer.err
    assert HINT not in check(tmp_path, "--quiet").err + check(tmp_path, "--select", "PL").err
    assert HINT in fixer("apply", at=tmp_path, real=True).err and (tmp_path / "a.py").read_text() == CALLS
    shown = check(tmp_path, "--target", "torch=2.13")
    assert shown.text.count("AMP002") == 2 and "other versions" not in shown.err


def test_programs_read_it_in_the_summary(tmp_path: Path) -> None:
    write(tmp_path, {**OLD, "a.py": CALLS})
    summary = json.loads(check(tmp_path, "--format", "json").out)["summary"]
    assert summary["findings"] == 0
    assert summary["other_versions"] == [
        {"findings": 2, "package": "torch", "spec": "==1.6.0", "from": "requirements.txt", "target": "torch=2.13"}
    ]
    (tmp_path / "requirements.txt").unlink()
    assert json.loads(check(tmp_path, "--format", "json").out)["summary"]["other_versions"] == []


def test_what_newer_versions_repaired_is_told_with_a_range(tmp_path: Path) -> None:
    write(tmp_path, {**NEW, "a.py": CACHED})
    answer = check(tmp_path, "--select", "AMP001")
    assert "1 finding applies to other versions than torch 2.13.0 (requirements.txt); " in answer.err
    assert "run with --target 'torch<2.11' to see it." in answer.err
    assert "AMP001" in check(tmp_path, "--select", "AMP001", "--target", "torch<2.11").text


@pytest.mark.parametrize("comment", ["fixer: ignore[AMP002]", "noqa: AMP002"])
def test_what_is_silenced_or_expected_does_not_count(comment: str) -> None:
    made = found({**OLD, "a.py": CALLS.replace("GradScaler()\n", f"GradScaler()  # {comment}\n")}, "AMP002")
    assert (made.other_versions, made.unused, made.findings) == ((), (), ())


def test_cells_and_projects_count_by_themselves() -> None:
    cell = {"cell_type": "code", "metadata": {}, "source": CALLS, "outputs": [], "execution_count": None}
    notebook = {"cells": [cell, cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    files = {**OLD, "a.ipynb": json.dumps(notebook), "sub/requirements.txt": "torch==2.0.1\n", "sub/b.py": CALLS}
    told = [(each.findings, each.allowed, each.source) for each in other_versions(found(files, "AMP002"))]
    assert told == [(4, "==1.6.0", "requirements.txt"), (2, "==2.0.1", "sub/requirements.txt")]


def test_a_fix_elsewhere_in_the_file_counts_nothing_twice() -> None:
    files = {**OLD, "a.py": CALLS + "import torch\nloss = torch.tensor(loss)\nloss.backward()\n"}
    made = found(files, "AMP002", "GRD001")
    assert {f.code for f in made.findings} == {"GRD001"} and len(made.other_versions) == 2


def changed(number: int, path: str) -> OtherVersions:
    return OtherVersions(path, "AMP002", f"{number:016x}", Unaffected("torch", f"==1.{number}", f"{path}.txt", ">=2.4"))


def test_parts_of_a_plan_keep_their_own() -> None:
    whole = Plan(other_versions=(changed(1, "a.py"), changed(2, "b.py")))
    assert restricted(whole, ["b.py"]).other_versions == (changed(2, "b.py"),)
    assert execute.merge(
        [whole, Plan(other_versions=(changed(2, "b.py"), changed(3, "c.py")))]
    ).other_versions == tuple(changed(number, f"{name}.py") for number, name in enumerate("abc", start=1))


def test_many_projects_are_counted_together() -> None:
    whole = Plan(other_versions=tuple(changed(number, f"{number}.py") for number in range(1, 7)))
    *named, rest = in_other_versions(whole)
    assert len(named) == 3
    assert rest == "3 more findings in 3 projects of yet other versions (--verbose names them)."
    assert len(list(in_other_versions(whole, few=False))) == 6


def test_processes_and_the_cache_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {f"m{number}.py": CALLS if number % 3 else "x = 1\n" for number in range(60)}
    root = repository(tmp_path / "r", {**OLD, **texts})
    monkeypatch.setattr(execute, "ENOUGH_LINES", 20)
    monkeypatch.setattr(execute, "CHUNK_LINES", 20)
    monkeypatch.setattr("fixer.run.cache_directory.directory", lambda: tmp_path / "cache")

    def told(jobs: int, *, cache: bool = False) -> list[tuple[int, str]]:
        request = Request(jobs=jobs, cache=cache)
        outcome = plan_directory(request, root, fix=True, progress=no_progress)
        return [(each.findings, each.source) for each in other_versions(outcome.plan)]

    assert told(1) == told(2) == told(2, cache=True) == [(80, "requirements.txt")]
    with mock.patch.object(Cache, "keep", side_effect=AssertionError("all is known")):
        assert told(2, cache=True) == [(80, "requirements.txt")]
    (root / "m1.py").write_text("x = 1\n")
    assert told(2, cache=True) == told(1) == [(78, "requirements.txt")]


def test_only_changed_lines_count_with_since(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {**OLD, "a.py": CALLS})
    write(root, {"a.py": f"{CALLS}more = GradScaler()\n"})
    assert "\n1 finding applies to other versions than torch 1.6.0" in check(root, "--since", "HEAD").err
    assert f"\n3 findings {HINT}" in check(root).err


def test_the_newest_releases_are_those_of_the_checks() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    used = dict(line.split("==") for line in lines if "==" in line)
    assert {name: ".".join(used[name].split(".")[:2]) for name in NEWEST} == NEWEST
