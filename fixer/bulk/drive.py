"""A campaign from beginning to end, or to a limit. Stopped at any moment, it goes on where it was."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from fixer.bulk.campaign import Campaign
from fixer.bulk.engines import Engine, engine
from fixer.bulk.job import Ending, Job, JobResult
from fixer.bulk.publish import Conflict, Receive, receiving, still_open, withdrawn
from fixer.bulk.repositories import NamedRepository, targets
from fixer.bulk.rows import Branch, Row
from fixer.bulk.state import HOUR, State
from fixer.errors import Refusal
from fixer.git.command import GitFailed, git

Tell = Callable[[int, int, Row], None]
"""Hears of each repository when it is done: how many are, of how many, and what became of it."""
GRAVITY = (
    Ending.FAILED,
    Ending.REFUTED,
    Ending.CONFLICT,
    Ending.REFUSED,
    Ending.LIMITED,
    Ending.CHANGED,
    Ending.NOTHING,
)
"""A repository with several branches is as the first of these that one of them is."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a campaign stands."""

    campaign: str
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether somebody has to look at a repository."""
        return any(row.ending is not None and row.ending.bad for row in self.rows)


def plan(campaign: Campaign, tell: Tell) -> Standing:
    """What a run would do if nothing had been done yet. Nothing is written, but for clones that go away.

    Raises:
        Refusal: if the engine cannot be had.
    """
    found, notes = targets(campaign.repositories, campaign.file.parent)
    rows = {
        target.key: _row_of(target, JobResult(Ending.REFUSED, target.problem)) for target in found if target.problem
    }
    done = 0
    for row in rows.values():
        done += 1
        tell(done, len(found), row)
    for job, answer in _answers(campaign, [(t, None) for t in found if not t.problem], int(time.time())):
        rows[job.target.key] = _row_of(job.target, answer)
        done += 1
        tell(done, len(found), rows[job.target.key])
    return Standing(campaign.name, tuple(rows[target.key] for target in found), notes)


def run(campaign: Campaign, tell: Tell) -> Standing:
    """Do what is left to do.

    Raises:
        Refusal: if the state cannot be used, or the engine cannot be had.
    """
    found, notes = targets(campaign.repositories, campaign.file.parent)
    with State.open(campaign.state, campaign.name, create=True) as state:
        state.enlist(found)
        if campaign.limits.open_at_once is not None:
            _look_what_is_open(campaign, state)
        done = 0
        asked = []
        for target in found:
            row = state.row(target)
            if target.problem:
                state.ended(row, Ending.REFUSED, target.problem)
                done += 1
                tell(done, len(found), state.row(target))
            else:
                known = (row.base, row.base_name) if row.base and row.mark == campaign.mark else None
                asked.append((target, known))
        for job, answer in _answers(campaign, asked, state.begun):
            state.answered(state.row(job.target), answer, campaign.mark)
            row = state.row(job.target)
            if answer.ending in (None, Ending.NOTHING):
                _deliver(campaign, state, row)
                # What was wrong the last time is not wrong any more.
                before = "" if row.ending and row.ending.bad else row.detail
                state.ended(row, *_together(state.row(job.target).branches, answer.detail or before))
            done += 1
            tell(done, len(found), state.row(job.target))
        return Standing(campaign.name, tuple(state.rows()), notes)


def status(campaign: Campaign, *, patches: bool = False) -> Standing:
    """Where the campaign stands, from its state alone.

    Raises:
        Refusal: if there is none.
    """
    with State.open(campaign.state, campaign.name) as state:
        return Standing(campaign.name, tuple(state.rows(bytes_too=patches)))


def _answers(
    campaign: Campaign, asked: Sequence[tuple[NamedRepository, tuple[str, str] | None]], date: int
) -> Iterator[tuple[Job, JobResult]]:
    work: Engine = engine(campaign.engine)
    # A job need not know the other repositories.
    alone = replace(campaign, repositories=())
    hand = _hand()
    return work((Job(target, alone, date, hand, known) for target, known in asked), campaign.limits)


def _hand() -> tuple[tuple[str, str], ...]:
    """Who runs the campaign: another machine would not know."""
    named = {}
    for name in ("user.name", "user.email"):
        with suppress(GitFailed):
            named[name] = git("config", "--get", name, at=Path(os.sep)).decode("utf-8", "replace").strip()
    parts = [f"GIT_{who}_{what}" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL", "DATE")]
    return tuple({**named, **{part: os.environ[part] for part in parts if part in os.environ}}.items())


def _row_of(target: NamedRepository, answer: JobResult) -> Row:
    """An answer as if it had been written down."""
    branches = tuple(
        Branch(
            name=change.branch,
            part=change.part,
            owners=change.owners,
            stage="prepared",
            tip=change.tip,
            title=change.title,
            body=change.body,
            patch=change.patch,
            pack=None,
            commits=change.commits,
            series=change.series,
            verdict=change.verdict,
            verification=change.verification,
            ending=change.ending or Ending.CHANGED,
            detail="",
            pull_request=None,
            url="",
        )
        for change in answer.changes
    )
    ending, detail = (answer.ending, answer.detail) if answer.ending else _together(branches, answer.detail)
    return Row(
        id=0,
        name=target.name,
        location=target.location,
        local=target.local,
        base=answer.base,
        base_name=answer.base_name,
        ending=ending,
        detail=detail,
        places=answer.places,
        notes=answer.notes,
        skipped=answer.skipped,
        mark=None,
        branches=branches,
    )


def _together(branches: Sequence[Branch], detail: str) -> tuple[Ending, str]:
    """What became of a repository, from what became of its branches."""
    endings = [branch.ending for branch in branches if branch.ending is not None]
    ending = min(endings, key=GRAVITY.index, default=Ending.NOTHING)
    details = [branch.detail or branch.verification for branch in branches if branch.ending is ending and ending.bad]
    limited = [branch.detail for branch in branches if ending is Ending.LIMITED and branch.ending is ending]
    return ending, "; ".join(dict.fromkeys(text for text in (*details, *limited) if text)) or detail


def _deliver(campaign: Campaign, state: State, row: Row) -> None:
    """Bring every branch as far as it may go."""
    with ExitStack() as way:
        receive: Receive | None = None
        for branch in row.branches:
            if branch.stage != "prepared" or branch.ending in (Ending.REFUTED, Ending.FAILED):
                continue
            gone = withdrawn(branch)
            if not gone and not state.counted(row, branch) and (limit := _limit(campaign, state)):
                state.advanced(row, branch, "prepared", Ending.LIMITED, limit)
                continue
            ours = state.tips(row, branch.name)
            try:
                if receive is None:
                    receive = way.enter_context(receiving(row, campaign))
                if not gone:
                    state.delivering(row, branch)
                arrived = receive(branch, ours)
            except Refusal as refusal:
                ending = Ending.CONFLICT if isinstance(refusal, Conflict) else Ending.REFUSED
                state.advanced(row, branch, "prepared", ending, str(refusal))
            else:
                stage, ending = ("withdrawn", Ending.NOTHING) if gone else ("done", Ending.CHANGED)
                request = (arrived.pull_request, arrived.url) if arrived.pull_request else None
                state.advanced(row, branch, stage, ending, "; ".join(arrived.notes), request=request)


def _limit(campaign: Campaign, state: State) -> str:
    """Why nothing more may be delivered now; empty if something may."""
    limits = campaign.limits
    if limits.per_hour is not None and len(recent := state.recent()) >= limits.per_hour:
        again = time.strftime("%H:%M", time.localtime(recent[-limits.per_hour] + HOUR))
        return f"{limits.per_hour} branches were delivered within an hour: run again after {again}"
    if limits.open_at_once is not None and state.standing() >= limits.open_at_once:
        return f"{limits.open_at_once} branches wait for review: run again when some are merged"
    return ""


def _look_what_is_open(campaign: Campaign, state: State) -> None:
    """Tell branches that still wait for review from those that were merged, or given up."""
    for row in state.rows():
        for branch in row.branches:
            if branch.stage == "done" and branch.ending is Ending.CHANGED:
                if not still_open(row, branch, campaign):
                    state.advanced(row, branch, "closed", Ending.CHANGED, branch.detail)
