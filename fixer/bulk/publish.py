"""How finished branches get to where they belong: into a repository on this machine, or pushed to a URL.

All of it can be repeated: what has arrived is left as it is. A branch is replaced only if it points at what we made.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from fixer.bulk.access import variables
from fixer.bulk.job import Ending
from fixer.bulk.rows import Branch, Row
from fixer.errors import Refusal
from fixer.git.branches import places
from fixer.git.command import GitFailed, git
from fixer.git.repository import Repository
from fixer.output.scratch import scratch

if TYPE_CHECKING:
    from fixer.bulk.campaign import Campaign
    from fixer.output.pull_requests import HandedOver, Receiver


class Conflict(Refusal):
    """The branch is there, and is not ours to replace."""


@dataclass(frozen=True, slots=True)
class Arrived:
    """A branch is where it belongs."""

    pull_request: int | None = None
    url: str = ""
    notes: tuple[str, ...] = ()


Receive = Callable[[Branch, frozenset[str]], Arrived]
"""Takes a branch, and everything that it may point at without being a person's work. Raises Conflict and Refusal."""


@contextmanager
def receiving(row: Row, campaign: Campaign) -> Iterator[Receive]:
    """The way to a repository; a remote one is looked at once.

    Raises:
        Refusal: if it cannot be reached, in git's own words.
    """
    if row.local:
        yield partial(_receive_here, row)
        return
    with scratch() as directory:
        yield partial(_receive_there, _receiver(row, campaign, directory / "push"))


def withdrawn(branch: Branch) -> bool:
    """Whether the branch is one that came to nothing."""
    return branch.stage == "prepared" and branch.ending is Ending.NOTHING


def _receive_here(row: Row, branch: Branch, ours: frozenset[str]) -> Arrived:
    repository = Repository.open(Path(row.location))
    current = repository.commit(f"refs/heads/{branch.name}")
    if withdrawn(branch):
        return Arrived(notes=(f"nothing is left for the branch {branch.name}: delete it",) if current else ())
    if current == branch.tip:
        return Arrived()
    if current is not None and current not in ours:
        raise Conflict(
            f"the branch {branch.name} is there and holds what this campaign did not make: it is left alone; "
            "rename or delete it, or choose another `branch`"
        )
    try:
        places(repository, [branch.name], "reset")
    except Refusal as refusal:
        raise Conflict(str(refusal)) from refusal
    if branch.pack is not None:
        _git("unpack-objects", "-q", at=repository.directory, data=branch.pack)
    reason = f"fixer: {len(branch.commits)} commits on {row.base_name}"
    repository.move(branch.name, branch.tip, current, reason)
    return Arrived()


def _receiver(row: Row, campaign: Campaign, place: Path) -> Receiver:
    """A scratch repository with the base and our objects, and who is to receive them."""
    from fixer.output.pull_requests import HandoverRequest, receiver

    algorithm = "sha256" if len(row.base or "") == 64 else "sha1"
    _git("init", "-q", "--bare", "--template=", f"--object-format={algorithm}", str(place), at=place.parent)
    _git("symbolic-ref", "HEAD", f"refs/heads/{row.base_name}", at=place)
    # Whether a branch that is to go is ours is told by its history; otherwise the base alone is enough.
    depth = [] if any(withdrawn(branch) for branch in row.branches) else ["--depth=1"]
    ref = f"refs/heads/{row.base_name}"
    options = ("-q", "--no-tags", "--no-write-fetch-head", "--filter=blob:none", *depth)
    _git("fetch", *options, "--", row.location, f"{ref}:{ref}", at=place, variables=variables(row.location, campaign))
    for branch in row.branches:
        if branch.pack is not None:
            _git("unpack-objects", "-q", at=place, data=branch.pack)
    asked = campaign.pull_requests
    wanted = HandoverRequest(
        remote=row.location,
        pull_request=asked.open,
        forge=asked.forge,
        labels=asked.labels,
        reviewers=asked.reviewers,
        # They were found when the branch was made: this place holds no files.
        codeowners=False,
        draft=asked.draft,
    )
    return receiver(Repository.open(place), wanted, campaign.branch_name, None, fetched=True)


def _receive_there(receiver: Receiver, branch: Branch, ours: frozenset[str]) -> Arrived:
    from fixer.output.pull_requests import submit, take_back

    if withdrawn(branch):
        done = take_back(receiver, branch.name)
    else:
        words, unheard = (branch.title, branch.body), branch.pull_request is None
        done = submit(receiver, branch.name, branch.tip, *words, branch.owners, ours=ours, unfinished=unheard)
    if why := _left_alone(done):
        raise Conflict(why)
    request = done.pull_request
    return Arrived(request.number if request else None, request.url if request else "", done.notes)


def _left_alone(done: HandedOver) -> str:
    if done.pushed.outcome == "left-alone":
        return done.pushed.why
    request = done.pull_request
    if request is not None and request.outcome == "left-alone":
        return "; ".join(request.notes) or f"{request.url} is left alone"
    return ""


def still_open(row: Row, branch: Branch, campaign: Campaign) -> bool:
    """Whether a delivered branch still waits for review; what cannot be asked is taken to wait.

    Without pull requests, it waits as long as it is there and, where that can be seen, not merged.
    """
    try:
        if row.local:
            repository = Repository.open(Path(row.location))
            ref = f"refs/heads/{branch.name}"
            if repository.commit(ref) is None:
                return False
            return repository.ask("merge_base", "--is-ancestor", ref, row.base_name) is None
        if campaign.pull_requests.open:
            from fixer.git.forge import forge_for

            forge = forge_for(row.location, wanted=campaign.pull_requests.forge)
            return forge is None or any(one.state == "open" for one in forge.standing(branch.name))
        ref = f"refs/heads/{branch.name}"
        access = variables(row.location, campaign)
        return bool(_git("ls-remote", "-q", "--heads", "--", row.location, ref, at=Path(os.sep), variables=access))
    except Refusal:
        return True


def _git(*arguments: str, at: Path, data: bytes | None = None, variables: Mapping[str, str] | None = None) -> bytes:
    try:
        return git(*arguments, at=at, data=data, variables=variables)
    except GitFailed as error:
        raise Refusal(f"git: {' '.join(str(error).split())}") from error
