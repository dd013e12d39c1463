"""`fixer apply --verify`: the fixes are run before anything is written, and what makes it worse is not applied."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fixer.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from fixer.cli.options import Watching
    from fixer.cli.screen import Screen
    from fixer.output.branches import Delivery
    from fixer.run.request import Outcome

Verify = Annotated[
    str | None,
    typer.Option(metavar="CMD", help="Run this before and after the fixes; nothing is applied that makes it worse."),
]


@dataclass(frozen=True)
class Trial:
    """What is run, and how far it may go."""

    command: str
    watching: Watching
    reports: tuple[str, ...]
    """Files that the report is written to."""
    keep: bool
    """Whether runs of the code as it is are kept, and those that were kept are used."""


def trial(command: str | None, watching: Watching, *, keep: bool) -> Trial | None:
    """What the options ask for; None: nothing.

    Raises:
        Refusal: if an option lacks the one that it is about.
    """
    if command is None:
        for name, value in vars(watching).items():
            if value is not None and name != "strict":  # that is about skipped files, too
                raise Refusal(f"--{name} requires --verify")
        return None
    return Trial(command, watching, watching.reports, keep)


def check(screen: Screen, outcome: Outcome, trial: Trial, commits: tuple[str, str] | None = None) -> str:
    """The section about a verification that does not speak against the fixes.

    Raises:
        Refuted: if they make it worse.
        Refusal: if the command says nothing about them.
    """
    from fixer.cli import reports
    from fixer.report.verification import line, section, show
    from fixer.verify.kept_runs import KeptRuns
    from fixer.verify.verification import Refuted, verify

    screen.note(f"this executes your code: `{trial.command}`, in temporary copies of {outcome.root}")
    found = verify(
        outcome,
        trial.command,
        trial.watching.limits,
        here=Path.cwd(),
        commits=commits,
        linked=trial.watching.linked,
        kept=KeptRuns.of_user() if trial.keep else None,
        tell=screen.note,
    )
    reports.write(trial.reports, reports.of_run(found))
    if not screen.quiet:
        show(screen.console(sys.stderr), found, verbose=screen.verbose)
    trial.watching.demand(found.touched)
    if found.verdict == "refuted":
        raise Refuted(f"nothing was applied: {line(found)}")
    if found.verdict == "could-not-run":
        raise Refusal(f"nothing was applied, because the fixes could not be verified: {found.summary}")
    return section(found)


def of_branch(screen: Screen, trial: Trial | None) -> Callable[[Delivery], str]:
    """The same for the commits of a branch, before it points at them."""

    def checked(delivery: Delivery) -> str:
        if trial is None or delivery.tip is None:
            return ""
        return check(screen, delivery.outcome, trial, (delivery.base, delivery.tip))

    return checked
