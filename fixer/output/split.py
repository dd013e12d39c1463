"""A plan in parts, one for each owner, project or directory: each can be reviewed, merged and reverted alone.

Files that a fix ties together are never parted. The parts share no file, and together they are the plan.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from codemods.model.plan import FilePlan, Plan
from fixer.errors import Refusal

if TYPE_CHECKING:
    from fixer.git.owners import Owners
    from fixer.run.request import Outcome

BY = ("codeowners", "project", "directory")
UNOWNED = "no owner"
ROOT = "root"
LONGEST = 60
"""Characters of a branch's suffix."""


@dataclass(frozen=True, slots=True)
class Split:
    """How a plan is to be divided."""

    by: str
    """One of BY."""
    depth: int = 1
    """With `directory`: how many names of a path count."""
    max_files: int | None = None
    """Changed files in a part, unless a single fix needs more."""

    @classmethod
    def parse(cls, text: str, max_files: int | None = None) -> Split:
        """`codeowners`, `project`, or `directory:2`.

        Raises:
            Refusal: if it is none of them.
        """
        by, colon, depth = text.partition(":")
        if by not in BY or (colon and (by != "directory" or not re.fullmatch(r"[1-9]\d?", depth))):
            raise Refusal(f"--split {text!r}: write codeowners, project, or directory:N with N from 1 to 99")
        if max_files is not None and max_files < 1:
            raise Refusal(f"--max-files {max_files}: a part holds at least one file")
        return cls(by, int(depth or 1), max_files)


@dataclass(frozen=True, slots=True)
class Part:
    """What one branch, and one pull request, holds."""

    name: str
    """For people: `@org/team`, `services/vision`, `no owner`."""
    where: str
    """The same within a sentence: `for @org/team`, `in services/vision`, `without an owner`."""
    suffix: str
    """For the branch: `org-team`."""
    plan: Plan
    owners: tuple[str, ...] = ()
    """Of the files that change, as CODEOWNERS names them; whoever should review."""
    notes: tuple[str, ...] = ()
    """What kept files in this part that would have gone elsewhere."""

    @property
    def paths(self) -> tuple[str, ...]:
        """The files that change."""
        return tuple(file.path for file in self.plan.changed)


def parts(outcome: Outcome, split: Split, owners: Owners | None = None) -> tuple[Part, ...]:
    """The plan of a run in parts, by name; files of which nothing changes go with their neighbours, or nowhere.

    Raises:
        Refusal: if it is to be split by owners and there are none.
    """
    if split.by == "codeowners" and owners is None:
        raise Refusal(
            "--split codeowners: there is no CODEOWNERS file (looked in the root, docs/, .github/ and .gitlab/): "
            "add one, or split by project or directory"
        )
    keys = _keys(outcome.plan, split, owners)
    groups: dict[tuple[str, ...], list[tuple[FilePlan, ...]]] = defaultdict(list)
    for tied in _tied(outcome.plan):
        groups[tuple(sorted({key for file in tied for key in keys(file.path)}, key=_for_people))].append(tied)
    found = []
    for key, group in sorted(groups.items()):
        name = " and ".join(key)
        chunks = list(_chunks(group, split.max_files))
        taken = {file.path for tied in group for file in tied}
        for number, chunk in enumerate(chunks, start=1):
            paths = {file.path for tied in chunk for file in tied}
            more = f" ({number} of {len(chunks)})" if len(chunks) > 1 else ""
            # The first of several also tells what is left to do in this corner of the repository.
            rest = [p for p in _mentioned(outcome.plan) if p not in taken and keys(p) == key] if number == 1 else []
            found.append(
                Part(
                    name=name + more,
                    where=_where(key, split) + more,
                    suffix=_suffix(key) if len(chunks) == 1 else f"{_suffix(key)}-{number}",
                    plan=restricted(outcome.plan, paths.union(rest)),
                    owners=_owners(paths, owners),
                    notes=tuple(_notes(chunk, keys, split.max_files)),
                )
            )
    return tuple(_told_apart(found))


def restricted(plan: Plan, paths: Iterable[str]) -> Plan:
    """What a plan says about some of its files."""
    chosen = frozenset(paths)
    return replace(
        plan,
        files=tuple(file for file in plan.files if file.path in chosen),
        skips=tuple(skip for skip in plan.skips if skip.path in chosen),
        unused=tuple(unused for unused in plan.unused if unused.path in chosen),
        suppressed=tuple(one for one in plan.suppressed if one.path in chosen),
        other_versions=tuple(other for other in plan.other_versions if other.path in chosen),
        components=tuple(component for component in plan.components if component & chosen),
    )


def outcome_of(outcome: Outcome, part: Part) -> Outcome:
    """The run as if it had been about this part alone."""
    paths = {file.path for file in part.plan.files}
    own = tuple((order, restricted(plan, paths)) for order, plan in outcome.parts)
    return replace(outcome, plan=part.plan, parts=tuple((order, plan) for order, plan in own if plan.files))


def _keys(plan: Plan, split: Split, owners: Owners | None) -> Callable[[str], tuple[str, ...]]:
    """Where a file belongs: several owners share one part."""
    if split.by == "codeowners":
        assert owners is not None
        # Names on GitHub and GitLab do not depend on case or order.
        spelled: dict[str, str] = {}
        return lambda path: (
            tuple(sorted((spelled.setdefault(o.casefold(), o) for o in owners.of(path)), key=_for_people)) or (UNOWNED,)
        )
    if split.by == "project":
        roots = sorted((project.root for project in plan.projects), key=len, reverse=True)
        return lambda path: (next((root for root in roots if path.startswith(f"{root}/")), "") or ROOT,)
    return lambda path: ("/".join(path.split("/")[:-1][: split.depth]) or ROOT,)


def _where(key: Sequence[str], split: Split) -> str:
    if split.by == "codeowners":
        return "without an owner" if key == (UNOWNED,) else f"for {' and '.join(key)}"
    return "at the root" if key == (ROOT,) else f"in {' and '.join(key)}"


def _for_people(key: str) -> tuple[str, str]:
    return key.casefold(), key


def _tied(plan: Plan) -> Iterator[tuple[FilePlan, ...]]:
    """The changed files by path, each with those that a fix ties to it."""
    component = {path: paths for paths in plan.components for path in paths}
    changed = {file.path: file for file in plan.changed}
    seen: set[str] = set()
    for path in sorted(changed):
        if path not in seen:
            together = [other for other in sorted(component.get(path, {path})) if other in changed]
            seen.update(together)
            yield tuple(changed[other] for other in together)


def _chunks(group: Sequence[tuple[FilePlan, ...]], most: int | None) -> Iterator[list[tuple[FilePlan, ...]]]:
    """Neighbours together, as many as one part may hold."""
    chunk: list[tuple[FilePlan, ...]] = []
    size = 0
    for tied in group:
        if chunk and most is not None and size + len(tied) > most:
            yield chunk
            chunk, size = [], 0
        chunk.append(tied)
        size += len(tied)
    if chunk:
        yield chunk


def _mentioned(plan: Plan) -> Iterator[str]:
    yield from (file.path for file in plan.files if not file.changed)
    yield from (skip.path for skip in plan.skips)


def _owners(paths: Iterable[str], owners: Owners | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys(owner for path in sorted(paths) for owner in owners.of(path))) if owners else ()


def _notes(
    chunk: Sequence[tuple[FilePlan, ...]], keys: Callable[[str], tuple[str, ...]], most: int | None
) -> Iterator[str]:
    for tied in chunk:
        first, last = ", ".join(file.path for file in tied[:-1]), tied[-1].path
        names = f"{first} and {last}" if len(tied) < 5 else f"{tied[0].path} and {len(tied) - 1} more"
        if len({keys(file.path) for file in tied}) > 1:
            yield f"{names} change together, so they share a branch"
        if most is not None and len(tied) > most:
            yield f"{names} change together, more than --max-files {most}"


def _suffix(key: Sequence[str]) -> str:
    """A name that git and a browser's address line take; what it lacks, `_told_apart` makes up for."""
    text = "+".join(re.sub(r"[^\w.]+", "-", part).strip("-.") or "-" for part in key)
    text = re.sub(r"\.{2,}", ".", text).removesuffix(".lock").strip("-.") or "part"
    return text if len(text) <= LONGEST else f"{text[:LONGEST].rstrip('-.+')}-{_digest(' '.join(key))}"


def _told_apart(found: Sequence[Part]) -> Iterator[Part]:
    """Parts whose suffixes a file system could confuse get one that it cannot."""
    count = Counter(part.suffix.casefold() for part in found)
    for part in found:
        alone = count[part.suffix.casefold()] == 1
        yield part if alone else replace(part, suffix=f"{part.suffix}-{_digest(part.name)}")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:6]
