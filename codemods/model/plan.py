"""The plan: what would change, file by file, and what was found. Every output is a rendering of a Plan.

Plain data: frozen, picklable, no trees.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from codemods.model.edits import Edit, Finding, Safety, Skip, Unaffected


@dataclass(frozen=True, slots=True)
class Change:
    """One edit of the plan in coordinates of the file as it was read, with the rule that asked for it."""

    code: str
    edit: Edit
    message: str
    safety: Safety


@dataclass(frozen=True, slots=True)
class FilePlan:
    """One file: its bytes before and after, its findings, and which rule is behind which change."""

    path: str
    before: bytes
    after: bytes
    findings: tuple[Finding, ...] = ()
    """In reading order; `applied` marks those whose fix is in `after`."""
    changes: tuple[Change, ...] = ()
    at_once: bool = True
    """All fixes were taken in one round: none had to wait for another one."""

    @property
    def changed(self) -> bool:
        return self.before != self.after


@dataclass(frozen=True, slots=True)
class Target:
    """The version range of one package in one project, and the file it was read from."""

    package: str
    spec: str
    """A PEP 440 specifier set, such as `==2.4.1` or `>=2.0,<3`."""
    source: str
    """The path of the file, or, of one that a person has given, `--target` or where it stands."""
    given: bool = False
    """A person said so, whatever the packaging files say."""
    either: tuple[Target, ...] = ()
    """Of two distributions of one thing that a project asks for: what is said of each."""


UPGRADE = "fixer upgrade"
"""The source of a target to which `fixer upgrade` carries a project."""


@dataclass(frozen=True, slots=True)
class Project:
    """A directory with packaging metadata of its own (or the root), and the versions it allows."""

    root: str
    targets: Mapping[str, Target] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class UnusedSuppression:
    """A suppression comment that silenced nothing."""

    path: str
    line: int
    code: str
    """Empty: the comment names none."""
    known: bool = True
    """Whether it is the code of a rule, or how some begin."""
    close: str = ""
    """The code of a rule that is much like it."""


@dataclass(frozen=True, slots=True, order=True)
class SuppressedFinding:
    """A finding that a comment silenced."""

    path: str
    line: int
    code: str
    fingerprint: str


@dataclass(frozen=True, slots=True, order=True)
class OtherVersions:
    """A finding that applies to other versions than the project allows."""

    path: str
    code: str
    fingerprint: str
    why: Unaffected


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything one run found and would change."""

    files: tuple[FilePlan, ...] = ()
    """Files with findings or changes, by path."""
    skips: tuple[Skip, ...] = ()
    projects: tuple[Project, ...] = ()
    """Of the files that were read closely."""
    unused: tuple[UnusedSuppression, ...] = ()
    suppressed: tuple[SuppressedFinding, ...] = ()
    other_versions: tuple[OtherVersions, ...] = ()
    files_seen: int = 0
    files_read: int = 0
    components: tuple[frozenset[str], ...] = ()
    """Groups of two or more files tied by a fix: taken, committed and written together."""

    @property
    def findings(self) -> tuple[Finding, ...]:
        return tuple(finding for file in self.files for finding in file.findings)

    @property
    def changed(self) -> tuple[FilePlan, ...]:
        return tuple(file for file in self.files if file.changed)
