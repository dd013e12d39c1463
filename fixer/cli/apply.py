"""`fixer apply`: fix files in place, show the patch, or put the fixes on a branch."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fixer.cli import options, push, verified
from fixer.cli.options import ApplyFormat, Color
from fixer.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fixer.cli.screen import Screen
    from fixer.output.branches import BranchRequest, Delivery
    from fixer.output.pull_requests import HandedOver, Receiver
    from fixer.output.split import Split
    from fixer.run.request import Outcome, Request


class OnConflict(str, Enum):
    """What to do with a branch that exists."""

    refuse = "refuse"
    reset = "reset"
    append = "append"


def apply(
    paths: options.Paths = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the patch; write nothing.")] = False,
    branch: Annotated[
        str | None, typer.Option(metavar="NAME", help="Commit to this branch, one commit per rule; not in place.")
    ] = None,
    base: Annotated[
        str | None, typer.Option(metavar="REF", help="With --branch: start from there.", show_default="HEAD")
    ] = None,
    on_conflict: Annotated[
        OnConflict | None,
        typer.Option(help="With --branch: what to do if it exists.", show_default="refuse"),
    ] = None,
    author: Annotated[
        str | None, typer.Option(metavar="'NAME <ADDRESS>'", help="With --branch: the author of the commits.")
    ] = None,
    signoff: Annotated[bool, typer.Option("--signoff", help="With --branch: add Signed-off-by.")] = False,
    trailer: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="With --branch: add a trailer to each commit.")
    ] = None,
    subject: Annotated[
        str | None, typer.Option(metavar="TEMPLATE", help="With --branch: as in 'fix({codes}): {title}'.")
    ] = None,
    body: Annotated[
        str | None, typer.Option(metavar="TEMPLATE", help="With --branch: {summary} {why} {findings} {files} …")
    ] = None,
    ticket: Annotated[
        str | None, typer.Option(metavar="ID", help="With --branch: stands for {ticket}, or becomes a trailer.")
    ] = None,
    ignore_in_blame: Annotated[
        bool, typer.Option("--ignore-in-blame", help="With --branch: name the commits in .git-blame-ignore-revs.")
    ] = False,
    split: Annotated[
        str | None,
        typer.Option(metavar="codeowners|project|directory:N", help="With --branch: one branch for each, NAME/…."),
    ] = None,
    max_files: Annotated[
        int | None, typer.Option(metavar="N", help="With --split: files on a branch at most, unless a fix needs more.")
    ] = None,
    push_to: push.Push = None,
    pr: push.PullRequest = False,
    forge: push.Forge = None,
    label: push.Label = None,
    reviewer: push.Reviewer = None,
    draft: push.Draft = False,
    verify: verified.Verify = None,
    select: options.Select = None,
    ignore: options.Ignore = None,
    unsafe_fixes: options.UnsafeFixes = None,
    strategy: options.Strategy = None,
    target: options.Target = None,
    exclude: options.Exclude = None,
    include_vendored: options.IncludeVendored = False,
    jobs: options.Jobs = 0,
    no_cache: options.NoCache = False,
    config: options.Config = None,
    isolated: options.Isolated = False,
    since: options.Since = None,
    format: Annotated[ApplyFormat, typer.Option(help="markdown: the text of a pull request.")] = ApplyFormat.terminal,
    output: options.Output = None,
    statistics: options.Statistics = False,
    profile: options.Profiled = False,
    exit_zero: options.ExitZero = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    color: options.ColorOption = Color.auto,
) -> None:
    """Fix files in place. --dry-run prints the patch instead; --branch makes commits instead.

    Exit code 0: done, nothing to do; 1: something could not be applied, or, with --dry-run, changes are pending;
    2: could not do the job.
    """
    from fixer.cli.profiling import Profiling
    from fixer.cli.screen import Screen

    profiling = Profiling.start(profile)
    screen = Screen(color, quiet, verbose, output)
    request = options.request(
        *(paths, select, ignore, unsafe_fixes, strategy, target, exclude, include_vendored, jobs, config, isolated),
        since=since,
        no_cache=no_cache,
        recorder=profiling.recorder,
    )
    for name, value in (
        ("--base", base),
        ("--on-conflict", on_conflict),
        ("--author", author),
        ("--signoff", signoff),
        ("--trailer", trailer),
        ("--subject", subject),
        ("--body", body),
        ("--ticket", ticket),
        ("--ignore-in-blame", ignore_in_blame),
        ("--split", split),
        ("--push", push_to is not None),
        ("--pr", pr),
    ):
        if value and branch is None:
            raise Refusal(f"{name} says how a branch is made: give --branch NAME too")
    if max_files is not None and split is None:
        raise Refusal("--max-files says how large a part is: give --split too")
    if verify is not None:
        from fixer.cli.ending import end_when_told

        if dry_run:
            raise Refusal("--verify runs the code before anything is written: `fixer verify --run` does only that")
        end_when_told()
    if branch is None:
        code = _in_place(screen, request, dry_run, verify, format, statistics)
    else:
        from fixer.output.branches import BranchRequest
        from fixer.output.commits import CommitRequest
        from fixer.output.split import Split

        commits = CommitRequest(author, signoff, tuple(trailer or ()), subject, body, ticket, ignore_in_blame)
        wanted = BranchRequest(branch, base, (on_conflict or OnConflict.refuse).value, commits)
        parting = Split.parse(split, max_files) if split is not None else None
        handover, receiver = push.request(push_to, pr, forge, label, reviewer, draft), None
        if handover is not None and not dry_run:
            receiver, wanted = push.prepared(screen, handover, wanted, renew=on_conflict is None)
        if parting is None:
            code = _on_branch(screen, request, wanted, receiver, dry_run, verify, format, statistics)
        else:
            code = _on_branches(screen, request, wanted, parting, receiver, dry_run, verify, format, statistics)
    profiling.tell()
    raise typer.Exit(0 if exit_zero and code == 1 else code)


def _in_place(
    screen: Screen, request: Request, dry_run: bool, verify: str | None, format: ApplyFormat, statistics: bool
) -> int:
    from fixer.cli import show
    from fixer.output.files import write
    from fixer.report.progress import progress
    from fixer.run.request import plan_directory

    here = Path.cwd()
    with progress(not screen.quiet) as tell:
        outcome = plan_directory(request, here, fix=True, progress=tell)
    written: frozenset[str] = frozenset()
    if verify is not None and outcome.plan.changed:
        verified.check(screen, outcome, verify)
    if not dry_run:
        written, skips = write(outcome.plan, outcome.root)
        outcome = outcome.after_writing(written, skips)
    if format is ApplyFormat.json:
        show.as_json(screen, outcome, here, written=written, statistics=statistics)
    elif format is ApplyFormat.markdown:
        show.as_markdown(screen, outcome)
    elif statistics:
        show.counts(screen, outcome)
    elif dry_run:
        show.patch(screen, outcome)
    else:
        show.files(screen, outcome, here)
    screen.summary(outcome, "would be fixed" if dry_run else "fixed")
    screen.errors(outcome.problems)
    if outcome.failed:
        return 2
    return 1 if (outcome.plan.changed if dry_run else outcome.left()) else 0


def _on_branch(
    screen: Screen,
    request: Request,
    branch: BranchRequest,
    receiver: Receiver | None,
    dry_run: bool,
    verify: str | None,
    format: ApplyFormat,
    statistics: bool,
) -> int:
    from fixer.output.branches import deliver
    from fixer.report.progress import progress

    with progress(not screen.quiet) as tell:
        delivery = deliver(
            request, branch, Path.cwd(), dry_run=dry_run, progress=tell, check=verified.of_branch(screen, verify)
        )
    handed, problems = push.hand_over_all(receiver, branch.name, delivery.outcome, [delivery], ())
    _tell(screen, delivery.outcome, [delivery], handed, dry_run, format, statistics)
    for note in delivery.notes:
        screen.note(note)
    if not dry_run and delivery.commits:
        screen.note(f"`git log {delivery.base_name}..{delivery.branch}` shows the commits; your checkout is as it was")
    push.show(screen, receiver, handed)
    screen.errors((*delivery.outcome.problems, *problems))
    if delivery.outcome.failed or problems:
        return 2
    return 1 if dry_run and delivery.outcome.plan.changed else 0


def _on_branches(
    screen: Screen,
    request: Request,
    branch: BranchRequest,
    split: Split,
    receiver: Receiver | None,
    dry_run: bool,
    verify: str | None,
    format: ApplyFormat,
    statistics: bool,
) -> int:
    from fixer.output.branches import deliver_parts
    from fixer.report.branches import part_lines
    from fixer.report.progress import progress

    with progress(not screen.quiet) as tell:
        parted = deliver_parts(
            request, branch, split, Path.cwd(), dry_run=dry_run, progress=tell, check=verified.of_branch(screen, verify)
        )
    handed, problems = push.hand_over_all(receiver, branch.name, parted.outcome, parted.deliveries, parted.problems)
    _tell(screen, parted.outcome, parted.deliveries, handed, dry_run, format, statistics)
    for sentence in (*part_lines(parted.deliveries), *parted.notes):
        screen.note(sentence)
    for delivery in parted.deliveries:
        for note in delivery.notes:
            screen.note(f"{delivery.branch}: {note}")
    push.show(screen, receiver, handed)
    screen.errors((*parted.problems, *parted.outcome.problems, *problems))
    if parted.outcome.failed:
        return 2
    return 1 if parted.problems or problems or (dry_run and parted.outcome.plan.changed) else 0


def _tell(
    screen: Screen,
    outcome: Outcome,
    deliveries: Sequence[Delivery],
    handed: Sequence[HandedOver],
    dry_run: bool,
    format: ApplyFormat,
    statistics: bool,
) -> None:
    """The result of a run that made branches, or would, and its summary."""
    from fixer.cli import show

    written = frozenset(path for delivery in deliveries for commit in delivery.commits for path in commit.files)
    if format is ApplyFormat.json:
        show.as_json(
            screen, outcome, Path.cwd(), written=written, statistics=statistics, deliveries=deliveries, handed=handed
        )
    elif format is ApplyFormat.markdown:
        show.as_markdown(screen, outcome, deliveries)
    elif statistics:
        show.counts(screen, outcome)
    elif dry_run:
        show.patch(screen, outcome)
    else:
        show.commits(screen, deliveries)
    screen.summary(outcome, "would be committed" if dry_run else "committed")
