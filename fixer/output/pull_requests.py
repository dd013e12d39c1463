"""From a branch to the people of a repository: pushed, and asked for in a pull request."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fixer.errors import Refusal
from fixer.git.branches import start
from fixer.git.credentials import Token, from_environment, pushing_with
from fixer.git.forge import Delivered, Forge, Patience, PullRequest
from fixer.git.forge.find import NAMES, ForgeRepository, forge_at, place_of, token_for
from fixer.git.forge.forge import declined_in, why_declined
from fixer.git.forge.patience import PATIENT
from fixer.git.forge.pull_request import Existing
from fixer.git.owners import Owners, find
from fixer.git.provenance import commits
from fixer.git.push import Destination, Pushed, check_base, delete, look, push, untouchable
from fixer.git.remotes import Remote, remote
from fixer.git.repository import Repository
from fixer.output.branches import Delivery


@dataclass(frozen=True, slots=True)
class HandoverRequest:
    """What the command line, or a campaign, says about where a branch goes. Plain data."""

    remote: str | None = None
    """None: the remote that `git push` would take."""
    pull_request: bool = False
    forge: str | None = None
    """Which kind of forge it is, or `KIND=URL`, where the remote's address does not say."""
    labels: tuple[str, ...] = ()
    reviewers: tuple[str, ...] = ()
    codeowners: bool = True
    """Ask the owners of the changed files too."""
    draft: bool = False


@dataclass(frozen=True, slots=True)
class Receiver:
    """A remote, and the forge that it is on if pull requests are wanted."""

    request: HandoverRequest
    destination: Destination
    forge: Forge | None = None
    owners: Owners | None = None


@dataclass(frozen=True, slots=True)
class HandedOver:
    """What became of one branch."""

    branch: str
    pushed: Pushed
    pull_request: Delivered | None = None
    notes: tuple[str, ...] = ()


def receiver(
    repository: Repository,
    request: HandoverRequest,
    branch: str,
    base: str | None,
    *,
    fetched: bool = False,
    environment: Mapping[str, str] = os.environ,
    patience: Patience = PATIENT,
) -> Receiver:
    """Who is to receive `branch` (and branches below it): found, reached and let in before anything is made.

    Args:
        base: what the branch is to start from, as the person named it; None for HEAD.
        fetched: the base came from the remote just now, perhaps without the history that would show it.

    Raises:
        Refusal: if the remote or its forge cannot be reached or told, if there is no token, or if commits of somebody
            would be pushed along.
    """
    to = remote(repository, request.remote)
    place, token = _place(to, request, environment, repository.directory)
    kind = place.kind if place else None
    variables = pushing_with(token, kind) if to.scheme in ("http", "https") else {}
    destination = look(repository, to, branch, base, variables)
    commit, name = start(repository, base)
    if not fetched:
        check_base(destination, commit, name)
    if place is None or token is None or not request.pull_request:
        return Receiver(request, destination)
    with Repository.open(repository.directory) as reading:
        owners = find(reading.files(commit).read, gitlab=place.kind == "gitlab")
    return Receiver(request, destination, forge_at(place, token, patience), owners if request.codeowners else None)


def _place(
    to: Remote, request: HandoverRequest, environment: Mapping[str, str], directory: Path
) -> tuple[ForgeRepository | None, Token | None]:
    place = place_of(to, request.forge, environment)
    if not request.pull_request:
        return place, from_environment(place.kind, place.host, environment, named=place.named) if place else None
    if place is None:
        kinds = ", ".join(NAMES.values())
        raise Refusal(f"--pr: {to.shown} is on no forge that can be told: say which with --forge ({kinds})")
    return place, token_for(place, to, environment, directory)


def renewal(repository: Repository, branch: str, base: str | None) -> str:
    """What to do with branches of that name, or below it, that are here: `reset` if fixer alone made them."""
    commit, _ = start(repository, base)
    for name in repository.branches(branch, f"{branch}/"):
        if not all(made.sealed for made in commits(repository, commit, f"refs/heads/{name}")):
            return "refuse"
    return "reset"


def hand_over(
    receiver: Receiver, delivery: Delivery, *, title: str | None = None, verification: str = "", exact: bool = False
) -> HandedOver:
    """Push the branch of a delivery, and see to its pull request. A branch that came to nothing is taken back.

    Args:
        title: of the pull request, instead of the usual one.
        verification: a section of its text about what came of running the code, in Markdown.
        exact: other commits that change the same will not do.

    Raises:
        Refusal: if the remote or the forge says no.
    """
    if delivery.tip is None:
        # That nothing is left is sure only where all was read.
        nothing = HandedOver(delivery.branch, Pushed("unchanged"))
        return nothing if delivery.outcome.failed else take_back(receiver, delivery.branch)
    usual, body = words(receiver, delivery, verification)
    reviewers = _reviewers(receiver, delivery)
    return submit(receiver, delivery.branch, delivery.tip, title or usual, body, reviewers, exact=exact)


def submit(
    receiver: Receiver,
    branch: str,
    tip: str,
    title: str,
    body: str,
    reviewers: Sequence[str] = (),
    *,
    ours: frozenset[str] = frozenset(),
    exact: bool = False,
    unfinished: bool = False,
) -> HandedOver:
    """Push a branch, and see to its pull request.

    Args:
        ours: what the branch may point at on the remote without a look into its history.
        exact: other commits that change the same will not do.
        unfinished: an earlier run may have been cut off after it had opened the pull request.

    Raises:
        Refusal: if the remote or the forge says no.
    """
    standing = receiver.forge.standing(branch) if receiver.forge else ()
    if (left := _declined(standing, branch)) is not None:
        return left
    pushed = push(receiver.destination, branch, tip, ours=ours, exact=exact)
    if receiver.forge is None:
        return HandedOver(branch, pushed, notes=(pushed.why,) if pushed.why else ())
    if pushed.outcome == "left-alone":
        return _left_alone(branch, standing, pushed)
    request = receiver.request
    target = receiver.destination.target
    asked = tuple(dict.fromkeys((*request.reviewers, *reviewers)))
    pull = PullRequest(branch, target, title, body, request.labels, asked, request.draft)
    delivered = receiver.forge.deliver(pull, standing, unfinished=unfinished)
    return HandedOver(branch, pushed, delivered, delivered.notes)


def words(receiver: Receiver, delivery: Delivery, verification: str = "") -> tuple[str, str]:
    """The usual title and body of the pull request of a delivery."""
    from codemods.transforms import load
    from fixer.report.markdown import body, title

    plan, subjects = delivery.outcome.plan, [commit.subject for commit in delivery.commits]
    applied = [finding for finding in plan.findings if finding.applied]
    where = delivery.part.where if delivery.part else ""
    usual = title(applied, where) if applied else next(iter(subjects), title(applied))
    text = body(
        plan,
        {rule.code: rule for rule in load()},
        unsafe=delivery.outcome.unsafe,
        # Without their ids, which change when nothing else does.
        commits=[("", subject) for subject in subjects],
        branch=delivery.branch,
        base=receiver.destination.target,
        verification=verification or delivery.verification,
    )
    return usual, text


def take_back(receiver: Receiver, branch: str) -> HandedOver:
    """There is nothing left for `branch`: close its pull request and delete it on the remote, if it is ours.

    Raises:
        Refusal: if the remote or the forge says no.
    """
    if receiver.forge is None or branch not in receiver.destination.heads:
        return HandedOver(branch, Pushed("unchanged"))
    standing = receiver.forge.standing(branch)
    if not any(existing.state == "open" for existing in standing):
        return HandedOver(branch, Pushed("unchanged"))
    if why := untouchable(receiver.destination, branch):
        return _left_alone(branch, standing, Pushed("left-alone", why))
    delivered = receiver.forge.deliver(PullRequest(branch, receiver.destination.target, "", empty=True), standing)
    return HandedOver(branch, delete(receiver.destination, branch), delivered, delivered.notes)


def emptied(receiver: Receiver, branch: str, deliveries: Sequence[Delivery]) -> tuple[str, ...]:
    """The branches below `branch` on the remote that no part of the plan has any more."""
    made = {delivery.branch for delivery in deliveries}
    return tuple(name for name in receiver.destination.heads if name != branch and name not in made)


def _reviewers(receiver: Receiver, delivery: Delivery) -> tuple[str, ...]:
    owners, changed = receiver.owners, delivery.outcome.plan.changed
    return tuple(dict.fromkeys(owner for file in changed for owner in owners.of(file.path))) if owners else ()


def _declined(standing: Sequence[Existing], branch: str) -> HandedOver | None:
    declined = declined_in(standing)
    if declined is None:
        return None
    why = why_declined(declined, branch)
    return HandedOver(branch, Pushed("left-alone", why), Delivered("left-alone", declined.number, declined.url), (why,))


def _left_alone(branch: str, standing: Sequence[Existing], pushed: Pushed) -> HandedOver:
    existing = next((one for one in standing if one.state == "open"), None)
    delivered = Delivered("left-alone", existing.number, existing.url) if existing else None
    return HandedOver(branch, pushed, delivered, (pushed.why,))
