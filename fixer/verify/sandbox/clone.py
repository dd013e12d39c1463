"""A repository for a copy: it answers as the person's does and shares its objects; what is written to it stays in it.

It is written as gitrepository-layout(5) describes it, so that no template, hook or program of anybody's runs.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from fixer.git.command import GitFailed, git

NOWHERE = "a-temporary-copy-of-fixer-does-not-push:"
"""The address that every push goes to; there is no such protocol."""
DROPPED = re.compile(
    r"core\.(bare|worktree|hookspath|fsmonitor|splitindex|untrackedcache|sparsecheckout|sparsecheckoutcone)"
    r"|extensions\.(?!objectformat|partialclone).*|include(if)?\..*|remote\..*\.pushurl|url\..*\.pushinsteadof"
)
"""Settings that belong to one work tree, run programs on their own, or are replaced by ours."""


KEPT = ("shallow", "info/exclude", "info/attributes", "logs/HEAD", "logs/refs/stash")
"""Files of a repository that are copied as they are."""


def clone(root: Path, place: Path, commit: str | None = None) -> None:
    """Make the empty directory `place` a repository with the refs, settings, HEAD and index of the one at `root`.

    Args:
        commit: check this out there, through the filters that the settings name, instead of taking HEAD and index.

    Raises:
        GitFailed: if git cannot read the one, or check out the other.
    """
    directory = place / ".git"
    for name in ("refs", "hooks"):
        (directory / name).mkdir(parents=True)
    _write(directory, "objects/info/alternates", os.fsencode(_path(root, "objects")) + b"\n")
    _write_refs(root, directory)
    _write(directory, "config", os.fsencode("".join(_settings(root))))
    for name in KEPT:
        if (source := _path(root, name)).is_file():
            _write(directory, name, source.read_bytes())
    if commit is None:
        _write(directory, "HEAD", _head(root))
        index = _path(root, "index")
        for source in (index, *index.parent.glob("sharedindex.*")):
            if source.is_file():
                shutil.copy2(source, directory / source.name)
    else:
        _write(directory, "HEAD", git("rev-parse", "--verify", f"{commit}^{{commit}}", at=root))
        git("checkout", "--quiet", "--force", "--detach", at=place, filters=True)


def _path(root: Path, name: str) -> Path:
    """Where a file of the repository lies: what work trees share is elsewhere."""
    return (root / os.fsdecode(git("rev-parse", "--git-path", name, at=root)).removesuffix("\n")).resolve()


def _write(directory: Path, name: str, content: bytes) -> None:
    (directory / name).parent.mkdir(parents=True, exist_ok=True)
    (directory / name).write_bytes(content)


def _head(root: Path) -> bytes:
    try:
        return b"ref: " + git("symbolic-ref", "--quiet", "HEAD", at=root)
    except GitFailed:
        return git("rev-parse", "--verify", "HEAD", at=root)


def _write_refs(root: Path, directory: Path) -> None:
    packed = []
    for line in os.fsdecode(git("for-each-ref", "--format=%(objectname) %(refname) %(symref)", at=root)).splitlines():
        oid, name, target = line.split(" ")
        if target:
            _write(directory, name, os.fsencode(f"ref: {target}\n"))
        else:
            packed.append(f"{oid} {name}\n")
    _write(directory, "packed-refs", os.fsencode("".join(packed)))


def _settings(root: Path) -> Iterator[str]:
    """The repository's own settings, with those that keep what is done in the copy from going anywhere else."""
    fields = os.fsdecode(git("config", "--list", "--show-scope", "-z", at=root)).split("\0")
    remotes = set()
    for scope, setting in zip(fields[::2], fields[1::2], strict=False):
        key, given, value = setting.partition("\n")
        if scope in ("local", "worktree") and not DROPPED.fullmatch(key):
            yield _setting(key, value if given else None)
        if match := re.fullmatch(r"remote\.(.+)\.url", key):
            remotes.add(match[1])
    for remote in sorted(remotes):
        yield _setting(f"remote.{remote}.pushurl", NOWHERE)
    yield _setting(f"url.{NOWHERE}.pushinsteadof", "")
    yield _setting("core.bare", "false")
    yield _setting("core.hookspath", ".git/hooks")
    yield _setting("gc.auto", "0")
    yield _setting("maintenance.auto", "false")


def _setting(key: str, value: str | None) -> str:
    section, _, rest = key.partition(".")
    subsection, dot, name = rest.rpartition(".")
    heading = f"{section} {_quoted(subsection)}" if dot else section
    return f"[{heading}]\n\t{name}\n" if value is None else f"[{heading}]\n\t{name} = {_quoted(value)}\n"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
