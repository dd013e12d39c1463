"""A job: one repository of a campaign, and the answer to it. Plain data, so that both may cross to another machine."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from fixer.bulk.campaign import Campaign
from fixer.bulk.repositories import NamedRepository


class Ending(str, enum.Enum):
    """What became of a repository; there is nothing else."""

    CHANGED = "changed"
    NOTHING = "nothing-to-do"
    REFUSED = "refused"
    CONFLICT = "conflict"
    REFUTED = "verify-refuted"
    FAILED = "failed"
    LIMITED = "skipped-by-limit"

    def __str__(self) -> str:
        return self.value

    @property
    def bad(self) -> bool:
        """Whether somebody has to look at it."""
        return self not in (Ending.CHANGED, Ending.NOTHING, Ending.LIMITED)


@dataclass(frozen=True, slots=True)
class Job:
    """One repository of a campaign."""

    target: NamedRepository
    campaign: Campaign
    date: int
    """Seconds since 1970: of every commit, so that the same work gives the same commits."""
    hand: tuple[tuple[str, str], ...] = ()
    """Who commits, unless a repository says otherwise: `user.name`, `user.email`, and variables of git, which win."""
    known: tuple[str, str] | None = None
    """The base that was planned on before, as commit and branch; if it still is, nothing has to be done."""


@dataclass(frozen=True, slots=True)
class FindingRow:
    """A finding, as a report tells it."""

    code: str
    path: str
    line: int
    message: str
    safety: str
    fixed: bool


@dataclass(frozen=True, slots=True)
class BranchChange:
    """A branch that is ready to be delivered."""

    branch: str
    tip: str
    part: str
    owners: tuple[str, ...]
    title: str
    body: str
    patch: bytes
    pack: bytes
    """The objects that are not in the base."""
    commits: tuple[tuple[str, str], ...]
    """(id, subject), oldest first."""
    series: tuple[str, ...]
    """What each commit changes, wherever it stands: equal for changes that only the base tells apart."""
    verdict: str = ""
    verification: str = ""
    """One word and one sentence, if there was a command to run."""
    ending: Ending | None = None
    """Why it is not to be delivered."""


@dataclass(frozen=True, slots=True)
class JobResult:
    """What a job came to."""

    ending: Ending | None = None
    """None: there are changes to deliver."""
    detail: str = ""
    base: str | None = None
    base_name: str = ""
    unchanged: bool = False
    """The base is the known one; everything else is as it was."""
    places: tuple[FindingRow, ...] = ()
    changes: tuple[BranchChange, ...] = ()
    notes: tuple[str, ...] = ()
    skipped: int = 0
    """Files that could not be handled."""
