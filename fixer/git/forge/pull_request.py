"""What a pull request is, whichever host it is on, and how the text that fixer wrote is told from a person's."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

LONGEST = 60_000
"""Characters of a body; GitHub takes 65,536."""
LONGEST_TITLE = 250
"""GitHub takes 256, GitLab 255."""
_MARK = re.compile(r"\s*<!-- fixer: (open|closed) ([0-9a-f]{16}) -->\s*\Z")

State = Literal["open", "closed", "merged"]


@dataclass(frozen=True, slots=True)
class PullRequest:
    """What is to be asked of the people of a repository. Plain data."""

    branch: str
    base: str
    """The branch to merge into, by its name on the host."""
    title: str
    body: str = ""
    labels: tuple[str, ...] = ()
    reviewers: tuple[str, ...] = ()
    """As CODEOWNERS writes them: `@ada`, `@org/team`; an address is nobody whom a host can ask."""
    draft: bool = False
    empty: bool = False
    """There is nothing left to merge: what is open is closed."""


@dataclass(frozen=True, slots=True)
class Existing:
    """A pull request that is there."""

    number: int
    url: str
    title: str
    body: str
    state: State
    base: str = ""

    @property
    def declined(self) -> bool:
        """Whether a person closed it; fixer says so in the text where it closes one itself."""
        mark = _MARK.search(self.body)
        return self.state == "closed" and (mark is None or mark[1] != "closed")

    @property
    def ours(self) -> bool:
        """Whether title and body are as fixer wrote them."""
        mark = _MARK.search(self.body)
        return mark is not None and mark[2] == _digest(self.title, self.body[: mark.start()])


@dataclass(frozen=True, slots=True)
class Delivered:
    """What became of a pull request."""

    outcome: Literal["opened", "updated", "unchanged", "closed", "left-alone"]
    number: int | None = None
    url: str = ""
    notes: tuple[str, ...] = ()
    """Sentences: why it was left alone, whom nobody could ask."""


class Host(Protocol):
    """What a forge must be able to do. Each method may raise Refusal."""

    name: str

    def find(self, branch: str) -> Sequence[Existing]:
        """The pull requests from a branch, newest first."""

    def open(self, pull: PullRequest) -> Existing | None:
        """Open one; None if there is an open one after all."""

    def edit(self, number: int, *, title: str, body: str, base: str) -> None:
        """Change the text of one, and the branch that it is to be merged into."""

    def comment(self, number: int, text: str) -> None:
        """Say something on one."""

    def close(self, number: int) -> None:
        """Close one without merging it."""

    def label(self, number: int, labels: Sequence[str]) -> Sequence[str]:
        """Put labels on one; sentences about what could not be done."""

    def ask(self, number: int, reviewers: Sequence[str]) -> Sequence[str]:
        """Ask people for a review; sentences about whom nobody could ask."""


def signed(title: str, body: str, state: Literal["open", "closed"] = "open") -> str:
    """The body with an invisible line by which it is known again, cut where a host would refuse it."""
    body = body.rstrip()
    if len(body) > LONGEST:
        cut = body[:LONGEST].rpartition("\n")[0]
        body = f"{cut}\n\n… and more: `fixer apply --dry-run` shows it all."
    return f"{body}\n\n<!-- fixer: {state} {_digest(title, body)} -->"


def unsigned(body: str) -> str:
    """The body without that line."""
    return _MARK.sub("", body)


def short(title: str) -> str:
    """A title on one line that every host takes."""
    title = " ".join(title.split())
    return title if len(title) <= LONGEST_TITLE else title[: LONGEST_TITLE - 1].rstrip() + "…"


def _digest(title: str, body: str) -> str:
    # Hosts change line ends and trim; that is no person's work.
    text = "\n".join(line.rstrip() for line in f"{title.strip()}\n{body.strip()}".splitlines())
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
