"""`fixer guard`: a hook, a workflow or a job that keeps repaired bugs out; what is there stays as it is."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from world import CHECKOUT, SURROUNDINGS, Result, fixer, git, repository, write

CALL = "old_one(1)\n"
HOOKS = ".pre-commit-config.yaml"
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
            "git+https://git.example.org/you/fixer@0a1b2c",
            ("--select", "OLD,silent"),
            {
                "repo": "https://git.example.org/you/fixer",
                "rev": "0a1b2c",
                "hooks": [{"id": "fixer-check", "args": ["--select", "OLD,silent"]}],
            },
        ),
        (
            "git@git.example.org:you/fixer@v1",
            ("--select", "old001"),
            {
                "repo": "git@git.example.org:you/fixer",
                "rev": "v1",
                "hooks": [{"id": "fixer-check", "args": ["--select", "OLD001"]}],
            },
        ),
    ],
)
def test_a_hook_from_a_repository(tmp_path: Path, source: str, options: tuple[str, ...], repo: object) -> None:
    root = repository(tmp_path / "r", {"a.py": CALL})
    assert fixer("guard", "pre-commit", "--from", source, *options, at=root).code == 0
    assert yaml.safe_load((root / HOOKS).read_text()) == {"repos": [repo]}


def test_rules_that_find_something_now_are_left_out(tmp_path: Path) -> None:
    """From a directory below the root, too; the file is written at the root."""
    root = repository(tmp_path / "r", {"a.py": "old_one(1)\nold_one(2)\nold_four(3)\n", "sub/b.py": ""})
    result = fixer("guard", "pre-commit", at=root / "sub")
    assert "3 findings of OLD001, OLD004: left out until `fixer apply`, or you, have repaired them" in result.err
    (repo,) = yaml.safe_load((root / HOOKS).read_text())["repos"]
    assert repo["hooks"][0]["entry"] == "fixer check --ignore OLD001,OLD004"


def runs(command: str, at: Path, tmp_path: Path, *files: str) -> int:
    """The exit code of a command of a hook or a workflow, where `fixer` is a command; the rules are the real ones."""
    script = write(tmp_path / "bin", {"fixer": f"#!/bin/sh\nexec '{sys.executable}' -m fixer \"$@\"\n"}) / "fixer"
    script.chmod(0o755)
    path = f"{script.parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, **SURROUNDINGS, "PATH": path, "PYTHONPATH": str(CHECKOUT)}
    return subprocess.run([*shlex.split(command), *files], cwd=at, env=environment, check=False).returncode


BUG = "import torch\n\nwith torch.no_grad:\n    pass\n"


def test_the_hook_refuses_a_new_bug_and_lets_the_old_one_pass(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": "import torch\n\nscaler = torch.cuda.amp.GradScaler()\n"})
    assert fixer("guard", "pre-commit", at=root, real=True).code == 0
    entry = yaml.safe_load((root / HOOKS).read_text())["repos"][0]["hooks"][0]["entry"]
    assert runs(entry, root, tmp_path, "a.py") == 0
    write(root, {"b.py": BUG})
    assert runs(entry, root, tmp_path, "a.py", "b.py") == 1


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
    source = "git+https://git.example.org/you/fixer@0a1b2c"
    patch = fixer("guard", which, "--from", source, "--dry-run", at=root, real=True)
    assert not (root / path).exists()
    git("apply", "--check", "-", at=root, data=patch.out)
    assert fixer("guard", which, "--from", source, at=root, real=True).out == f"{path}: written\n".encode()
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
    assert (install, check) == (f"python -m pip install {source}", f"fixer check {options}")
    assert runs(check, root, tmp_path) == 0
    write(root, {"b.py": BUG})
    assert runs(check, root, tmp_path) == 1
    again = fixer("guard", which, "--from", source, at=root, real=True)
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
