"""`--push` and `--pr` of `fixer apply`: where a branch goes when it is made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from fixer.cli.help import GroupedCommand
from fixer.errors import Refusal

if TYPE_CHECKING:
    from fixer.cli.screen import Screen
    from fixer.output.branches import BranchRequest, Delivery
    from fixer.output.pull_requests import HandedOver, HandoverRequest, Receiver
    from fixer.run.request import Outcome

Push = Annotated[
    str | None,
    typer.Option("--push", metavar="[REMOTE]", help="With --branch: push it.", show_default="where git push would"),
]
PullRequest = Annotated[bool, typer.Option("--pr", help="Push, and open or renew the pull request.")]
Forge = Annotated[
    str | None,
    typer.Option(metavar="github|gitlab|gitea[=URL]", help="With --pr: what the remote is on, if it does not say."),
]
Label = Annotated[list[str] | None, typer.Option(metavar="LABEL", help="With --pr: put this label on it.")]
Reviewer = Annotated[
    list[str] | None,
    typer.Option(metavar="@NAME", help="With --pr: ask for a review, beside the owners in CODEOWNERS."),
]
Draft = Annotated[bool, typer.Option("--draft", help="With --pr: open it as a draft.")]


class PushCommand(GroupedCommand):
    """A command whose `--push` may stand without a value."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)
        own = [
            "--push=" if arg == "--push" and (at + 1 == end or args[at + 1].startswith("-")) else arg
            for at, arg in enumerate(args[:end])
        ]
        return super().parse_args(ctx, own + args[end:])


@dataclass(frozen=True)
class Pushing:
    """Where a branch goes when it is made."""

    PANEL: ClassVar[str] = "Pull request"

    push: Push = None
    pr: PullRequest = False
    forge: Forge = None
    label: Label = None
    reviewer: Reviewer = None
    draft: Draft = False

    def request(self) -> HandoverRequest | None:
        """What the options ask for; None if nothing is to be pushed.

        Raises:
            Refusal: if an option lacks the one that it is about.
        """
        for name, value in (("--label", self.label), ("--reviewer", self.reviewer), ("--draft", self.draft)):
            if value and not self.pr:
                raise Refusal(f"{name} requires --pr")
        if self.forge and not self.pr and self.push is None:
            raise Refusal("--forge requires --pr or --push")
        if self.push is None and not self.pr:
            return None
        from fixer.output.pull_requests import HandoverRequest

        return HandoverRequest(
            remote=self.push or None,
            pull_request=self.pr,
            forge=self.forge,
            labels=tuple(self.label or ()),
            reviewers=tuple(self.reviewer or ()),
            draft=self.draft,
        )


def prepared(
    screen: Screen, wanted: HandoverRequest, branch: BranchRequest, *, renew: bool
) -> tuple[Receiver, BranchRequest]:
    """The receiver of a branch, let in before anything is made.

    Args:
        renew: what fixer alone has made may be made again, without being asked for.
    """
    from fixer.git.forge import Patience
    from fixer.git.repository import Repository
    from fixer.output.pull_requests import receiver, renewal

    repository = Repository.open(Path.cwd())
    found = receiver(repository, wanted, branch.name, branch.base, patience=Patience(tell=screen.note))
    if renew:
        branch = replace(branch, on_conflict=renewal(repository, branch.name, branch.base))
    return found, branch


def hand_over_all(
    receiver: Receiver | None, branch: str, outcome: Outcome, deliveries: Sequence[Delivery], problems: Sequence[str]
) -> tuple[list[HandedOver], tuple[str, ...]]:
    """What became of each branch, and sentences about those that could not be handed over.

    Args:
        outcome: of the whole plan.
        problems: parts of it that are missing here.
    """
    if receiver is None:
        return [], ()
    if outcome.failed:
        return [], ("nothing was pushed: not all of it could be read, and less would be asked for than there is",)
    from fixer.output.pull_requests import emptied, hand_over, take_back

    handed, found = [], []
    # A commit without a rule names the others in `.git-blame-ignore-revs`.
    exact = any(not commit.codes for delivery in deliveries for commit in delivery.commits)
    for delivery in deliveries:
        try:
            handed.append(hand_over(receiver, delivery, exact=exact))
        except Refusal as refusal:
            made = f"the branch {delivery.branch} is made here, and was not handed over" if delivery.tip else "--push"
            found.append(f"{made}: {refusal}")
    for name in emptied(receiver, branch, deliveries) if not problems else ():
        try:
            handed.append(take_back(receiver, name))
        except Refusal as refusal:
            found.append(f"{name} on {receiver.destination.remote.shown}: {refusal}")
    return handed, tuple(found)


def show(screen: Screen, receiver: Receiver | None, handed: Sequence[HandedOver]) -> None:
    """What became of the branches, for people."""
    if receiver is None:
        return
    where = receiver.destination.remote.shown
    said = {
        "created": f"is on {where} now",
        "updated": f"was renewed on {where}",
        "unchanged": f"is on {where} as it was",
        "deleted": f"was deleted on {where}",
    }
    for one in handed:
        known = one.branch in receiver.destination.heads
        if one.pushed.outcome != "left-alone" and (known or one.pushed.outcome != "unchanged"):
            screen.note(f"{one.branch} {said[one.pushed.outcome]}")
        if one.pull_request is not None and one.pull_request.url:
            screen.note(f"{one.pull_request.url} {_WORDS[one.pull_request.outcome]}")
        for note in one.notes:
            screen.note(note)


_WORDS = {
    "opened": "was opened",
    "updated": "was updated",
    "unchanged": "is as it was",
    "closed": "was closed: nothing is left for it",
    "left-alone": "was left alone",
}
