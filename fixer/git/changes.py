"""What has changed since a commit: the lines that `--since REF` is about."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from codemods.edits import Finding
from codemods.plan import Plan
from codemods.sources.files import NOTEBOOK, decode
from codemods.sources.text import Source
from fixer.errors import Refusal
from fixer.git.command import GitFailed, git, top

Lines = tuple[int, int]
"""The first and the last of some lines that follow each other, from 1."""

EVERY: tuple[Lines, ...] = ((0, 1 << 62),)

_PATCH = (
    *(
        "--unified=0",
        "--inter-hunk-context=0",
        "--find-renames",
        "--diff-filter=d",
        "--ignore-submodules=all",
        "--text",
    ),
    *("--no-color", "--no-ext-diff", "--no-textconv", "--no-relative", "--src-prefix=a/", "--dst-prefix=b/"),
)
_HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


@dataclass(frozen=True, slots=True, eq=False)
class Changes:
    """What has changed in each file in which anything has. Plain data."""

    lines: Mapping[str, tuple[Lines, ...]]
    """By path; in a notebook, cells instead of lines."""

    def touch(self, path: str, first: int, last: int) -> bool:
        """Whether any of some lines (or cells) of a file has changed."""
        return any(start <= last and first <= end for start, end in self.lines.get(path, ()))

    def concern(self, finding: Finding, text: Callable[[str], str | None]) -> bool:
        """Whether a finding or an edit of its fix touches a changed line.

        Args:
            text: the decoded text, as it was read, of a file that the fix edits.
        """
        place = finding.reported
        if finding.cell is not None:
            return self.touch(finding.path, finding.cell, finding.cell)
        if self.touch(finding.path, place.line, place.end_line):
            return True
        for edit in finding.fix.edits if finding.fix else ():
            if edit.path in self.lines and (whole := text(edit.path)) is not None:
                first = whole.count("\n", 0, edit.start) + 1
                if self.touch(edit.path, first, first + whole.count("\n", edit.start, max(edit.start, edit.end - 1))):
                    return True
        return False


def about(changed: Changes, plan: Plan) -> Plan:
    """What a plan says about changed lines."""
    before = {file.path: file.before for file in plan.files}

    def text(path: str) -> str | None:
        source = decode(path, before[path]) if path in before else None
        return source.text if isinstance(source, Source) else None

    files = [
        replace(file, findings=tuple(finding for finding in file.findings if changed.concern(finding, text)))
        for file in plan.files
    ]
    return replace(
        plan,
        files=tuple(file for file in files if file.findings or file.changed),
        unused=tuple(each for each in plan.unused if changed.touch(each.path, each.line, each.line)),
    )


def changes(root: Path, ref: str, until: str | None = None) -> Changes:
    """What has changed in a repository since its history and that of `ref` parted.

    Args:
        root: the root of the work tree.
        until: look no further than this commit; by default uncommitted changes and new files count too.

    Raises:
        Refusal: if `ref` is no commit here, or has no history in common with what it is compared with.
    """
    if top(root) != root:
        raise Refusal(f"--since: {root} is not in a git repository, so nothing tells what has changed")
    if not ref:
        raise Refusal("--since: give the commit to compare with, such as HEAD or origin/main")
    start = _merge_base(root, ref, until or "HEAD")
    lines = {}
    for old, path, changed in _of_patch(_said(root, "diff", *_PATCH, start, *([until] if until else []), "--")):
        lines[path] = _cells(root, f"{start}:{old}", path, until) if path.endswith(NOTEBOOK) else changed
    if until is None:
        new = os.fsdecode(_said(root, "ls-files", "-z", "--others", "--exclude-standard")).split("\0")
        lines |= dict.fromkeys(filter(None, new), EVERY)
    return Changes(lines)


def _said(root: Path, *command: str) -> bytes:
    try:
        return git(*command, at=root)
    except GitFailed as error:
        raise Refusal(f"--since: git cannot tell what has changed: {error}") from error


def _merge_base(root: Path, ref: str, head: str) -> str:
    """The commit where the histories parted."""

    def asked(*command: str) -> str | None:
        try:
            return git(*command, at=root).decode().split("\n")[0] or None
        except GitFailed:
            return None

    def commit(name: str) -> str | None:
        if name.startswith("-") or "\0" in name:
            return None
        return asked("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")

    shallow = asked("rev-parse", "--is-shallow-repository") == "true"
    if (now := commit(head)) is None:
        raise Refusal("--since: the repository has no commit yet: run fixer without it")
    if (then := commit(ref)) is None:
        advice = "fetch it first (`git fetch origin` and name it as in origin/main)"
        advice += ", more of it with `git fetch --unshallow`: this clone is shallow" if shallow else ""
        raise Refusal(f"--since {ref!r}: there is no such commit in {root}: {advice}")
    if (base := asked("merge-base", then, now)) is None:
        advice = (
            "fetch more of the history with `git fetch --unshallow`" if shallow else "name a commit of this history"
        )
        raise Refusal(f"--since {ref!r}: it and {head} have no commit in common here: {advice}")
    return base


def _cells(root: Path, before: str, path: str, until: str | None) -> tuple[Lines, ...]:
    """The cells of a notebook that were not in it before; all where that cannot be told."""
    from codemods.sources.notebook import cells

    try:
        now = git("cat-file", "blob", f"{until}:{path}", at=root) if until else (root / path).read_bytes()
        known = {source for _, source in cells(git("cat-file", "blob", before, at=root))}
    except (GitFailed, OSError):
        return EVERY
    return tuple((number, number) for number, source in cells(now) if source not in known)


def _of_patch(patch: bytes) -> Iterator[tuple[str, str, tuple[Lines, ...]]]:
    """The files of a patch without context: the old path, the new one, and the changed lines."""
    old_path, path, found = "", "", list[Lines]()
    content = 0
    for line in patch.split(b"\n"):
        if line.startswith(b"\\"):
            continue
        if content:
            content -= 1
        elif hunk := _HUNK.match(line):
            old, first, new = (int(number or 1) for number in hunk.groups())
            # Where lines are gone, those around the gap are what has changed.
            found.append((first, first + new - 1) if new else (first, first + 1))
            content = old + new
        elif line.startswith(b"diff --git "):
            if found:
                yield old_path, path, tuple(found)
            found = []
        elif line.startswith(b"--- "):
            old_path = _name(line.removeprefix(b"--- "))
        elif line.startswith(b"+++ "):
            path = _name(line.removeprefix(b"+++ "))
    if found:
        yield old_path, path, tuple(found)


def _name(written: bytes) -> str:
    """A path as git writes it in a patch: quoted where it holds odd characters, with a tab behind where spaces."""
    if written.startswith(b'"'):
        unquoted = ast.literal_eval(f"b{written.decode('ascii').rstrip()}")
        assert isinstance(unquoted, bytes)
        written = unquoted
    return os.fsdecode(written.removesuffix(b"\t")[len("b/") :])
