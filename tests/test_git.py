"""Branches made from objects: in every kind of repository, and without touching the person's checkout."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from world import checkout_state, fixer, git, repository, write

from fixer.errors import Refusal
from fixer.git.repository import CommitSeries, Repository

OLD, NEW = b"x = old_one(1)\n", b"x = new_one(1)\n"
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 12345\n"
MARK = "ran.txt"
"""Written by every program of a repository that must not run."""


@dataclass(frozen=True)
class Situation:
    """Where `fixer apply --branch fix/amp` is called, and what the branch must hold then."""

    at: Path
    files: Mapping[str, bytes] = field(default_factory=lambda: {"a.py": NEW})
    """Contents on the branch by path."""
    refusal: str = ""
    """What is said instead, where no branch can be made."""
    note: str = ""


def bare(tmp: Path) -> Situation:
    repository(tmp / "origin", {"a.py": OLD})
    git("clone", "-q", "--bare", "origin", "bare.git", at=tmp)
    return Situation(tmp / "bare.git")


def unborn(tmp: Path) -> Situation:
    git("init", "-q", "new", at=tmp)
    write(tmp / "new", {"a.py": OLD})
    return Situation(tmp / "new", refusal="the repository has no commit yet: commit first, or name one with --base")


def detached(tmp: Path) -> Situation:
    root = repository(tmp / "r", {"a.py": OLD})
    git("checkout", "-q", "--detach", at=root)
    return Situation(root)


def shallow(tmp: Path) -> Situation:
    origin = repository(tmp / "origin", {"a.py": b"1\n"})
    write(origin, {"a.py": OLD})
    git("commit", "-qam", "second", at=origin)
    git("clone", "-q", "--depth", "1", origin.as_uri(), "r", at=tmp)
    return Situation(tmp / "r")


def linked_worktree(tmp: Path) -> Situation:
    root = repository(tmp / "r", {"a.py": b"1\n"})
    git("worktree", "add", "-q", "-b", "other", "../linked", at=root)
    write(tmp / "linked", {"a.py": OLD})
    git("commit", "-qam", "second", at=tmp / "linked")
    return Situation(tmp / "linked")


def submodule(tmp: Path) -> Situation:
    inner = repository(tmp / "inner", {"inside.py": OLD})
    root = repository(tmp / "r", {"a.py": OLD})
    git("submodule", "-q", "add", inner.as_uri(), "lib.py", at=root)
    git("commit", "-qm", "submodule", at=root)
    return Situation(root)


def inside_a_submodule(tmp: Path) -> Situation:
    inner = repository(tmp / "inner", {"a.py": OLD})
    root = repository(tmp / "r", {"b.py": OLD})
    git("submodule", "-q", "add", inner.as_uri(), "lib", at=root)
    return Situation(root / "lib")


def sparse(tmp: Path) -> Situation:
    root = repository(tmp / "r", {"in/a.py": OLD, "out/b.py": OLD})
    git("sparse-checkout", "set", "--cone", "--sparse-index", "in", at=root)
    assert not (root / "out").exists()
    return Situation(root, {"in/a.py": NEW, "out/b.py": NEW})


def partial_clone(tmp: Path) -> Situation:
    origin = repository(tmp / "origin", {"a.py": OLD, "data.bin": b"\0" * 100})
    git("config", "uploadpack.allowFilter", "true", at=origin)
    git("clone", "-q", "--filter=blob:none", "--no-checkout", origin.as_uri(), "r", at=tmp)
    git("config", "protocol.file.allow", "always", at=tmp / "r")
    git("reset", "-q", at=tmp / "r")
    return Situation(tmp / "r")


def required_filter(tmp: Path) -> Situation:
    root = repository(tmp / "r", {"a.py": OLD, ".gitattributes": "*.py filter=gone\n"})
    for name in ("clean", "smudge"):
        git("config", f"filter.gone.{name}", f"touch {tmp / MARK}; false", at=root)
    git("config", "filter.gone.required", "true", at=root)
    (root / "a.py").write_bytes(OLD)
    return Situation(root)


def lfs_pointer(tmp: Path) -> Situation:
    return Situation(repository(tmp / "r", {"a.py": OLD, "big.py": POINTER}), {"a.py": NEW, "big.py": POINTER})


def autocrlf(tmp: Path) -> Situation:
    root = repository(tmp / "r", {"a.py": OLD, "crlf.py": OLD.replace(b"\n", b"\r\n")})
    git("config", "core.autocrlf", "true", at=root)
    (root / "a.py").unlink()
    git("checkout", "-q", "a.py", at=root)
    assert (root / "a.py").read_bytes().endswith(b"\r\n")
    return Situation(root, {"a.py": NEW, "crlf.py": NEW.replace(b"\n", b"\r\n")})


def executable_bit(tmp: Path) -> Situation:
    root = repository(tmp / "r", {"a.py": OLD, "run.py": OLD})
    (root / "run.py").chmod(0o755)
    git("commit", "-qam", "executable", at=root)
    return Situation(root, {"a.py": NEW, "run.py": NEW})


def symlink(tmp: Path) -> Situation:
    root = repository(tmp / "r", {"a.py": OLD})
    (root / "link.py").symlink_to("a.py")
    (root / "out.py").symlink_to("/etc/passwd")
    git("add", "-A", at=root)
    git("commit", "-qm", "links", at=root)
    return Situation(root, {"a.py": NEW, "link.py": b"a.py", "out.py": b"/etc/passwd"})


def signing(tmp: Path) -> Situation:
    root = repository(tmp / "r", {"a.py": OLD})
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp / "key"], check=True)
    git("config", "gpg.format", "ssh", at=root)
    git("config", "user.signingKey", str(tmp / "key"), at=root)
    git("config", "commit.gpgSign", "true", at=root)
    return Situation(root)


def hooks_present(tmp: Path) -> Situation:
    root = repository(tmp / "r", {"a.py": OLD})
    for name in ("pre-commit", "commit-msg", "post-commit", "reference-transaction", "post-index-change"):
        hook = root / ".git/hooks" / name
        hook.write_text(f"#!/bin/sh\ntouch {tmp / MARK}\nexit 1\n")
        hook.chmod(0o755)
    monitor = root / ".git/monitor"
    monitor.write_text(f"#!/bin/sh\ntouch {tmp / MARK}\n")
    monitor.chmod(0o755)
    git("config", "core.fsmonitor", str(monitor), at=root)
    return Situation(root)


def odd_names(tmp: Path) -> Situation:
    names = ("sub/ü b.py", 'quote".py', "tab\t.py", "new\nline.py", "-option.py")
    root = repository(tmp / "r", dict.fromkeys(names, OLD))
    return Situation(root, dict.fromkeys(names, NEW))


def case_clash(tmp: Path) -> Situation:
    root = repository(tmp / "r", {"a.py": OLD, "A.py": b"y = old_two(2)\n", "B/x.py": OLD, "b/x.py": OLD})
    git("config", "core.ignoreCase", "true", at=root)
    return Situation(root, {"a.py": NEW, "A.py": b"y = new_one(2)\n", "B/x.py": NEW, "b/x.py": NEW})


def merge_in_progress(tmp: Path) -> Situation:
    root = repository(tmp / "r", {"a.py": OLD, "b.py": b"1\n"})
    git("checkout", "-q", "-b", "side", at=root)
    write(root, {"b.py": b"2\n"})
    git("commit", "-qam", "side", at=root)
    git("checkout", "-q", "main", at=root)
    write(root, {"b.py": b"3\n"})
    git("commit", "-qam", "main", at=root)
    with pytest.raises(AssertionError):
        git("merge", "side", at=root)
    assert (root / ".git/MERGE_HEAD").exists()
    return Situation(root)


def dirty_target(tmp: Path) -> Situation:
    root = repository(tmp / "r", {"a.py": OLD})
    write(root, {"a.py": OLD + b"# my work\n", "untracked.py": OLD})
    return Situation(root, note="note: a.py has uncommitted changes; they are not part of the branch")


def staged_target(tmp: Path) -> Situation:
    root = repository(tmp / "r", {"a.py": OLD})
    write(root, {"a.py": OLD + b"# my work\n"})
    git("add", "a.py", at=root)
    return Situation(root, note="note: a.py has uncommitted changes")


def sub_directory(tmp: Path) -> Situation:
    root = repository(tmp / "r", {"a.py": OLD, "sub/b.py": OLD})
    return Situation(root / "sub", {"a.py": OLD, "sub/b.py": NEW})


def split_index(tmp: Path) -> Situation:
    root = repository(tmp / "r", {"a.py": OLD})
    git("config", "core.splitIndex", "true", at=root)
    return Situation(root)


def ref_below(tmp: Path) -> Situation:
    root = repository(tmp / "r", {"a.py": OLD})
    git("branch", "fix", at=root)
    return Situation(root, refusal="git cannot hold a branch fix/amp beside the branch fix")


def long_names(tmp: Path) -> Situation:
    git("init", "-q", "-b", "main", "--object-format=sha256", "r", at=tmp)
    return Situation(repository(tmp / "r", {"a.py": OLD}))


def no_repository(tmp: Path) -> Situation:
    return Situation(write(tmp / "plain", {"a.py": OLD}), refusal="is not in a git repository: run `git init`")


SITUATIONS: tuple[Callable[[Path], Situation], ...] = (
    bare,
    unborn,
    detached,
    shallow,
    linked_worktree,
    submodule,
    inside_a_submodule,
    sparse,
    partial_clone,
    required_filter,
    lfs_pointer,
    autocrlf,
    executable_bit,
    symlink,
    signing,
    hooks_present,
    odd_names,
    case_clash,
    merge_in_progress,
    dirty_target,
    staged_target,
    sub_directory,
    split_index,
    ref_below,
    long_names,
    no_repository,
)


@pytest.fixture(scope="module", autouse=True)
def count(request: pytest.FixtureRequest) -> None:
    """Say how many situations there are, so that a missing one is noticed."""
    with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        print(f"\ngit: {len(SITUATIONS)} situations")


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda function: function.__name__)
def test_a_branch_is_made_and_the_checkout_stays_as_it_is(
    tmp_path: Path, situation: Callable[[Path], Situation]
) -> None:
    case = situation(tmp_path)
    is_repository = case.refusal == "" or (case.at / ".git").exists()
    top = case.at / (git("rev-parse", "--show-cdup", at=case.at) if is_repository else "")
    (tmp_path / MARK).unlink(missing_ok=True)
    before = checkout_state(top) if is_repository else None

    result = fixer("apply", "--branch", "fix/amp", at=case.at)

    assert "Traceback" not in result.err
    assert (checkout_state(top) if is_repository else None) == before
    assert not (tmp_path / MARK).exists()
    if case.refusal:
        assert case.refusal in result.err
        assert result.code == 2
        return
    assert result.code == 0, result.err
    assert case.note in result.err
    for path, content in case.files.items():
        shown = subprocess.run(["git", "show", f"fix/amp:{path}"], cwd=top, capture_output=True, check=True)
        assert shown.stdout == content, path
    parent = "other" if situation is linked_worktree else "HEAD"
    changed = git("diff", "--name-only", "-z", "--no-ext-diff", f"{parent}", "fix/amp", at=top).split("\0")
    committed = {path: git("rev-parse", f"HEAD:{path}", at=top) for path in case.files}
    fixed = {path for path, oid in committed.items() if git("rev-parse", f"fix/amp:{path}", at=top) != oid}
    assert set(changed) - {""} == fixed
    assert modes("fix/amp", top) == modes("HEAD", top)
    tip = git("rev-parse", "fix/amp", at=top)
    assert f"{result.text.splitlines()[-1].split()[0]}" == tip[:10]

    again = fixer("apply", "--branch", "fix/amp", at=case.at)
    assert again.code == 2 and "--on-conflict" in again.err
    more = fixer("apply", "--branch", "fix/amp", "--on-conflict", "append", at=case.at)
    assert (more.code, more.out) == (0, b"")
    assert git("rev-parse", "fix/amp", at=top) == tip
    assert checkout_state(top) == before
    assert not (tmp_path / MARK).exists()


def modes(ref: str, at: Path) -> dict[str, str]:
    """The mode of each path of a commit."""
    lines = git("ls-tree", "-r", "-z", "--full-tree", ref, at=at).split("\0")
    return {line.partition("\t")[2]: line[:6] for line in lines if line}


def test_commits_are_signed_as_configured(tmp_path: Path) -> None:
    root = signing(tmp_path).at
    fixer("apply", "--branch", "fix/amp", at=root)
    assert "-----BEGIN SSH SIGNATURE-----" in git("cat-file", "commit", "fix/amp", at=root)
    git("config", "user.signingKey", "/nowhere", at=root)
    result = fixer("apply", "--branch", "second", at=root)
    assert result.code == 2
    assert "git could not sign the commit" in result.err
    assert git("branch", "--list", "second", at=root) == ""


def test_one_commit_for_each_rule_with_its_words(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": b"old_one(1)\n\n\nold_three(3)\n", "b.py": OLD})
    result = fixer("apply", "--branch", "fix/amp", "--unsafe-fixes", "--signoff", "--trailer", "Ticket=ML-12", at=root)
    assert result.code == 0, result.err
    assert git("log", "--format=%s", "--reverse", "main..fix/amp", at=root).split("\n") == [
        "fix(OLD001): call new_one()",
        "fix(OLD003): call new_three()",
    ]
    text, _, seal = git("log", "-1", "--format=%B", "fix/amp~1", at=root).rstrip().rpartition("\nFixer-Seal: ")
    assert re.fullmatch("[0-9a-f]{16}", seal)
    assert text == (
        "fix(OLD001): call new_one()\n\n"
        "`old_one()` is old.\n\n"
        "Old calls are old. This paragraph is long enough that it has to be\n"
        "wrapped when it becomes part of a commit message.\n\n"
        "2 places in 2 files:\n- a.py:1\n- b.py:1\n\n"
        "Fixer-Rule: OLD001\nFixer-Safety: safe\nFixer-Version: 0.1.0\nTicket: ML-12\n"
        "Signed-off-by: Ada <ada@example.org>"
    )
    assert git("log", "-1", "--format=%(trailers:key=Fixer-Safety,valueonly)", "fix/amp", at=root).strip() == "unsafe"
    assert git("log", "-1", "--format=%an <%ae> %cn", "fix/amp", at=root) == "Ada <ada@example.org> Ada"


def test_words_and_author_can_be_chosen(tmp_path: Path) -> None:
    settings = '[commit]\nsubject = "chore: {codes} in {count} place(s)"\nauthor = "Bo <bo@example.org>"\n'
    root = repository(tmp_path / "r", {"a.py": OLD, "fixer.toml": settings})
    fixer("apply", "--branch", "configured", at=root)
    assert git("log", "-1", "--format=%s|%an", "configured", at=root) == "chore: OLD001 in 1 place(s)|Bo"
    fixer("apply", "--branch", "asked", "--subject", "{names}", "--body", "", "--author", "Cy <cy@x.org>", at=root)
    assert git("log", "-1", "--format=%s|%ae|%cn", "asked", at=root) == "old-one|cy@x.org|Ada"
    for option, value, sentence in (
        ("--subject", "{nonsense}", "subject template: there is no {nonsense}; there are codes, count"),
        ("--author", "Cy", "--author 'Cy': write 'Name <address>'"),
        ("--trailer", "Ticket", "trailer 'Ticket': write KEY=VALUE"),
    ):
        result = fixer("apply", "--branch", "wrong", option, value, at=root)
        assert (result.code, sentence in result.err) == (2, True), result.err


def test_an_unknown_person_is_asked_to_say_who_they_are(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": OLD})
    nobody = {f"GIT_{who}_{what}": "" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    result = fixer("apply", "--branch", "fix/amp", at=root, environment=nobody)
    assert result.code == 2
    assert "git does not know who you are: run `git config user.name" in result.err


@pytest.mark.parametrize("name", ["-x", "a..b", "HEAD", "a b", "x.lock", "", "@{-1}"])
def test_a_name_that_git_does_not_allow(tmp_path: Path, name: str) -> None:
    root = repository(tmp_path / "r", {"a.py": OLD})
    result = fixer("apply", f"--branch={name}", at=root)
    assert result.code == 2
    assert "is not a name that git allows" in result.err


def test_a_branch_starts_from_the_base_that_is_named(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": OLD})
    git("tag", "v1", at=root)
    write(root, {"a.py": b"1\n"})
    git("commit", "-qam", "second", at=root)
    assert fixer("apply", "--branch", "fix", "--base", "v1", at=root).code == 0
    assert git("rev-parse", "fix~1", at=root) == git("rev-parse", "v1", at=root)
    result = fixer("apply", "--branch", "more", "--base", "v9", at=root)
    assert (result.code, "--base 'v9': there is no such commit" in result.err) == (2, True)


def test_nothing_to_commit_makes_no_branch(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": b"1\n"})
    result = fixer("apply", "--branch", "fix", at=root)
    assert (result.code, result.out, git("branch", "--list", "fix", at=root)) == (0, b"", "")


def test_reset_starts_again_and_append_goes_on(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": OLD + b"\n\nold_three(3)\n"})
    fixer("apply", "--branch", "fix", at=root)
    first = git("rev-parse", "fix", at=root)
    assert fixer("apply", "--branch", "fix", "--on-conflict", "append", "--unsafe-fixes", at=root).code == 0
    assert git("rev-parse", "fix~1", at=root) == first
    assert fixer("apply", "--branch", "fix", "--on-conflict", "reset", at=root).code == 0
    assert git("rev-parse", "fix~1", at=root) == git("rev-parse", "main", at=root)


@pytest.mark.parametrize("choice", ["reset", "append"])
def test_a_branch_that_somebody_stands_on_is_left_alone(tmp_path: Path, choice: str) -> None:
    root = repository(tmp_path / "r", {"a.py": OLD})
    git("branch", "fix", at=root)
    git("worktree", "add", "-q", "../linked", "fix", at=root)
    for name in ("fix", "main"):
        result = fixer("apply", "--branch", name, "--on-conflict", choice, at=root)
        assert result.code == 2
        assert f"the branch {name} is checked out in a work tree" in result.err


def test_a_dry_run_of_a_branch_shows_its_patch_and_makes_nothing(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": OLD})
    write(root, {"a.py": b"changed = 1\n"})
    result = fixer("apply", "--branch", "fix", "--dry-run", at=root)
    assert result.code == 1
    assert b"-x = old_one(1)\n+x = new_one(1)\n" in result.out
    assert git("branch", "--list", "fix", at=root) == ""


def test_the_text_of_a_pull_request(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": b"old_one(1)\nold_three(3)\nold_four(4)\n", "bad.py": b"old_one(\n"})
    result = fixer("apply", "--branch", "fix", "--format", "markdown", "--output", "body.md", at=root)
    body = (root / "body.md").read_text()
    assert result.out == b""
    for heading in ("# Fix 1 mixed-precision or gradient-flow bug (OLD001)", "## What", "## Why", "## Evidence"):
        assert heading in body
    assert "- `a.py:1` OLD001 (deprecated): `old_one()` is old" in body
    assert f"- {git('rev-parse', 'fix', at=root)[:10]} `fix(OLD001): call new_one()`" in body
    assert "- OLD003: 1 with `--unsafe-fixes`" in body
    assert "- `bad.py` was skipped: unparsable" in body


def test_json_says_what_was_committed(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": OLD})
    dry = json.loads(fixer("apply", "--branch", "fix", "--dry-run", "--format", "json", at=root).out)
    done = json.loads(fixer("apply", "--branch", "fix", "--format", "json", at=root).out)
    assert [dry["findings"][0]["applied"], done["findings"][0]["applied"]] == [False, True]


def test_settings_are_those_of_the_base(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": OLD, "b.py": OLD, "fixer.toml": 'exclude = ["b.py"]\n'})
    write(root, {"fixer.toml": "broken"})
    result = fixer("apply", "--branch", "fix", at=root)
    assert result.code == 0, result.err
    assert git("diff", "--name-only", "main", "fix", at=root) == "a.py"


def test_paths_are_those_of_the_base(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": OLD, "sub/b.py": OLD})
    write(root, {"new.py": OLD})
    result = fixer("apply", "--branch", "fix", "sub", "new.py", at=root)
    assert result.code == 2
    assert "fixer: new.py: is not in main; commit it first, or apply without --branch" in result.err
    assert git("diff", "--name-only", "main", "fix", at=root) == "sub/b.py"


def test_git_variables_of_a_caller_lead_nowhere_else(tmp_path: Path) -> None:
    other = repository(tmp_path / "other", {"z.py": OLD})
    root = repository(tmp_path / "r", {"a.py": OLD})
    surroundings = {"GIT_DIR": str(other / ".git"), "GIT_INDEX_FILE": str(other / ".git/index"), "GIT_WORK_TREE": "/"}
    result = fixer("check", at=root, environment=surroundings)
    assert result.text.startswith("a.py:1:5: OLD001")
    assert fixer("apply", "--branch", "fix", at=root, environment=surroundings).code == 0
    assert git("branch", "--list", "fix", at=root).strip() == "fix"
    assert git("branch", "--list", "fix", at=other) == ""


def test_a_repository_cannot_send_us_elsewhere(tmp_path: Path) -> None:
    write(tmp_path, {"victim/v.py": OLD})
    root = repository(tmp_path / "r", {"a.py": OLD})
    git("config", "core.worktree", str(tmp_path / "victim"), at=root)
    fixer("apply", at=root)
    assert (tmp_path / "victim/v.py").read_bytes() == OLD
    assert (root / "a.py").read_bytes() == NEW


def test_a_repository_of_somebody_else_is_named(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": OLD})
    distrust = {"GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"}
    result = fixer("apply", "--branch", "fix", at=root, environment=distrust)
    assert result.code == 2
    assert "dubious ownership" in result.err and "Traceback" not in result.err
    assert fixer("check", at=root, environment=distrust).code == 1


def test_what_a_commit_that_failed_left_does_not_come_with_the_next(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": OLD, "b.py": OLD})
    opened = Repository.open(root)
    (tmp_path / "scratch").mkdir()
    draft = CommitSeries(opened, git("rev-parse", "HEAD", at=root), tmp_path / "scratch")
    nobody = {"GIT_AUTHOR_NAME": "", "GIT_AUTHOR_EMAIL": "", "GIT_COMMITTER_NAME": "", "GIT_COMMITTER_EMAIL": ""}
    ada = dict(zip(nobody, ("Ada", "ada@example.org") * 2, strict=True))
    with pytest.raises(Refusal):
        draft.add({"a.py": NEW}, "first", identity=nobody)
    draft.restart()
    commit = draft.add({"b.py": NEW}, "second", identity=ada)
    assert git("diff", "--name-only", f"{commit}~", commit, at=root) == "b.py"


def test_a_commit_is_read_from_the_work_tree_where_that_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = {"same.py": OLD, "changed.py": b"1\n", "gone.py": b"2\n", "link.py": b"3\n", "pipe.py": b"4\n"}
    root = repository(tmp_path / "r", texts)
    (root / "changed.py").write_bytes(NEW)
    for name in ("gone.py", "link.py", "pipe.py"):
        (root / name).unlink()
    (root / "link.py").symlink_to("same.py")
    os.mkfifo(root / "pipe.py")
    unpacked: list[str] = []
    blob = Repository.blob

    def seen(self: Repository, oid: str) -> bytes | None:
        unpacked.append(oid)
        return blob(self, oid)

    monkeypatch.setattr(Repository, "blob", seen)
    with Repository.open(root) as opened:
        files = opened.files("HEAD")
        assert {path: files.read(path) for path in files.files()} == texts
    assert unpacked == [files.entries[path].oid for path in sorted(texts) if path != "same.py"]
    git("clone", "-q", "--bare", "r", "bare.git", at=tmp_path)
    with Repository.open(tmp_path / "bare.git") as opened:
        in_objects_only = opened.files("HEAD")
        assert {path: in_objects_only.read(path) for path in in_objects_only.files()} == texts
    assert {path: in_objects_only.read(path) for path in in_objects_only.files()} == texts, "closed, it still answers"


WATCHED = """#!/bin/sh
read -r _ _ _ _ _ session _ < /proc/$$/stat
echo "$session $*" >> {log}
exec {git} "$@"
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the session of a process is read in /proc")
@pytest.mark.parametrize("sign", [False, True])
def test_objects_are_written_out_of_reach_of_ctrl_c(tmp_path: Path, sign: bool) -> None:
    """An interrupted git leaves half an object; only one that signs stays, because it may ask for a passphrase."""
    situation = signing(tmp_path) if sign else bare(tmp_path)
    log = tmp_path / "sessions"
    write(tmp_path / "bin", {"git": WATCHED.format(log=log, git=shutil.which("git")).encode()})
    (tmp_path / "bin" / "git").chmod(0o755)
    path = {"PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    assert fixer("apply", "--branch", "fix/amp", at=situation.at, environment=path).code == 0
    sessions = {
        command: line.split(" ")[0] == str(os.getsid(0))
        for line in log.read_text().splitlines()
        for command in ("hash-object", "write-tree", "commit-tree", "update-ref")
        if f" {command} " in line
    }
    assert sessions == {"hash-object": False, "write-tree": False, "commit-tree": sign, "update-ref": True}
