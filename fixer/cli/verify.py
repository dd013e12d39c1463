"""`fixer verify`: run the code before and after the fixes, and say what changed; without fixes, what is wrong."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fixer.cli import options
from fixer.cli.options import VerifyFormat
from fixer.errors import Refusal

if TYPE_CHECKING:
    from fixer.cli.screen import Screen
    from fixer.run.request import Request
    from fixer.verify.verification import Verification


EXAMPLES = """\
fixer verify --run "python train.py --max-steps 5"
fixer verify --run "torchrun --nproc-per-node 2 train.py" --steps 5
fixer verify --module model.py:make          # no training script is needed
"""
SETTINGS = {"epilog": EXAMPLES}
"""How Typer makes this command."""


@options.grouped
def verify(
    *,
    paths: options.Paths = None,
    run: Annotated[
        str | None,
        typer.Option(
            metavar="CMD",
            help="Run this on the code before and after the fixes; once, if there are none.",
        ),
    ] = None,
    no_fixes: Annotated[
        bool,
        typer.Option("--no-fixes", help="With --run: run the code once, as it is, and say what is wrong with the run."),
    ] = False,
    watching: options.Watching,
    before: Annotated[
        Path | None, typer.Option(metavar="DIR", help="A recording of the code as it is, made by `fixer probe`.")
    ] = None,
    after: Annotated[
        Path | None, typer.Option(metavar="DIR", help="With --before: one of the code with the fixes of --select.")
    ] = None,
    module: Annotated[
        str | None,
        typer.Option(
            metavar="FILE.py:FACTORY",
            help="Watch the module and the batch that this function returns, in train and eval and several precisions.",
        ),
    ] = None,
    precision: Annotated[
        list[str] | None,
        typer.Option(metavar="NAMES", help="With --module.", show_default="32-true,bf16-mixed,16-mixed"),
    ] = None,
    python: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="With --module: the interpreter that has your torch.",
            show_default="the active environment's",
        ),
    ] = None,
    rules: options.Rules,
    running: options.Running,
    format: Annotated[
        VerifyFormat, typer.Option(help="markdown: the section of a pull request. html: a page.")
    ] = VerifyFormat.terminal,
    showing: options.Showing,
    verbose: options.Verbose = False,
) -> None:
    """Run your code before and after the fixes, in temporary copies, and say what changed.

    With --no-fixes, or where no rule has a fix, --run runs it once and says what is wrong with the training run. Exit
    code 0: proved, a warning gone, not reproduced, or healthy; 1: worse after the fixes, other numbers although nothing
    was wrong, or unhealthy; of a module, also wrong before and after; 2: could not run.
    """
    screen = showing.screen(verbose=verbose)
    request = running.request(paths, rules)
    if no_fixes and run is None:
        raise Refusal("--no-fixes requires --run")
    if no_fixes and request.unsafe_fixes:
        raise Refusal("--no-fixes runs the code as it is, --unsafe-fixes applies more fixes: give one of them")
    if before is not None or after is not None:
        if before is None or after is None or run is not None or module is not None:
            raise Refusal("--before and --after compare two recordings: give both, and neither --run nor --module")
        raise typer.Exit(_compare(screen, request, before, after, watching, format))
    if module is not None:
        from fixer.cli.verify_module import terms, verify_module

        if run is not None:
            raise Refusal("--run and --module are two ways to verify: give one of them")
        if watching.steps is not None:
            raise Refusal("--steps requires --run: --module runs two steps of each mode and precision")
        how = terms(precision, python, watching.limits)
        raise typer.Exit(verify_module(screen, request, module, how, watching, format))
    if precision or python:
        raise Refusal(f"{'--precision' if precision else '--python'} requires --module")
    if run is None:
        raise Refusal('verify what? --run "python train.py --max_steps 2" runs a command before and after the fixes')
    raise typer.Exit(_run(screen, request, run, watching, format, fix=not no_fixes))


def _run(
    screen: Screen, request: Request, command: str, watching: options.Watching, format: VerifyFormat, *, fix: bool
) -> int:
    from fixer.run.request import plan_directory
    from fixer.verify.kept_runs import KeptRuns
    from fixer.verify.verification import examine
    from fixer.verify.verification import verify as verify_command

    files = watching.reports
    here = Path.cwd()
    outcome = plan_directory(request, here, fix=fix, progress=screen.progress)
    screen.errors(outcome.problems)
    if outcome.failed:
        return 2
    screen.note(f"this executes your code: `{command}`, in temporary copies of {outcome.root}")
    limits, linked = watching.limits, watching.linked
    if outcome.plan.changed:
        kept = KeptRuns.of_user() if request.cache else None
        found = verify_command(outcome, command, limits, here=here, linked=linked, kept=kept, tell=screen.note)
    else:
        found = examine(outcome, command, limits, fix=fix, here=here, linked=linked, tell=screen.note)
    code = _told(screen, found, format, files)
    watching.demand(found.touched)
    return code


def _compare(
    screen: Screen, request: Request, before: Path, after: Path, watching: options.Watching, format: VerifyFormat
) -> int:
    from codemods.transforms import load
    from fixer.project import selectors
    from fixer.verify.recording import compare

    files, rules = watching.reports, load()
    selectors.check_codes(request.select, rules, "--select")
    chosen = selectors.enabled(rules, select=(), ignore=(), more_select=request.select) if request.select else ()
    return _told(screen, compare(before, after, [rule.code for rule in chosen]), format, files)


def _told(screen: Screen, found: Verification, format: VerifyFormat, files: Sequence[str]) -> int:
    from fixer.cli import reports
    from fixer.report import verification as report

    render = reports.of_run(found)
    if format is not VerifyFormat.terminal:
        screen.result(render(format.value))
    elif screen.output is not None:
        screen.result(f"{report.line(found)}\n".encode("utf-8", "replace"))
    else:
        report.show(screen.console(sys.stdout), found, verbose=screen.verbose)
    reports.write(files, render)
    return {"refuted": 1, "numbers-differ": 1, "unhealthy": 1, "could-not-run": 2}.get(found.verdict, 0)
