"""`fixer apply`: fix files in place, show the patch, or put the fixes on a branch."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from fixer.cli import options, plans, push, verified
from fixer.cli.options import ApplyFormat
from fixer.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fixer.cli.screen import Screen
    from fixer.output.branches import BranchRequest, Delivery
    from fixer.output.pull_requests import HandedOver, Receiver
    from fixer.output.split import Split
    from fixer.run.request import Outcome, Request


EXAMPLES = """\
fixer apply --dry-run                        # the patch; nothing is written
fixer apply --select SCL src                 # one family, one directory
fixer apply --branch fix/amp --pr            # commits, and a pull request
fixer apply --verify "python train.py --max-steps 5"
"""
SETTINGS = {"cls": push.PushCommand, "epilog": EXAMPLES}
"""How Typer makes this command."""


class OnConflict(str, Enum):
    """What to do with a branch that exists."""

    refuse = "refuse"
    reset = "reset"
    append = "append"


@dataclass(frozen=True)
class Branching:
    """Onto which branch the fixes are committed, and how."""

    PANEL: ClassVar[str] = "Branch"

    branch: Annotated[
        str | None, typer.Option(metavar="NAME", help="Commit to this branch, one commit per rule; not in place.")
    ] = None
    base: Annotated[
        str | None, typer.Option(metavar="REF", help="With --branch: start from there.", show_default="HEAD")
    ] = None
    on_conflict: Annotated[
        OnConflict | None,
        typer.Option(help="With --branch: what to do if it exists.", show_default="refuse"),
    ] = None
    author: Annotated[
        str | None, typer.Option(metavar="'NAME <ADDRESS>'", help="With --branch: the author of the commits.")
    ] = None
    signoff: Annotated[bool, typer.Option("--signoff", help="With --branch: add Signed-off-by.")] = False
    trailer: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="With --branch: add a trailer to each commit.")
    ] = None
    subject: Annotated[
        str | None, typer.Option(metavar="TEMPLATE", help="With --branch: as in 'fix({codes}): {title}'.")
    ] = None
    body: Annotated[
        str | None, typer.Option(metavar="TEMPLATE", help="With --branch: {summary} {why} {findings} {files} …")
    ] = None
    ticket: Annotated[
        str | None, typer.Option(metavar="ID", help="With --branch: stands for {ticket}, or becomes a trailer.")
    ] = None
    ignore_in_blame: Annotated[
        bool, typer.Option("--ignore-in-blame", help="With --branch: name the commits in .git-blame-ignore-revs.")
    ] = False
    split: Annotated[
        str | None,
        typer.Option(metavar="codeowners|project|directory:N", help="With --branch: one branch for each, NAME/…."),
    ] = None
    max_files: Annotated[
        int | None, typer.Option(metavar="N", help="With --split: files on a branch at most, unless a fix needs more.")
    ] = None

    def request(self) -> BranchRequest | None:
        """What the options ask for; None: no branch.

        Raises:
            Refusal: if an option lacks the one that it is about.
        """
        if self.max_files is not None and self.split is None:
            raise Refusal("--max-files requires --split")
        if self.branch is None:
            for name, value in vars(self).items():
                if value:
                    raise Refusal(f"--{name.replace('_', '-')} requires --branch")
            return None
        from fixer.output.branches import BranchRequest
        from fixer.output.commits import CommitRequest

        trailers = tuple(self.trailer or ())
        commits = CommitRequest(
            self.author, self.signoff, trailers, self.subject, self.body, self.ticket, self.ignore_in_blame
        )
        return BranchRequest(self.branch, self.base, (self.on_conflict or OnConflict.refuse).value, commits)

    def parts(self) -> Split | None:
        """How the change is split; None: not at all."""
        from fixer.output.split import Split

        return Split.parse(self.split, self.max_files) if self.split is not None else None


@options.grouped
def apply(
    *,
    paths: options.Paths = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the patch; write nothing.")] = False,
    interactive: Annotated[
        bool, typer.Option("--interactive", "-i", help="Ask about each fix; ? lists the keys.")
    ] = False,
    branching: Branching,
    pushing: push.Pushing,
    verify: verified.Verify = None,
    watching: options.Watching,
    rules: options.Rules,
    add_ignore: Annotated[
        list[str] | None,
        typer.Option(metavar="CODES", help="Instead of fixing, silence what these rules find by comments."),
    ] = None,
    counting: options.Counting,
    plan: plans.Apply = None,
    running: options.Running,
    format: Annotated[ApplyFormat, typer.Option(help="markdown: the text of a pull request.")] = ApplyFormat.terminal,
    statistics: options.Statistics = False,
    profile: options.Profiled = False,
    exit_zero: options.ExitZero = False,
    showing: options.Showing,
    verbose: options.Verbose = False,
) -> None:
    """Fix files in place. --dry-run prints the patch instead; --branch makes commits instead.

    Exit code 0: done, nothing to do; 1: something could not be applied, or, with --dry-run, changes are pending;
    2: could not do the job.
    """
    from fixer.cli.profiling import Profiling

    profiling = Profiling.start(profile)
    screen = showing.screen(verbose=verbose)
    request = running.request(paths, rules, counting, profiling.recorder)
    if verify is not None:
        if dry_run:
            raise Refusal("--verify runs the code before anything is written: `fixer verify --run` does only that")
    branch = branching.request()
    if add_ignore is not None:
        request = _silencing(request, add_ignore, plan=plan, branch=branch, verify=verify, select=rules.select)
    if plan is not None:
        plans.check_alone(paths, **vars(rules), **vars(counting), branch=branch)
    if interactive and (plan is not None or branch is not None):
        raise Refusal(f"--interactive fixes files in place: leave {'--plan' if plan is not None else '--branch'} out")
    trial = verified.trial(verify, watching, keep=request.cache)
    how = How(dry_run, trial, format, statistics, strict=bool(watching.strict), plan=plan, interactive=interactive)
    if request.silence:
        how = replace(how, done="silenced")
    code = carry_out(screen, request, how, branching, pushing, reports=watching.report)
    profiling.tell()
    raise typer.Exit(0 if exit_zero and code == 1 else code)


def carry_out(
    screen: Screen,
    request: Request,
    how: How,
    branching: Branching,
    pushing: push.Pushing,
    *,
    reports: Sequence[str] | None = None,
) -> int:
    """Fix what a request finds, in place or on branches; the exit code.

    Raises:
        Refusal: if options lack the one that they are about, or contradict each other.
    """
    branch = branching.request()
    if branch is None and (pushing.push is not None or pushing.pr):
        raise Refusal(f"{'--push' if pushing.push is not None else '--pr'} requires --branch")
    if branch is None:
        return _in_place(screen, request, how)
    parts, handover, receiver = branching.parts(), pushing.request(), None
    if parts is not None and reports:
        raise Refusal("--report holds one verification, and --split makes one for each branch: give one of them")
    if handover is not None and not how.dry_run:
        receiver, branch = push.prepared(screen, handover, branch, renew=branching.on_conflict is None)
    if parts is None:
        return _on_branch(screen, request, how, branch, receiver)
    return _on_branches(screen, request, how, branch, parts, receiver)


@dataclass(frozen=True)
class How:
    """How a command that fixes files goes, and what it shows."""

    dry_run: bool
    verify: verified.Trial | None
    format: ApplyFormat
    statistics: bool
    strict: bool
    """A file that was skipped is a failure."""
    plan: str | None = None
    """A file that holds what is to be done."""
    done: str = "fixed"
    """What becomes of findings."""
    interactive: bool = False
    decide: bool = False
    """List what a person has to decide."""


def _silencing(request: Request, codes: Sequence[str], **others: object) -> Request:
    """The request to write comments that silence some rules.

    Raises:
        Refusal: if it is asked for something else, too.
    """
    from fixer.project.selectors import split_codes

    for name, value in others.items():
        if value is not None:
            raise Refusal(f"--add-ignore writes comments into files: leave --{name} out")
    return replace(request, select=split_codes(codes), silence=True)


def _in_place(screen: Screen, request: Request, how: How) -> int:
    from fixer.cli import show
    from fixer.output.journal import interrupted, recover
    from fixer.output.undo import LastApply
    from fixer.project.discover import root_of
    from fixer.run.request import plan_directory

    here = Path.cwd()
    if not how.dry_run:
        for sentence in recover(root_of(request.paths, here)):
            screen.note(sentence)
    accepted = None
    if how.interactive:
        from fixer.cli.interactive import ask

        accepted = ask(screen, request, here, sys.argv[2:])
        if accepted is None:
            return 0

    def planned(request: Request) -> Outcome:
        return plan_directory(request, here, fix=True, progress=screen.progress)

    if how.plan is not None:
        outcome = plans.read(screen, how.plan, here)
    else:
        outcome = planned(request) if accepted is None else accepted.completed(planned)
    written: frozenset[str] = frozenset()
    undoable = False
    if how.verify is not None and outcome.plan.changed:
        verified.check(screen, outcome, how.verify)
    if not how.dry_run:
        with screen.progress("writing", len(outcome.plan.changed)) as tick:
            written, skips, undoable = LastApply(outcome.root).write(outcome.plan, tick)
        outcome = outcome.after_writing(written, skips)
    if how.format is ApplyFormat.json:
        show.as_json(screen, outcome, here, written=written, statistics=how.statistics)
    elif how.format is ApplyFormat.markdown:
        show.as_markdown(screen, outcome)
    elif how.statistics:
        show.counts(screen, outcome)
    elif how.dry_run:
        show.patch(screen, outcome)
    else:
        show.files(screen, outcome, here, how.done)
    if how.plan is None or outcome.plan.findings or outcome.plan.skips:
        screen.summary(outcome, f"would be {how.done}" if how.dry_run else how.done)
    _decisions(screen, outcome, how)
    if undoable:
        screen.note("`fixer undo` takes it back")
    if accepted is not None:
        for sentence in accepted.repeated():
            screen.note(sentence)
    half = interrupted(outcome.root)
    screen.errors((*outcome.problems, *half))
    if outcome.failed or half or (how.strict and outcome.plan.skips):
        return 2
    left = [finding for finding in outcome.plan.findings if not finding.applied] if request.silence else outcome.left()
    return 1 if (outcome.plan.changed if how.dry_run else left) else 0


def _on_branch(screen: Screen, request: Request, how: How, branch: BranchRequest, receiver: Receiver | None) -> int:
    from fixer.output.branches import deliver

    check = verified.of_branch(screen, how.verify)
    delivery = deliver(request, branch, Path.cwd(), dry_run=how.dry_run, progress=screen.progress, check=check)
    handed, problems = push.hand_over_all(receiver, branch.name, delivery.outcome, [delivery], ())
    _tell(screen, delivery.outcome, [delivery], handed, how)
    _decisions(screen, delivery.outcome, how)
    for note in delivery.notes:
        screen.note(note)
    if not how.dry_run and delivery.commits:
        screen.note(f"`git log {delivery.base_name}..{delivery.branch}` shows the commits; your checkout is as it was")
    push.show(screen, receiver, handed)
    screen.errors((*delivery.outcome.problems, *problems))
    if delivery.outcome.failed or problems or (how.strict and delivery.outcome.plan.skips):
        return 2
    return 1 if how.dry_run and delivery.outcome.plan.changed else 0


def _on_branches(
    screen: Screen, request: Request, how: How, branch: BranchRequest, split: Split, receiver: Receiver | None
) -> int:
    from fixer.output.branches import deliver_parts
    from fixer.report.branches import part_lines

    check, here, progress = verified.of_branch(screen, how.verify), Path.cwd(), screen.progress
    parted = deliver_parts(request, branch, split, here, dry_run=how.dry_run, progress=progress, check=check)
    handed, problems = push.hand_over_all(receiver, branch.name, parted.outcome, parted.deliveries, parted.problems)
    _tell(screen, parted.outcome, parted.deliveries, handed, how)
    _decisions(screen, parted.outcome, how)
    for sentence in (*part_lines(parted.deliveries), *parted.notes):
        screen.note(sentence)
    for delivery in parted.deliveries:
        for note in delivery.notes:
            screen.note(f"{delivery.branch}: {note}")
    push.show(screen, receiver, handed)
    screen.errors((*parted.problems, *parted.outcome.problems, *problems))
    if parted.outcome.failed or (how.strict and parted.outcome.plan.skips):
        return 2
    return 1 if parted.problems or problems or (how.dry_run and parted.outcome.plan.changed) else 0


def _decisions(screen: Screen, outcome: Outcome, how: How) -> None:
    """The places that no fix brings up to date, one a line."""
    left = [finding for finding in outcome.plan.findings if finding.fix is None] if how.decide else []
    for finding in left:
        screen.note(f"{finding.path}:{finding.place.line}: {finding.code} {finding.claim}")


def _tell(
    screen: Screen,
    outcome: Outcome,
    deliveries: Sequence[Delivery],
    handed: Sequence[HandedOver],
    how: How,
) -> None:
    """The result of a run that made branches, or would, and its summary."""
    from fixer.cli import show

    written = frozenset(path for delivery in deliveries for commit in delivery.commits for path in commit.files)
    if how.format is ApplyFormat.json:
        here, counted = Path.cwd(), how.statistics
        show.as_json(screen, outcome, here, written=written, statistics=counted, deliveries=deliveries, handed=handed)
    elif how.format is ApplyFormat.markdown:
        show.as_markdown(screen, outcome, deliveries)
    elif how.statistics:
        show.counts(screen, outcome)
    elif how.dry_run:
        show.patch(screen, outcome)
    else:
        show.commits(screen, deliveries)
    screen.summary(outcome, "would be committed" if how.dry_run else "committed")
