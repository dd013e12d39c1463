"""`fixer upgrade`: carry a project to newer releases of libraries."""

from __future__ import annotations

from typing import Annotated

import typer

from fixer.cli import options, push, verified
from fixer.cli.apply import Branching, How, carry_out
from fixer.cli.options import ApplyFormat
from fixer.errors import Refusal

EXAMPLES = """\
fixer upgrade transformers@5.23.0 --dry-run           # the patch; nothing is written
fixer upgrade transformers@5.23.0 trl@1.16.0 --branch upgrade/hf
fixer upgrade lightning@2.6.6 --unsafe-fixes --verify "python train.py --max-steps 5"
"""
SETTINGS = {"cls": push.PushCommand, "epilog": EXAMPLES}
"""How Typer makes this command."""


@options.grouped
def upgrade(
    *,
    releases: Annotated[list[str], typer.Argument(metavar="PACKAGE@VERSION…", help="The releases to go to.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the patch; write nothing.")] = False,
    branching: Branching,
    pushing: push.Pushing,
    verify: verified.Verify = None,
    watching: options.Watching,
    rules: options.Rules,
    running: options.Running,
    format: Annotated[ApplyFormat, typer.Option(help="markdown: the text of a pull request.")] = ApplyFormat.terminal,
    statistics: options.Statistics = False,
    exit_zero: options.ExitZero = False,
    showing: options.Showing,
    verbose: options.Verbose = False,
) -> None:
    """Carry a project to newer releases: names, arguments and requirements; what a person decides is listed.

    Every requirement of the packages asks for the release, and code changes as the release needs it. Exit codes are
    those of `fixer apply`.
    """
    from fixer.run.upgrading import upgrading

    if verify is not None and dry_run:
        raise Refusal("--verify runs the code before anything is written: `fixer verify --run` does only that")
    screen = showing.screen(verbose=verbose)
    request = upgrading(running.request((), rules), releases)
    trial = verified.trial(verify, watching, keep=request.cache)
    how = How(dry_run, trial, format, statistics, strict=bool(watching.strict), decide=True)
    code = carry_out(screen, request, how, branching, pushing, reports=watching.report)
    raise typer.Exit(0 if exit_zero and code == 1 else code)
