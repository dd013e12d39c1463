"""Temporary copies in which a person's command runs: what git answers there, and what cannot be reached from there."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from world import checkout_state, git, repository, write

from fixer.verify.sandbox.copies import Origin, copied

QUESTIONS = (
    ("status", "--porcelain", "--branch"),
    ("rev-parse", "HEAD"),
    ("rev-parse", "--abbrev-ref", "HEAD"),
    ("describe", "--tags", "--always"),
    ("log", "--oneline", "--decorate=full", "--all"),
    ("for-each-ref",),
    ("stash", "list"),
    ("diff", "--stat"),
    ("diff", "--cached", "--stat"),
    ("ls-files", "--stage", "--debug", "kept.txt"),
    ("remote", "get-url", "origin"),
    ("config", "user.motto"),
    ("config", "remote.origin.fetch"),
    ("rev-parse", "--show-prefix"),
)
MOTTO = 'say "hi" \\ # ; and\tgo\non'


@contextmanager
def copy_of(root: Path, commit: str | None = None, linked: tuple[str, ...] = ()) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as scratch:
        with copied(Origin(root.resolve(), commit, linked), Path(scratch).resolve() / "copy" / root.name) as place:
            yield place
        assert not place.exists()


def busy(tmp_path: Path) -> Path:
    """A repository with all that one collects in a day: branches, tags, a remote, a stash, changes staged and not."""
    upstream = repository(tmp_path / "upstream", {"kept.txt": "1\n", ".gitignore": "outputs/\n"})
    git("clone", "-q", str(upstream), "mine", at=tmp_path)
    root = tmp_path / "mine"
    git("config", "user.motto", MOTTO, at=root)
    git("tag", "-a", "v1", "-m", "one", at=root)
    git("branch", "other", at=root)
    write(root, {"kept.txt": "2\n"})
    git("commit", "-qam", "second", at=root)
    write(root, {"kept.txt": "stashed\n"})
    git("stash", "-q", at=root)
    write(root, {"staged.txt": "s\n", "kept.txt": "3\n", "new.txt": "n\n", "outputs/log.txt": "kept\n"})
    git("add", "staged.txt", at=root)
    git("pack-refs", "--all", at=root)
    write(root, {".git/info/exclude": "excluded.txt\n", "excluded.txt": "x\n"})
    return root


def answers(place: Path) -> dict[tuple[str, ...], str]:
    return {question: git(*question, at=place) for question in QUESTIONS}


def state(root: Path) -> dict[str, object]:
    """All of a repository but its objects, and every file of its work tree."""
    directory = root / ".git"
    inside = {
        str(file): file.read_bytes()
        for file in sorted(directory.rglob("*"))
        if file.is_file() and "objects" not in file.relative_to(directory).parts
    }
    return {**checkout_state(root), "repository": inside, "stashes": git("stash", "list", at=root)}


def test_git_answers_as_in_the_checkout(tmp_path: Path) -> None:
    root = busy(tmp_path)
    before, expected = state(root), answers(root)
    assert expected["config", "user.motto"] == MOTTO
    with copy_of(root) as place:
        found = answers(place)
        assert git("rev-parse", "--show-toplevel", at=place) == str(place)
        assert git("fsck", "--connectivity-only", at=place) == ""
        assert not (place / "outputs").exists()
    debug = ("ls-files", "--stage", "--debug", "kept.txt")
    assert found.pop(debug).splitlines()[0] == expected.pop(debug).splitlines()[0]
    assert found == expected
    assert state(root) == before


def test_a_detached_head(tmp_path: Path) -> None:
    root = busy(tmp_path)
    git("stash", "-qu", at=root)
    git("checkout", "-q", "--detach", "v1", at=root)
    with copy_of(root) as place:
        assert git("status", at=place).startswith("HEAD detached at v1")
        assert git("describe", "--tags", at=place) == "v1"


def test_a_commit_is_checked_out_with_the_filters_that_the_settings_name(tmp_path: Path) -> None:
    root = repository(tmp_path / "mine", {"a.txt": "plain\n", "sub/b.py": "b = 1\n"})
    git("config", "filter.loud.smudge", "tr a-z A-Z", at=root)
    git("config", "filter.loud.clean", "tr A-Z a-z", at=root)
    write(root, {".git/info/attributes": "*.txt filter=loud\n"})
    commit = git("rev-parse", "HEAD", at=root)
    write(root, {"a.txt": "newer\n"})
    git("commit", "-qam", "newer", at=root)
    with copy_of(root, commit) as place:
        assert (place / "a.txt").read_text() == "PLAIN\n" and (place / "sub/b.py").is_file()
        assert git("status", "--porcelain", at=place) == ""
        assert git("rev-parse", "HEAD", at=place) == commit
        assert git("log", "--oneline", "main", at=place) == git("log", "--oneline", at=root)


@pytest.mark.parametrize("kind", ["bare", "linked", "submodule", "sha256", "shallow", "unborn", "worktree-config"])
def test_every_kind_of_repository(kind: str, tmp_path: Path) -> None:
    main = tmp_path / "main"
    commit = None
    if kind == "sha256":
        main.mkdir()
        git("init", "-q", "-b", "main", "--object-format=sha256", at=main)
    root = repository(main, {"a.py": "a = 1\n"}) if kind != "unborn" else main
    if kind == "unborn":
        git("init", "-q", "-b", "trunk", str(main), at=tmp_path)
        write(main, {"a.py": "a = 1\n"})
    elif kind == "bare":
        git("clone", "-q", "--bare", str(main), "bare", at=tmp_path)
        root = tmp_path / "bare"
        commit = git("rev-parse", "main", at=root)
    elif kind == "linked":
        git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"), at=main)
        root = tmp_path / "side"
        git("tag", "here", at=root)
    elif kind == "submodule":
        repository(tmp_path / "super", {"b.py": "b = 1\n"})
        git("submodule", "--quiet", "add", str(main), "inner", at=tmp_path / "super")
        root = tmp_path / "super" / "inner"
    elif kind == "shallow":
        write(main, {"a.py": "a = 2\n"})
        git("commit", "-qam", "second", at=main)
        git("clone", "-q", "--depth", "1", f"file://{main}", "shallow", at=tmp_path)
        root = tmp_path / "shallow"
    elif kind == "worktree-config":
        git("config", "extensions.worktreeConfig", "true", at=main)
        git("config", "--worktree", "core.worktree", str(main), at=main)
    with copy_of(root, commit) as place:
        assert (place / "a.py").is_file()
        assert git("rev-parse", "--show-toplevel", at=place) == str(place)
        if kind != "unborn":
            assert git("log", "--oneline", "--all", at=place) == git("log", "--oneline", "--all", at=root)
        if kind != "bare":
            assert git("status", "--porcelain", "--branch", at=place) == git(
                "status", "--porcelain", "--branch", at=root
            )
        write(place, {"a.py": "a = 3\n"})
        git("add", "a.py", at=place)
        git("commit", "-qm", "of the command", at=place)


CHANGES = (
    "git tag theirs",
    "git tag -d v1",
    "git branch -D other",
    "git branch new",
    "git stash drop",
    "git stash -u",
    "git config user.motto changed",
    "git config --unset remote.origin.url",
    "git remote add more /nowhere",
    "git add -A",
    "git commit -qam changed --allow-empty",
    "git checkout -qf other",
    "git reset -q --hard v1",
    "git update-ref refs/heads/main v1^0",
    "git worktree add -q ../more",
    "git gc -q --prune=now",
    "git reflog expire --expire=now --all",
    "echo exit 1 > $(git rev-parse --git-path hooks/pre-commit)",
    "echo '*' > $(git rev-parse --git-path info/exclude)",
    "git notes add -m note",
    "mkdir -p outputs; echo changed > outputs/log.txt",
    "rm -rf kept.txt .git",
)


def test_nothing_that_is_done_in_the_copy_reaches_the_repository(tmp_path: Path) -> None:
    root = busy(tmp_path)
    write(root, {".git/hooks/post-checkout": f"#!/bin/sh\necho x >> {tmp_path}/hooked\n"})
    (root / ".git/hooks/post-checkout").chmod(0o755)
    before = state(root)
    objects = sorted((root / ".git/objects").rglob("*"))
    for change in CHANGES:
        with copy_of(root) as place:
            done = subprocess.run(change, shell=True, cwd=place, capture_output=True, text=True, check=False)
            assert done.returncode == 0, (change, done.stderr)
        assert state(root) == before, change
    assert sorted((root / ".git/objects").rglob("*")) == objects
    assert not (tmp_path / "hooked").exists()


@pytest.mark.parametrize("where", ["", "origin", "{upstream}", "file://{upstream}", "ssh://host/x", "{root}"])
def test_a_push_reaches_nothing(where: str, tmp_path: Path) -> None:
    root = busy(tmp_path)
    git("config", "remote.origin.pushurl", str(tmp_path / "upstream"), at=root)
    git("config", "url./.pushInsteadOf", "/", at=root)
    before = state(root), state(tmp_path / "upstream")
    target = where.format(upstream=tmp_path / "upstream", root=root)
    with copy_of(root) as place:
        command = f"git push {target} HEAD:refs/heads/pushed" if target else "git push --all"
        done = subprocess.run(command, shell=True, cwd=place, capture_output=True, text=True, check=False)
    assert done.returncode and "a-temporary-copy-of-fixer-does-not-push" in done.stderr, done.stderr
    assert (state(root), state(tmp_path / "upstream")) == before
