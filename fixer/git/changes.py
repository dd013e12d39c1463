"""What has changed since a commit: the lines that `--since REF` is about."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from codemods.model.edits import Finding
from codemods.sources.files import NOTEBOOK
from fixer.errors import Refusal
from fixer.git.command import GitFailed, begin, git, top

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


def changes(root: Path, ref: str, until: str | None = None) -> Callable[[], Changes]:
    """What has changed in a repository since its history and that of `ref` parted: git begins to look at once.

    Args:
        root: the root of the work tree; with `until`, any directory of the repository.
        until: look no further than this commit; by default uncommitted changes and new files count too.

    Returns:
        What waits for git and tells.

    Raises:
        Refusal: if `ref` is no commit here, or has no history in common with what it is compared with.
    """
    start = _parting(root, ref, until or "HEAD")
    patch = begin("diff", *_PATCH, start, *([until] if until else []), "--", at=root)
    new = None if until else begin("ls-files", "-z", "--others", "--exclude-standard", at=root)

    def told() -> Changes:
        lines = {}
        try:
            for old, path, changed in _of_patch(patch()):
                lines[path] = _cells(root, f"{start}:{old}", path, until) if path.endswith(NOTEBOOK) else changed
            if new is not None:
                lines |= dict.fromkeys(filter(None, os.fsdecode(new()).split("\0")), EVERY)
        except GitFailed as error:
            raise Refusal(f"--since: git cannot tell what has changed: {error}") from error
        return Changes(lines)

    return told


def _parting(root: Path, ref: str, head: str) -> str:
    """The commit where the histories of `ref` and `head` parted."""

    def asked(*command: str) -> list[str]:
        try:
            return git(*command, at=root).decode("utf-8", "surrogateescape").split("\n")
        except GitFailed:
            return [""]

    if not ref:
        raise Refusal("--since: give the commit to compare with, such as HEAD or origin/main")
    if not ref.startswith("-") and "\0" not in ref:
        place = "--show-toplevel" if head == "HEAD" else "--git-dir"
        answer = asked("rev-parse", place, f"{ref}^{{commit}}", f"{head}^{{commit}}")
        if len(answer) == 4 and (head != "HEAD" or answer[0] == str(root)):
            then, now = answer[1:3]
            if base := then if then == now else asked("merge-base", then, now)[0]:
                return base
    raise Refusal(f"--since {ref!r}: {_why_not(root, ref, head, asked)}")


def _why_not(root: Path, ref: str, head: str, asked: Callable[..., list[str]]) -> str:
    """Why there is nothing to compare with, and what to do."""

    def missing(name: str) -> bool:
        bad = name.startswith("-") or "\0" in name
        return bad or not asked("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")[0]

    if head == "HEAD" and top(root) != root:
        return f"{root} is not in a git repository, so nothing tells what has changed"
    shallow = asked("rev-parse", "--is-shallow-repository")[0] == "true"
    if missing(head):
        return "the repository has no commit yet: run fixer without --since"
    if missing(ref):
        more = "; this clone is shallow: `git fetch --unshallow` fetches the rest" if shallow else ""
        return f"there is no such commit in {root}; a branch of a remote is fetched, then named as in origin/main{more}"
    more = "fetch more of the history with `git fetch --unshallow`" if shallow else "name a commit of this history"
    return f"it and {head} have no commit in common here: {more}"


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
