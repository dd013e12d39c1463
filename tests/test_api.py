"""The Python interface: `fixer.check`, `fixer.apply` and `fixer.undo`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import world
from world import CHECKOUT, write

import fixer

OLD = "import torch\n\nscaler = torch.cuda.amp.GradScaler()\n"
NEW = 'import torch\n\nscaler = torch.amp.GradScaler("cuda")\n'


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FIXER_CACHE_DIR", str(tmp_path / "cache"))
    write(tmp_path, {"work/train.py": OLD, "work/sub/other.py": OLD, "work/fixer.toml": 'select = ["AMP"]\n'})
    return tmp_path / "work"


def told(plan: fixer.Plan) -> list[tuple[str, int, str, bool]]:
    return [(f.path, f.place.line, f.code, f.applied) for f in plan.findings]


def test_check_writes_nothing(project: Path) -> None:
    plan = fixer.check(root=project, targets={"torch": ">=2.4"})
    assert told(plan) == [("sub/other.py", 3, "AMP002", False), ("train.py", 3, "AMP002", False)]
    assert plan.findings[0].fix is not None and (project / "train.py").read_text() == OLD


def test_apply_writes_what_its_plan_says(project: Path) -> None:
    options: fixer.api.RunOptions = {"select": ["amp002"], "targets": {"torch": "2.4"}, "cache": False}
    dry = fixer.apply("sub", root=project, dry_run=True, **options)
    assert told(dry) == [("sub/other.py", 3, "AMP002", True)] and (project / "sub/other.py").read_text() == OLD
    plan = fixer.apply("sub", root=project, **options)
    assert plan == dry and (project / "sub/other.py").read_text() == NEW and (project / "train.py").read_text() == OLD
    assert plan.files[0].after == NEW.encode()
    assert not fixer.apply("sub", root=project, **options).findings


def test_what_was_applied_is_taken_back(project: Path) -> None:
    targets = {"torch": "2.4"}
    with pytest.raises(fixer.Refusal, match="there is nothing to undo"):
        fixer.undo(root=project)
    fixer.apply(root=project, targets=targets, dry_run=True)
    with pytest.raises(fixer.Refusal, match="there is nothing to undo"):
        fixer.undo(root=project)
    fixer.apply(root=project, targets=targets)
    (project / "train.py").write_text("# mine\n")
    plan = fixer.undo(root=project)
    assert [(file.path, file.after) for file in plan.files] == [("sub/other.py", OLD.encode())]
    assert [skip.path for skip in plan.skips] == ["train.py"]
    assert (project / "sub/other.py").read_text() == OLD and (project / "train.py").read_text() == "# mine\n"
    (project / "train.py").write_text(NEW)
    assert world.fixer("undo", at=project).text == "train.py: restored\n"  # what `apply` kept is what the command reads
    assert (project / "train.py").read_text() == OLD


def test_findings_are_chosen_as_by_the_command(project: Path) -> None:
    options: fixer.api.RunOptions = {"targets": {"torch": "2.4"}}
    first, second = fixer.check(root=project, **options).findings
    assert fixer.check(root=project, only=[first.fingerprint[:8]], **options).findings == (first,)
    arguments = ("--write-baseline", "known.json", "--select", "AMP", "--target", "torch=2.4", "--exit-zero", "sub")
    assert world.fixer("check", *arguments, at=project, real=True).code == 0
    assert fixer.check(root=project, baseline="known.json", **options).findings == (second,)
    assert told(fixer.apply(root=project, baseline=Path("known.json"), **options)) == [("train.py", 3, "AMP002", True)]
    assert (project / "sub/other.py").read_text() == OLD


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"select": ["ZZZ"]}, "there is no rule 'ZZZ'"),
        ({"targets": {"troch": "2.4"}}, "nothing depends on the version of troch; did you mean torch=2.4?"),
        ({"strategies": {"AMP001": "none"}}, "AMP001 has no strategy 'none'"),
        ({"config": "x.toml", "isolated": True}, "config and isolated contradict each other"),
        ({"only": ["xyz"]}, "only 'xyz'"),
        ({"baseline": "gone.json"}, "gone.json: No such file or directory"),
        ({"config": "gone.toml"}, "gone.toml: No such file or directory"),
    ],
)
def test_what_cannot_be_understood_is_refused(project: Path, options: fixer.api.RunOptions, sentence: str) -> None:
    with pytest.raises(fixer.Refusal) as refused:
        fixer.check(root=project, **options)
    assert sentence in str(refused.value)


def test_a_path_that_is_not_there_and_an_option_that_is_none(project: Path) -> None:
    with pytest.raises(fixer.Refusal, match=r"gone\.py: no such file or directory"):
        fixer.check("gone.py", root=project)
    with pytest.raises(TypeError, match="no option 'selct': there are select, ignore"):
        fixer.check(root=project, selct=["AMP"])  # type: ignore[call-arg]


def test_the_package_is_loaded_when_it_is_used() -> None:
    program = "import sys, fixer; print('codemods' in sys.modules); fixer.check; print('codemods' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=CHECKOUT, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split() == ["False", "True"]
