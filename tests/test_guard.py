"""`fixer guard`: a hook, a workflow or a job that keeps repaired bugs out; what is there stays as it is."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from cases import ROOT
from world import CHECKOUT, SURROUNDINGS, Result, fixer, git, repository, write

CALL = "old_one(1)\n"
HOOKS = ".pre-commit-config.yaml"
BASELINE = "fixer-baseline.json"
SOURCE = "git+https://git.example.org/you/fixer@0a1b2c"
LOCAL = """\
- repo: local
  hooks:
    - id: fixer-check
      name: fixer check
      entry: fixer check
      language: system
      types_or: [python, jupyter, yaml, toml]
      require_serial: true
"""
RUFF = """\
  - repo: https://github.com/astral-sh/ruff-pre-commit
    rev: v0.9.0  # pinned
    hooks: [{id: ruff}]
"""


def indented(text: str, columns: int = 2) -> str:
    return "".join(f"{' ' * columns}{line}\n" for line in text.splitlines())


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, "repos:\n" + indented(LOCAL)),
        ("", "repos:\n" + indented(LOCAL)),
        ("repos: []\n", "repos:\n" + indented(LOCAL)),
        ("repos: []  # none yet\nci: {}\n", "repos:\n" + indented(LOCAL) + "  # none yet\nci: {}\n"),
        ("repos: []\n\nci: {}\n", "repos:\n" + indented(LOCAL) + "\nci: {}\n"),
        ("repos:\n" + RUFF, "repos:\n" + RUFF + indented(LOCAL)),
        (("repos:\n" + RUFF).rstrip("\n"), "repos:\n" + RUFF + indented(LOCAL)),
        (
            "# ours\nrepos:\n" + RUFF + "\n# the rest\nci: {}\n",
            "# ours\nrepos:\n" + RUFF + indented(LOCAL) + "\n# the rest\nci: {}\n",
        ),
        ("repos:\n" + RUFF + "    # of ruff\n", "repos:\n" + RUFF + "    # of ruff\n" + indented(LOCAL)),
        (
            "repos:\n- repo: meta\n  hooks:\n  - id: identity\n",
            "repos:\n- repo: meta\n  hooks:\n  - id: identity\n" + LOCAL,
        ),
        (
            "repos:\n- repo: local\n  hooks:\n  - id: x\n    entry: |\n      a\n      # b\n\nci: {}\n",
            "repos:\n- repo: local\n  hooks:\n  - id: x\n    entry: |\n      a\n      # b\n" + LOCAL + "\nci: {}\n",
        ),
        (("repos:\n" + RUFF).replace("\n", "\r\n"), ("repos:\n" + RUFF + indented(LOCAL)).replace("\n", "\r\n")),
    ],
    ids=[
        "none",
        "empty",
        "no-hooks",
        "a-comment-behind",
        "no-hooks-and-more",
        "one",
        "no-line-end",
        "more",
        "indented-comment",
        "flush",
        "text",
        "crlf",
    ],
)
def test_a_hook_is_added_and_nothing_else_changes(tmp_path: Path, before: str | None, after: str) -> None:
    root = repository(tmp_path / "r", {"a.py": "x = 1\n", **({} if before is None else {HOOKS: before})})
    patch = fixer("guard", "pre-commit", "--dry-run", at=root)
    assert (root / HOOKS).exists() == (before is not None)
    result = fixer("guard", "pre-commit", at=root)
    text = (root / HOOKS).read_bytes().decode() if (root / HOOKS).exists() else ""
    assert (result.code, text) == (0, after), result.err
    assert [hook["id"] for repo in yaml.safe_load(text)["repos"] for hook in repo["hooks"]][-1] == "fixer-check"
    git("checkout", "-q", ".", at=root)
    (root / HOOKS).unlink() if before is None else None
    git("apply", "-", at=root, data=patch.out)
    assert (root / HOOKS).read_bytes().decode() == after


@pytest.mark.parametrize(
    ("hooks", "arguments", "sentence"),
    [
        ("repos:\n" + indented(LOCAL), ("pre-commit",), "it runs fixer already (the hook `fixer-check`)"),
        ("repos:\n  - repo: local\n    hooks: [{id: f, entry: fixer apply}]\n", ("pre-commit",), "(the hook `f`)"),
        (
            "repos: [{repo: meta, hooks: [{id: identity}]}]\n",
            ("pre-commit",),
            "its `repos` is written in one line; add",
        ),
        ("ci: {}\n", ("pre-commit",), "it has no list `repos`; add this to its `repos`:\n\n  - repo: local\n"),
        ("- 1\n", ("pre-commit",), "it has no list `repos`"),
        ("repos: [\n", ("pre-commit",), "it is not valid YAML; repair it first (line 2)"),
        (b"\xff", ("pre-commit",), "cannot be read"),
        ("", ("pre-commit", "--from", "ampfix"), "--from ampfix: pre-commit clones a repository at a revision"),
        ("", ("pre-commit", "--select", "OLD01"), "--select: there is no rule 'OLD01'; did you mean OLD00"),
        ("", ("github",), "--from is missing: what does pip install there?"),
        ("", ("gitlab",), "--from is missing: what does pip install there?"),
        ("", ("github", "--from", "a\nb"), "not something that pip installs"),
    ],
)
def test_what_cannot_be_guarded_is_refused(
    tmp_path: Path, hooks: str | bytes, arguments: tuple[str, ...], sentence: str
) -> None:
    root = repository(tmp_path / "r", {HOOKS: hooks})
    result = fixer("guard", *arguments, at=root)
    assert result.code == 2 and sentence in result.err and result.out == b""
    assert git("status", "--short", at=root) == ""


def test_guards_are_for_repositories(tmp_path: Path) -> None:
    assert fixer("guard", "pre-commit", at=tmp_path).err.startswith("fixer: guard: not in a git repository")


@pytest.mark.parametrize(
    ("source", "options", "repo"),
    [
        (
            SOURCE,
            ("--select", "OLD,silent"),
            {
                "repo": "https://git.example.org/you/fixer",
                "rev": "0a1b2c",
                "hooks": [{"id": "fixer-check", "args": ["--select", "OLD,silent", "--baseline", BASELINE]}],
            },
        ),
        (
            "git@git.example.org:you/fixer@v1",
            ("--select", "old004"),
            {
                "repo": "git@git.example.org:you/fixer",
                "rev": "v1",
                "hooks": [{"id": "fixer-check", "args": ["--select", "OLD004"]}],
            },
        ),
    ],
)
def test_a_hook_from_a_repository(tmp_path: Path, source: str, options: tuple[str, ...], repo: object) -> None:
    root = repository(tmp_path / "r", {"a.py": CALL})
    assert fixer("guard", "pre-commit", "--from", source, *options, at=root).code == 0
    assert yaml.safe_load((root / HOOKS).read_text()) == {"repos": [repo]}


def test_findings_of_now_are_named_in_a_baseline(tmp_path: Path) -> None:
    """From a directory below the root, too; the files are written at the root."""
    root = repository(tmp_path / "r", {"a.py": "old_one(1)\nold_one(2)\nold_four(3)\n", "sub/b.py": ""})
    result = fixer("guard", "pre-commit", at=root / "sub")
    assert result == Result(
        0,
        f"{BASELINE}: written\n{HOOKS}: written\n".encode(),
        f"note: {BASELINE} names 3 findings of now (OLD001: 2, OLD004: 1): the check leaves them out, and fails for "
        "every new one\n"
        f"note: to shrink it, repair some, then run `fixer check --write-baseline {BASELINE}` in {root}\n"
        "note: commit what was written; new bugs are refused from then on\n",
    )
    (repo,) = yaml.safe_load((root / HOOKS).read_text())["repos"]
    assert repo["hooks"][0]["entry"] == f"fixer check --baseline {BASELINE}"
    written = (root / BASELINE).read_bytes()
    fixer("check", "--write-baseline", BASELINE, at=root)
    assert (root / BASELINE).read_bytes() == written


def test_a_dry_run_shows_the_baseline_too(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": CALL, HOOKS: "repos:\n" + RUFF})
    patch = fixer("guard", "pre-commit", "--dry-run", at=root)
    assert git("status", "--short", at=root) == ""
    git("apply", "-", at=root, data=patch.out)
    shown = [(root / path).read_bytes() for path in (HOOKS, BASELINE)]
    git("checkout", "-q", ".", at=root)
    (root / BASELINE).unlink()
    assert fixer("guard", "pre-commit", at=root).code == 0
    assert [(root / path).read_bytes() for path in (HOOKS, BASELINE)] == shown


def test_findings_that_fail_no_check_need_no_baseline(tmp_path: Path) -> None:
    """What is only possible, for which a check does not fail, and nothing at all."""
    possible = (ROOT / "llama-factory-config/unknown_family/report.yaml").read_bytes()
    root = repository(tmp_path / "r", {"a.yaml": possible})
    assert '"certainty": "possible"' in fixer("check", "--format", "json", at=root, real=True).text
    for _ in range(2):
        assert fixer("guard", "pre-commit", at=root, real=True).out == f"{HOOKS}: written\n".encode()
        assert not (root / BASELINE).exists()
        (root / HOOKS).unlink()
        (root / "a.yaml").write_text("x: 1\n")


def test_a_baseline_that_names_all_is_used_as_it_is(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": "old_one(1)\n", "gone.py": "old_one(2)\n"})
    fixer("check", "--write-baseline", BASELINE, at=root)
    before = (root / BASELINE).read_bytes()
    (root / "gone.py").unlink()
    result = fixer("guard", "pre-commit", at=root)
    assert (result.code, result.out) == (0, f"{HOOKS}: written\n".encode())
    assert f"note: {BASELINE} exists and names what fails the check now: it is used as it is\n" in result.err
    assert (root / BASELINE).read_bytes() == before
    assert f"--baseline {BASELINE}" in (root / HOOKS).read_text()


@pytest.mark.parametrize(
    ("there", "sentence"),
    [
        (
            None,
            f"repair what it does not name with `fixer apply --baseline {BASELINE}`, or accept it with `fixer check",
        ),
        ("{}", f"--baseline {BASELINE}: is no baseline"),
    ],
)
def test_a_baseline_is_never_overwritten(tmp_path: Path, there: str | None, sentence: str) -> None:
    root = repository(tmp_path / "r", {"a.py": "x = 1\n"})
    fixer("check", "--write-baseline", BASELINE, at=root)
    write(root, {"a.py": CALL, **({} if there is None else {BASELINE: there})})
    before = (root / BASELINE).read_bytes()
    result = fixer("guard", "pre-commit", at=root)
    assert (result.code, result.out) == (2, b"") and sentence in result.err
    assert (root / BASELINE).read_bytes() == before and not (root / HOOKS).exists()


def test_a_baseline_of_half_the_files_is_refused(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": CALL, "sub/fixer.toml": "select = 1\n", "sub/b.py": CALL})
    result = fixer("guard", "pre-commit", at=root)
    assert result.code == 2 and "guard: not all files could be looked at; nothing was written" in result.err
    assert git("status", "--short", at=root) == ""


def runs(command: str, at: Path, tmp_path: Path, *files: str) -> tuple[int, str]:
    """What a command of a hook or a workflow answers, where `fixer` is a command; the rules are the real ones."""
    script = write(tmp_path / "bin", {"fixer": f"#!/bin/sh\nexec '{sys.executable}' -m fixer \"$@\"\n"}) / "fixer"
    script.chmod(0o755)
    path = f"{script.parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, **SURROUNDINGS, "PATH": path, "PYTHONPATH": str(CHECKOUT)}
    done = subprocess.run(
        [*shlex.split(command), *files], cwd=at, env=environment, check=False, stdout=subprocess.PIPE, text=True
    )
    return done.returncode, done.stdout


BUG = "import torch\n\nwith torch.no_grad:\n    pass\n"
SILENT = """\
import torch


def train(model, optimizer, batches):
    scaler = torch.amp.GradScaler("cuda")
    for x, y in batches:
        with torch.autocast("cuda"):
            loss = model(x, y)
        scaler.scale(loss).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
"""


def check_of(which: str, root: Path) -> str:
    """The check that a guard runs, as it is written in its file."""
    if which == "pre-commit":
        return str(yaml.safe_load((root / HOOKS).read_text())["repos"][0]["hooks"][0]["entry"])
    if which == "gitlab":
        return str(yaml.safe_load((root / ".gitlab/fixer.yml").read_text())["fixer"]["script"][-1])
    (job,) = yaml.safe_load((root / ".github/workflows/fixer.yml").read_text())["jobs"].values()
    return str(job["steps"][-1]["run"])


@pytest.mark.parametrize("which", ["pre-commit", "github", "gitlab"])
def test_a_guard_lets_the_old_bug_pass_and_refuses_the_same_bug_anew(tmp_path: Path, which: str) -> None:
    root = repository(tmp_path / "r", {"old.py": SILENT})
    source = () if which == "pre-commit" else ("--from", SOURCE)
    assert fixer("guard", which, *source, at=root, real=True).code == 0
    check = check_of(which, root)
    assert runs(check, root, tmp_path)[0] == 0
    write(root, {"new.py": SILENT})
    code, out = runs(check, root, tmp_path)
    if which == "gitlab":
        out = (root / "gl-code-quality-report.json").read_text()
    assert code == 1
    assert out.count("SCL001") and "new.py" in out and "old.py" not in out


@pytest.mark.parametrize(
    ("which", "path", "options"),
    [
        ("github", ".github/workflows/fixer.yml", "--format github"),
        ("gitlab", ".gitlab/fixer.yml", "--format gitlab --output gl-code-quality-report.json"),
    ],
)
def test_a_workflow_is_written_and_its_check_fails_for_a_bug(
    tmp_path: Path, which: str, path: str, options: str
) -> None:
    root = repository(tmp_path / "r", {"a.py": "x = 1\n"})
    patch = fixer("guard", which, "--from", SOURCE, "--dry-run", at=root, real=True)
    assert not (root / path).exists()
    git("apply", "--check", "-", at=root, data=patch.out)
    assert fixer("guard", which, "--from", SOURCE, at=root, real=True).out == f"{path}: written\n".encode()
    document = yaml.safe_load((root / path).read_text())
    if which == "github":
        (job,) = document["jobs"].values()
        assert document[True] == {"pull_request": None, "push": {"branches": ["main", "master"]}}
        assert document["permissions"] == {"contents": "read"}
        commands = [step["run"] for step in job["steps"] if "run" in step]
    else:
        commands = document["fixer"]["script"]
        assert document["fixer"]["artifacts"]["reports"] == {"codequality": "gl-code-quality-report.json"}
    install, check = commands
    assert (install, check) == (f"python -m pip install {SOURCE}", f"fixer check {options}")
    assert runs(check, root, tmp_path)[0] == 0
    write(root, {"b.py": BUG})
    assert runs(check, root, tmp_path)[0] == 1
    again = fixer("guard", which, "--from", SOURCE, at=root, real=True)
    assert again.code == 2 and f"{path} exists: it is not overwritten" in again.err


def test_what_pip_installs_may_have_any_name(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": "x = 1\n"})
    assert fixer("guard", "gitlab", "--from", "./a b: #1.whl", at=root).code == 0
    script = yaml.safe_load((root / ".gitlab/fixer.yml").read_text())["fixer"]["script"]
    assert script[0] == "python -m pip install './a b: #1.whl'"


def test_a_link_out_of_the_repository_is_not_followed(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": "x = 1\n"})
    (tmp_path / "elsewhere").mkdir()
    (root / ".gitlab").symlink_to(tmp_path / "elsewhere")
    result = fixer("guard", "gitlab", "--from", "x", at=root)
    assert result == Result(2, b"", f"fixer: .gitlab/fixer.yml: a link leads out of {root}\n")
    assert list((tmp_path / "elsewhere").iterdir()) == []
