"""`fixer verify`: run the code before and after the fixes, and say what changed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fixer.cli import options
from fixer.cli.options import ApplyFormat, Color
from fixer.errors import Refusal


def verify(
    paths: options.Paths = None,
    run: Annotated[
        str | None, typer.Option(metavar="CMD", help="Run this command on the code before and after the fixes.")
    ] = None,
    select: options.Select = None,
    ignore: options.Ignore = None,
    unsafe_fixes: options.UnsafeFixes = None,
    strategy: options.Strategy = None,
    target: options.Target = None,
    exclude: options.Exclude = None,
    include_vendored: options.IncludeVendored = False,
    jobs: options.Jobs = 0,
    config: options.Config = None,
    isolated: options.Isolated = False,
    format: Annotated[
        ApplyFormat, typer.Option(help="markdown: the section of a pull request.")
    ] = ApplyFormat.terminal,
    output: options.Output = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    color: options.ColorOption = Color.auto,
) -> None:
    """Run your code before and after the fixes, in temporary copies, and say what changed.

    Exit code 0: proved, or not reproduced; 1: worse after the fixes; 2: could not run.
    """
    from fixer.cli.screen import Screen

    screen = Screen(color, quiet, verbose, output)
    if run is None:
        raise Refusal('verify what? --run "python train.py --max_steps 2" runs a command before and after the fixes')
    from fixer.report.progress import progress
    from fixer.verification import verify as verify_command
    from fixer.work import plan_directory

    request = options.request(
        paths, select, ignore, unsafe_fixes, strategy, target, exclude, include_vendored, jobs, config, isolated
    )
    here = Path.cwd()
    with progress(not quiet) as tell:
        outcome = plan_directory(request, here, fix=True, progress=tell)
    verification = verify_command(outcome, run, here=here, tell=screen.note)
    screen.result(f"{verification.verdict}: {verification.summary}\n".encode())
    raise typer.Exit({"refuted": 1, "could-not-run": 2}.get(verification.verdict, 0))
