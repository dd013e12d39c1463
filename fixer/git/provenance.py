"""A seal says that a commit is as fixer made it: nobody amended its words or its tree.

It is a trailer that holds a digest of both. A branch is renewed or deleted only as long as every commit of it is
sealed, which needs no record of what was pushed: it holds after a crash, in a fresh clone and on another machine.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fixer.git.repository import Repository

TRAILER = "Fixer-Seal"
_LINE = re.compile(rf"^{TRAILER}: ([0-9a-f]+)\n?", re.MULTILINE)
_DIFF = ("--text", "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames")


@dataclass(frozen=True, slots=True)
class SealedCommit:
    """A commit of a branch, and whether its seal is whole."""

    oid: str
    subject: str
    sealed: bool


def seal(message: str, tree: str) -> str:
    """`message`, which ends with trailers, with the seal of a commit of that tree."""
    return f"{message.rstrip()}\n{TRAILER}: {_digest(message, tree)}\n"


def _digest(message: str, tree: str) -> str:
    return hashlib.sha256(f"{tree}\n{message.strip()}".encode("utf-8", "surrogateescape")).hexdigest()[:16]


def is_whole(message: str, tree: str) -> bool:
    """Whether the message holds the one seal that belongs to it and to the tree."""
    seals = _LINE.findall(message)
    return len(seals) == 1 and seals[0] == _digest(_LINE.sub("", message), tree)


def commits(repository: Repository, base: str, tip: str) -> Iterator[SealedCommit]:
    """The commits that `tip` has and `base` has not, newest first."""
    listed = repository.call("rev_list", "--format=%x00%P%x00%T%x00%B%x00", f"{base}..{tip}", "--")
    fields = listed.decode("utf-8", "surrogateescape").split("\0")
    for at in range(0, len(fields) - 4, 4):
        parents, tree, message = fields[at + 1 : at + 4]
        sealed = len(parents.split()) == 1 and is_whole(message, tree)
        yield SealedCommit(fields[at].split()[-1], message.partition("\n")[0], sealed)


def series(repository: Repository, base: str, tip: str) -> tuple[str, ...]:
    """What each commit between `base` and `tip` changes, oldest first, wherever in a file it stands now."""
    digests = []
    for oid in repository.call("rev_list", "--reverse", f"{base}..{tip}", "--").decode().split():
        patch = repository.call("diff_tree", "-p", "--no-commit-id", *_DIFF, oid)
        # Places and object names change with what others did in the file; the lines do not.
        lines = [line for line in patch.split(b"\n") if not line.startswith((b"@@", b"index "))]
        digests.append(hashlib.sha256(b"\n".join(lines)).hexdigest())
    return tuple(digests)
