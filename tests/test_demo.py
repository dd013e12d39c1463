"""The main job, end to end, as a stranger would do it: the demo project, real rules, real git."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import world

CHECKOUT = Path(__file__).parents[1]
DEMO = Path(__file__).parent / "before_after" / "demo"
DIAGNOSES = {
    1: {"AMP001"},
    2: {"PL001", "PL002"},
    3: {"GRD002", "GRD004", "GRD005", "HF004", "VER001"},
    4: {"CKP001", "CKP005"},
    5: {"ATT001"},
}
LATIN = 'import torch\n# Größe\nname = "déjà"\nscaled = torch.cuda.amp.autocast(False)\n'


def run(*command: str, at: Path, code: int = 0, typed: str = "") -> bytes:
    """Run a program, pipe a text into it, expect an exit code, give back its standard output."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(at),
        "FIXER_CACHE_DIR": os.devnull,  # no directory: nothing is kept
        "PYTHONPATH": str(CHECKOUT),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        **{f"GIT_{who}_NAME": "Ada" for who in ("AUTHOR", "COMMITTER")},
        **{f"GIT_{who}_EMAIL": "ada@example.org" for who in ("AUTHOR", "COMMITTER")},
    }
    done = subprocess.run(command, cwd=at, env=environment, input=typed.encode(), capture_output=True, check=False)
    assert done.returncode == code, (done.stdout + done.stderr).decode("utf-8", "replace")
    return done.stdout + (done.stderr if code == 2 else b"")


def started(*arguments: str, at: Path, code: int = 0, typed: str = "") -> bytes:
    """The same of the command."""
    return run(sys.executable, "-c", "from fixer.cli import main; main()", *arguments, at=at, code=code, typed=typed)


def fixer(*arguments: str, at: Path, code: int = 0) -> bytes:
    """The same in this process, which has loaded the rules."""
    done = world.fixer(*arguments, at=at, environment={"FIXER_CACHE_DIR": os.devnull}, real=True)
    assert done.code == code, done.text + done.err
    return done.out + (done.err.encode() if code == 2 else b"")


def test_the_first_lines_of_the_readme_lead_from_an_error_to_its_fix(tmp_path: Path) -> None:
    """The traceback that it shows is piped into the first command, which prints the second one."""
    text = (CHECKOUT / "README.md").read_text(encoding="utf-8")
    log = text.partition("```console\n$ python train.py\n")[2].partition("```")[0]
    lines = text.partition("<!-- diagnose -->\n```sh\n")[2].partition("```")[0].splitlines()
    first, second = (line.partition("  #")[0].strip() for line in lines)
    source = (DEMO.parent / "unscaled-backward/example/before.py").read_text()
    (tmp_path / "train.py").write_text(f"{source}\n\ntrain(build_model(), loader())\n")
    assert first == "python train.py 2>&1 | fixer diagnose -" and log.startswith("Traceback")
    shown = started("diagnose", "-", at=tmp_path, typed=log).decode()
    assert f"\n  {second}\n" in shown and "+        scaler.scale(loss).backward()" in shown
    started(*second.split()[1:], at=tmp_path)
    assert "scaler.scale(loss).backward()" in (tmp_path / "train.py").read_text()
    assert started("check", "--select", "SCL003", at=tmp_path) == b""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The demo in a repository of its own, with a latin-1 file and a path with `ü` and a space."""
    place = tmp_path / "project"
    shutil.copytree(DEMO, place, ignore=shutil.ignore_patterns("__pycache__"))
    (place / "alt").mkdir()
    (place / "alt" / "latin.py").write_bytes(b"# -*- coding: latin-1 -*-\n" + LATIN.encode("latin-1"))
    (place / "alt" / "für alle.py").write_bytes(LATIN.replace("\n", "\r\n").encode())
    run("git", "init", "-q", "-b", "main", at=place)
    run("git", "add", ".", at=place)
    run("git", "commit", "-qm", "Start", at=place)
    return place


def state(place: Path) -> tuple[bytes, bytes, bytes]:
    """What must not change: status, HEAD, index."""
    status = run("git", "status", "--porcelain=v2", "--branch", at=place)
    return status, (place / ".git" / "HEAD").read_bytes(), run("git", "ls-files", "--stage", at=place)


def test_each_diagnosis_has_its_fix(project: Path) -> None:
    report = json.loads(fixer("check", "--unsafe-fixes", "--format", "json", at=project, code=1))
    fixable = {finding["code"] for finding in report["findings"] if finding["fix"]}
    for number, codes in DIAGNOSES.items():
        assert codes <= fixable, f"diagnosis {number}"


def test_the_summary_counts_what_unsafe_fixes_would_add(project: Path) -> None:
    done = world.fixer("apply", "--dry-run", at=project, real=True)
    assert "--unsafe-fixes" in done.err


@pytest.mark.parametrize("where", [".", "alt"])
def test_git_apply_takes_the_dry_run(project: Path, where: str) -> None:
    before = state(project)
    patch = fixer("apply", "--dry-run", "--unsafe-fixes", "..", at=project / "alt", code=1)
    assert state(project) == before
    (project.parent / "fixes.patch").write_bytes(patch)
    run("git", "apply", "--check", str(project.parent / "fixes.patch"), at=project / where)
    run("git", "apply", str(project.parent / "fixes.patch"), at=project / where)
    changed = run("git", "diff", "--name-only", "-z", at=project).split(b"\0")[:-1]
    applied = {name: (project / os.fsdecode(name)).read_bytes() for name in changed}
    if where == ".":
        assert b"torch.amp.autocast" in applied[b"alt/latin.py"]
        assert applied[b"alt/latin.py"].decode("latin-1").count("déjà") == 1
        assert applied["alt/für alle.py".encode()].count(b"\r\n") == LATIN.count("\n")
    run("git", "checkout", "-q", ".", at=project)
    fixer("apply", "--unsafe-fixes", ".", at=project)
    written = {name: (project / os.fsdecode(name)).read_bytes() for name in changed}
    assert {name: written[name] for name in applied} == applied, "a dry-run does not lie"


def test_a_branch_has_one_commit_per_rule(project: Path) -> None:
    before = state(project)
    fixer("apply", "--branch", "fix/amp", "--unsafe-fixes", at=project)
    assert state(project) == before
    log = run(
        "git",
        "log",
        "--reverse",
        "--format=%(trailers:key=Fixer-Rule,valueonly,separator=%x2C)",
        "main..fix/amp",
        at=project,
    )
    rules = log.decode().split()
    assert len(rules) == len(set(rules)) and set(rules) >= set().union(*DIAGNOSES.values())
    for commit in run("git", "rev-list", "main..fix/amp", at=project).decode().split():
        names = run("git", "diff-tree", "-r", "-z", "--name-only", "--no-commit-id", commit, at=project)
        for name in (name for name in names.split(b"\0") if name.endswith(b".py")):
            ast.parse(run("git", "show", f"{commit}:{os.fsdecode(name)}", at=project))


@pytest.mark.parametrize(("strategy", "version"), [("floor-2.0.7", "2.0.7"), ("floor-2.2.2", "2.2.2")])
def test_the_third_diagnosis_is_repaired_in_the_requirements(project: Path, strategy: str, version: str) -> None:
    before = (project / "requirements.txt").read_bytes()
    fixer("apply", "--unsafe-fixes", "--select", "VER001", "--strategy", f"VER001={strategy}", at=project)
    assert before.count(b"==2.0.3 ") == 1 and b"# newer ones" in before
    assert (project / "requirements.txt").read_bytes() == before.replace(b"==2.0.3 ", f"=={version} ".encode())


REPAIRS = {
    "non-reentrant": (
        (b"trust_remote_code: true\n", b"trust_remote_code: true\nuse_reentrant_gc: false\n"),
        (
            b"# does not fit without\n",
            b"# does not fit without\ngradient_checkpointing_kwargs:\n  use_reentrant: false\n",
        ),
    ),
    "disable": (
        (b"trust_remote_code: true\n", b"trust_remote_code: true\ndisable_gradient_checkpointing: true\n"),
        (b"gradient_checkpointing: true    #", b"gradient_checkpointing: false    #"),
    ),
}


@pytest.mark.parametrize("strategy", REPAIRS)
def test_the_fourth_diagnosis_is_repaired_in_the_configuration(project: Path, strategy: str) -> None:
    """The file of a LLaMA-Factory run, with its comments and all other bytes."""
    file = project / "configs" / "qwen2_lora_sft.yaml"
    expected = file.read_bytes()
    for old, new in REPAIRS[strategy]:
        assert expected.count(old) == 1
        expected = expected.replace(old, new)
    fixer("apply", "--unsafe-fixes", "--select", "CKP005", "--strategy", f"CKP005={strategy}", at=project)
    assert file.read_bytes() == expected
    fixer("check", "--select", "CKP005", at=project)


def test_the_same_branch_again(project: Path) -> None:
    fixer("apply", "--branch", "fix/amp", "--unsafe-fixes", at=project)
    tip, before = run("git", "rev-parse", "fix/amp", at=project), state(project)
    assert b"--on-conflict" in fixer("apply", "--branch", "fix/amp", "--unsafe-fixes", at=project, code=2)
    fixer("apply", "--branch", "fix/amp", "--unsafe-fixes", "--on-conflict", "append", at=project)
    assert run("git", "rev-parse", "fix/amp", at=project) == tip
    assert state(project) == before


def test_nothing_fixable_is_left_on_the_branch(project: Path) -> None:
    fixer("apply", "--branch", "fix/amp", "--unsafe-fixes", at=project)
    run("git", "switch", "-q", "fix/amp", at=project)
    report = json.loads(fixer("check", "--format", "json", at=project))
    assert [finding["code"] for finding in report["findings"] if finding["fix"]] == []
