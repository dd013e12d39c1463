"""`fixer bulk`: a campaign over many repositories."""

from __future__ import annotations

import os
import sys
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fixer.cli import options
from fixer.cli.help import GroupedCommand

if TYPE_CHECKING:
    from collections.abc import Callable

    from fixer.bulk.campaign import Campaign
    from fixer.bulk.drive import Standing, Tell
    from fixer.bulk.rows import Row
    from fixer.cli.screen import Screen

EXAMPLES = """\b
Examples:
  fixer bulk plan CAMPAIGN.toml              # what would change where
  fixer bulk run CAMPAIGN.toml               # branches and pull requests
  fixer bulk status CAMPAIGN.toml            # how far it is
"""
bulk = typer.Typer(
    name="bulk",
    help="A campaign over many repositories.",
    epilog=EXAMPLES,
    no_args_is_help=True,
    rich_markup_mode=None,
)


class StatusFormat(str, Enum):
    """How a table of repositories is shown."""

    terminal = "terminal"
    json = "json"
    markdown = "markdown"


class PlanFormat(str, Enum):
    """How a preview is shown, with every diff where there is room for it."""

    terminal = "terminal"
    json = "json"
    markdown = "markdown"
    html = "html"


class ReportFormat(str, Enum):
    """How a report is written."""

    markdown = "markdown"
    json = "json"
    html = "html"


File = Annotated[Path, typer.Argument(metavar="CAMPAIGN.toml", help="What to do where.")]
Jobs = Annotated[
    int,
    typer.Option("--jobs", "-j", min=0, metavar="N", help="Repositories at once.", show_default="the campaign's limit"),
]


@bulk.command(cls=GroupedCommand)
@options.grouped
def plan(
    file: File,
    *,
    rules: options.Rules,
    jobs: Jobs = 0,
    format: PlanFormat = PlanFormat.terminal,
    showing: options.Showing,
) -> None:
    """Show what `run` would do, repository by repository. No branch is made, nothing is pushed.

    A campaign's `verify` command is run, in copies: it decides what `run` would do.
    """
    from fixer.bulk.drive import plan as work

    _work(work, _campaign(file, rules, jobs), format.value, showing)


@bulk.command(cls=GroupedCommand)
@options.grouped
def run(
    file: File,
    *,
    rules: options.Rules,
    jobs: Jobs = 0,
    format: StatusFormat = StatusFormat.terminal,
    showing: options.Showing,
) -> None:
    """Do it. Run again, it goes on where it stopped, does nothing twice, and renews what has become old.

    Exit code 0: done, or stopped at a limit; 1: something in a repository needs a person; 2: could not do the job.
    """
    from fixer.bulk.drive import run as work

    _work(work, _campaign(file, rules, jobs), format.value, showing)


@bulk.command(cls=GroupedCommand)
@options.grouped
def status(
    file: File,
    *,
    format: StatusFormat = StatusFormat.terminal,
    showing: options.Showing,
) -> None:
    """Show where the campaign stands: a line for each branch."""
    from fixer.bulk.campaign import load_campaign
    from fixer.bulk.drive import status as look

    screen = showing.screen()
    _show(screen, look(load_campaign(file)), format.value)


@bulk.command(cls=GroupedCommand)
@options.grouped
def report(
    file: File,
    *,
    format: ReportFormat = ReportFormat.markdown,
    showing: options.Showing,
) -> None:
    """Write a report with totals by rule, every repository, and every diff."""
    from fixer.bulk.campaign import load_campaign
    from fixer.bulk.drive import status as look

    _show(showing.screen(), look(load_campaign(file), patches=True), format.value)


def _campaign(file: Path, rules: options.Rules, jobs: int) -> Campaign:
    """The campaign, with the options of the command line on top."""
    from dataclasses import replace

    from fixer.bulk.campaign import load_campaign

    campaign = load_campaign(file)
    mine = rules.request()
    both = campaign.request
    request = replace(
        both,
        select=mine.select or both.select,
        ignore=(*both.ignore, *mine.ignore),
        unsafe_fixes=both.unsafe_fixes if mine.unsafe_fixes is None else mine.unsafe_fixes,
        strategies=(*both.strategies, *mine.strategies),
        targets=(*both.targets, *mine.targets),
        exclude=(*both.exclude, *mine.exclude),
        include_vendored=both.include_vendored or mine.include_vendored,
    )
    limits = replace(campaign.limits, concurrent=jobs) if jobs else campaign.limits
    return replace(campaign, request=request, limits=limits)


def _work(
    work: Callable[[Campaign, Tell], Standing], campaign: Campaign, format: str, showing: options.Showing
) -> None:
    from fixer.report.campaign_table import progress_line

    screen = showing.screen()
    # A server that says nothing any more must not hold up the others.
    for name, value in (("GIT_HTTP_LOW_SPEED_LIMIT", "1"), ("GIT_HTTP_LOW_SPEED_TIME", "120")):
        os.environ.setdefault(name, value)

    def tell(done: int, total: int, row: Row) -> None:
        if not screen.quiet:
            print(progress_line(done, total, row), file=sys.stderr, flush=True)

    standing = work(campaign, tell)
    _show(screen, standing, format)
    raise typer.Exit(1 if standing.failed else 0)


def _show(screen: Screen, standing: Standing, format: str) -> None:
    from fixer.report import campaign

    if format == "json":
        from fixer.report.json import render

        screen.result(render(campaign.document(standing)))
    elif format == "markdown":
        screen.result(campaign.markdown(standing).encode("utf-8", "replace"))
    elif format == "html":
        from codemods.transforms import load
        from fixer.report.campaign_html import render as as_page

        screen.result(as_page(standing, {rule.code: rule for rule in load()}))
    else:
        from fixer.report.campaign_table import as_text, show

        if screen.output is None and sys.stdout.isatty():
            show(screen.console(sys.stdout), standing)
        else:
            screen.result(as_text(standing).encode("utf-8", "replace"))
    if not screen.quiet:
        from fixer.report.campaign_table import show_summary

        show_summary(screen.console(sys.stderr), standing)
