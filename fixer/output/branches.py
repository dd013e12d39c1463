"""From a plan to branches: commits built on the base commit, one per rule, without touching the person's checkout."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from codemods.model.plan import Plan
from fixer.errors import Refusal
from fixer.git.branches import check_name, places, start
from fixer.git.changes import changes
from fixer.git.owners import find, lives_on_gitlab
from fixer.git.partial import fetch_missing
from fixer.git.repository import CommitFiles, CommitSeries, Repository
from fixer.output.commits import Commit, CommitRequest, Hand, commit_all, hand, ignore_all, kept
from fixer.output.scratch import scratch
from fixer.output.split import Part, Split, outcome_of, parts
from fixer.project.discover import attributed
from fixer.run.execute import Progress, Tick, no_progress
from fixer.run.planning import plan_listing
from fixer.run.request import Outcome, Request, configuration

IGNORING = "blame-ignore-revs"
"""The branch beside those of a split plan that keeps their commits out of `git blame`."""


@dataclass(frozen=True, slots=True)
class BranchRequest:
    """What the command line says about the branch and its commits."""

    name: str
    base: str | None = None
    on_conflict: str = "refuse"
    commits: CommitRequest = field(default_factory=CommitRequest)


@dataclass(frozen=True, slots=True)
class Delivery:
    """What became of a branch."""

    outcome: Outcome
    branch: str
    base: str
    """The commit that was planned on."""
    base_name: str
    commits: tuple[Commit, ...] = ()
    notes: tuple[str, ...] = ()
    tip: str | None = None
    """Where the branch points; None if it was not made."""
    moved: bool = False
    """Whether this run pointed it there; it stays where it is if all would be the same but the time."""
    part: Part | None = None
    """What of a split plan it holds."""
    verification: str = ""
    """What came of running the code, as a section in Markdown."""


Check = Callable[[Delivery], str]
"""Looks at a branch before it is made; gives the section about it, or raises Refusal."""


@dataclass(frozen=True, slots=True)
class Parted:
    """What became of the branches of a split plan."""

    outcome: Outcome
    """Of the whole."""
    deliveries: tuple[Delivery, ...] = ()
    notes: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    """Branches that could not be updated, as sentences; the others were."""


@dataclass(frozen=True, slots=True)
class _Planned:
    """A plan of a commit, and all that is needed to build on it."""

    repository: Repository
    files: CommitFiles
    draft: CommitSeries
    hand: Hand
    outcome: Outcome
    base: str
    base_name: str
    check: Check

    def delivery(self, branch: str) -> Delivery:
        return Delivery(self.outcome, branch, self.base, self.base_name)


def deliver(
    request: Request,
    branch: BranchRequest,
    here: Path,
    *,
    dry_run: bool,
    progress: Progress = no_progress,
    check: Check = lambda delivery: "",
) -> Delivery:
    """Plan on the base commit and, unless `dry_run`, put the fixes on the branch.

    Args:
        check: looks at the commits before the branch is pointed at them.

    Raises:
        Refusal: if there is no repository or no commit, if the branch cannot be made, or git does not know who commits.
    """
    with Repository.open(here) as repository:
        old = places(repository, [branch.name], branch.on_conflict)[branch.name]
        adding = old is not None and branch.on_conflict == "append"
        base, base_name = start(repository, branch.name if adding else branch.base)
        with _planned(repository, request, branch.commits, base, base_name, here, progress, check) as planned:
            delivery = planned.delivery(branch.name)
            if dry_run or not planned.outcome.plan.changed:
                return delivery
            with (
                progress("committing", len(planned.outcome.plan.changed)) as tick,
                request.recorder.phase("committing"),
            ):
                delivery = _committed(planned, delivery, old, tick)
            delivery = _pointed(planned, delivery, old)
        return replace(delivery, notes=_dirty(repository, [file.path for file in planned.outcome.plan.changed]))


def deliver_parts(
    request: Request,
    branch: BranchRequest,
    split: Split,
    here: Path,
    *,
    dry_run: bool,
    progress: Progress = no_progress,
    check: Check = lambda delivery: "",
) -> Parted:
    """The same with a branch for each part of the plan, named `branch/part`, all of them from one base.

    Raises:
        Refusal: as above, before any branch is made; also if the plan is to be split by owners and there are none.
    """
    if branch.on_conflict == "append":
        raise Refusal("--on-conflict append adds to one branch: with --split, choose reset (start them all again)")
    with Repository.open(here) as repository:
        check_name(repository, branch.name)
        base, base_name = start(repository, branch.base)
        with _planned(repository, request, branch.commits, base, base_name, here, progress, check) as planned:
            read = planned.files.read
            owners = find(read, gitlab=lives_on_gitlab(read, repository.setting("remote.origin.url")))
            deliveries = [
                replace(
                    planned.delivery(f"{branch.name}/{part.suffix}"),
                    outcome=outcome_of(planned.outcome, part),
                    notes=part.notes,
                    part=part,
                )
                for part in parts(planned.outcome, split, owners)
            ]
            notes = list(owners.problems) if owners and split.by == "codeowners" else []
            names = [delivery.branch for delivery in deliveries]
            ignoring = f"{branch.name}/{IGNORING}" if planned.hand.ignore_in_blame and names else None
            olds = places(repository, [*names, ignoring] if ignoring else names, branch.on_conflict)
            notes += [f"nothing is left for {old}" for old in repository.branches(f"{branch.name}/") if old not in olds]
            problems: list[str] = []
            if not dry_run:
                number = len(planned.outcome.plan.changed)
                with progress("committing", number) as tick, request.recorder.phase("committing"):
                    ready = _each(deliveries, lambda one: _committed(planned, one, olds[one.branch], tick), problems)
                deliveries = _each(ready, lambda one: _pointed(planned, one, olds[one.branch]), problems)
                if ignoring and deliveries:
                    deliveries.append(_put_ignoring(planned, ignoring, deliveries, olds[ignoring]))
                notes += _dirty(repository, [file.path for file in planned.outcome.plan.changed])
        return Parted(planned.outcome, tuple(deliveries), tuple(notes), tuple(problems))


@contextmanager
def _planned(
    repository: Repository,
    request: Request,
    commits: CommitRequest,
    base: str,
    base_name: str,
    here: Path,
    progress: Progress,
    check: Check,
) -> Iterator[_Planned]:
    """The plan of the base commit, while there is a place to build on it."""
    files = repository.files(base)
    root = repository.root or repository.directory
    configured = configuration(request, files, root, here)
    own = hand(repository, commits, configured("").commit)
    arguments, problems = _arguments(request.paths, repository, files, here, base_name)
    below = tuple(f"{argument}/" if argument else "" for argument in arguments)
    changed = changes(repository.directory, request.since, base)() if request.since is not None else None
    sources = [path for path in files.files() if changed is None or path in changed.lines]
    fetch_missing(repository, base, (path for path in sources if path in arguments or path.startswith(below)))
    with scratch() as place:
        draft = CommitSeries(repository, base, place)

        def vendored(paths: Sequence[str]) -> frozenset[str]:
            return attributed(paths, at=repository.directory, index=draft.index)

        outcome = plan_listing(
            request,
            arguments,
            files,
            listed=lambda: sources,
            changed=changed,
            root=root,
            configuration=configured,
            is_file=lambda path: path in files.entries,
            vendored=vendored,
            why=lambda path: "its contents are not in this clone; fetch them first",
            fix=True,
            progress=progress,
        )
        outcome = replace(outcome, problems=(*problems, *outcome.problems))
        yield _Planned(repository, files, draft, own, outcome, base, base_name, check)


def _committed(planned: _Planned, delivery: Delivery, old: str | None, tick: Tick) -> Delivery:
    """Commit what a delivery is to hold; no branch is pointed there yet."""
    draft, hand = planned.draft, planned.hand
    draft.restart()
    if delivery.part is not None:
        wording = replace(hand.wording, part=delivery.part.name, owners=delivery.part.owners)
        hand = replace(hand, wording=wording, ignore_in_blame=False)
    commits = kept(planned.repository, draft, delivery.base, old, commit_all(draft, delivery.outcome, hand, tick))
    if hand.ignore_in_blame:
        commits = (*commits, ignore_all(draft, commits, planned.files, hand))
        commits = kept(planned.repository, draft, delivery.base, old, commits)
    return replace(delivery, commits=commits, tip=draft.tip, moved=draft.tip != old)


def _each(deliveries: Sequence[Delivery], step: Callable[[Delivery], Delivery], problems: list[str]) -> list[Delivery]:
    """Take a step with each; one that fails becomes a problem, and is no reason to leave the others."""
    done: list[Delivery] = []
    for delivery in deliveries:
        try:
            done.append(step(delivery))
        except Refusal as refusal:
            problems.append(str(refusal))
    return done


def _put_ignoring(planned: _Planned, name: str, done: Sequence[Delivery], old: str | None) -> Delivery:
    """A branch of its own: each part would add its lines to the same place, and no two could be merged."""
    draft = planned.draft
    draft.restart()
    delivery = replace(planned.delivery(name), outcome=replace(planned.outcome, plan=Plan(), parts=()))
    named = [commit for delivery in done for commit in delivery.commits]
    commits = kept(
        planned.repository, draft, planned.base, old, [ignore_all(draft, named, planned.files, planned.hand)]
    )
    return _pointed(planned, replace(delivery, commits=commits, tip=draft.tip, moved=draft.tip != old), old)


def _pointed(planned: _Planned, delivery: Delivery, old: str | None) -> Delivery:
    """Point a branch at the commits of a delivery, if nothing that looks at them first objects."""
    if delivery.outcome.plan.changed:
        delivery = replace(delivery, verification=planned.check(delivery))
    if delivery.moved:
        assert delivery.tip is not None
        reason = f"fixer: {len(delivery.commits)} commits on {delivery.base_name}"
        try:
            planned.repository.move(delivery.branch, delivery.tip, old, reason)
        except Refusal as refusal:
            raise Refusal(f"the branch {delivery.branch} could not be updated: {refusal}") from refusal
    return delivery


def _arguments(
    paths: Sequence[str], repository: Repository, files: CommitFiles, here: Path, base_name: str
) -> tuple[list[str], list[str]]:
    """The arguments as paths of the commit; in a bare repository they are read from its root."""
    inside: list[str] = []
    problems: list[str] = []
    root = repository.root
    for path in paths or (".",):
        place = Path(os.path.normpath(here.resolve() / path)) if root else Path(os.path.normpath(Path("/") / path))
        top = root.resolve() if root else Path("/")
        if not place.is_relative_to(top):
            problems.append(f"{path}: lies outside {top}; run fixer in the repository it belongs to")
            continue
        name = place.relative_to(top).as_posix()
        name = "" if name == "." else name
        if name and not files.exists(name):
            # A checkout may be empty below here, and a fresh directory need not be in the commit.
            problems.append(f"{name}: is not in {base_name}; commit it first, or apply without --branch")
        else:
            inside.append(name)
    return inside, problems


def _dirty(repository: Repository, paths: Sequence[str]) -> tuple[str, ...]:
    """A note for each file of the branch that has uncommitted changes in the work tree."""
    root = repository.root
    head = repository.commit("HEAD")
    if root is None or head is None:
        return ()
    committed = repository.files(head)
    notes = []
    for path in paths:
        before = committed.read(path)
        try:
            now = (root / path).read_bytes()
        except OSError:
            continue
        if before is not None and now not in (before, before.replace(b"\n", b"\r\n")):
            notes.append(f"{path} has uncommitted changes; they are not part of the branch")
    return tuple(notes)
