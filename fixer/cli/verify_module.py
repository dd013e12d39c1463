"""`fixer verify --module`: watch a module in every mode and precision, before and after the fixes."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fixer.errors import Refusal

if TYPE_CHECKING:
    from codemods.verify.flow_bench import Terms
    from fixer.cli.options import VerifyFormat, Watching
    from fixer.cli.screen import Screen
    from fixer.run.request import Request
    from fixer.verify.sandbox.command import Limits


def verify_module(
    screen: Screen, request: Request, module: str, terms: Terms, watching: Watching, format: VerifyFormat
) -> int:
    """Watch, show, and say how it went as an exit code."""
    from dataclasses import replace

    from fixer.cli import reports
    from fixer.project.discover import root_of
    from fixer.run.request import plan_directory
    from fixer.verify.flow_report import locate, watch

    here, files = Path.cwd(), watching.reports
    root = root_of(request.paths, here)
    locate(module, root, here)  # what cannot be found is told before anything is planned
    if not request.paths:
        request = replace(request, paths=(str(root),))
    outcome = plan_directory(request, here, fix=True, progress=screen.progress)
    screen.errors(outcome.problems)
    if outcome.failed:
        return 2
    screen.note(f"this executes your code: {module}, in temporary copies of {root}")
    report = watch(
        outcome, module, here, terms, linked=watching.linked, tell=screen.note if screen.verbose else lambda _: None
    )
    render = reports.of_module(report)
    if format.value != "terminal":
        screen.result(render(format.value))
    else:
        from io import StringIO

        from fixer.report.flow import show

        if screen.output is None:
            show(screen.console(sys.stdout), report, verbose=screen.verbose)
        else:
            text = StringIO()
            show(screen.console(text), report, verbose=screen.verbose)
            screen.result(text.getvalue().encode())
    reports.write(files, render)
    watching.demand(report.touched)
    return {"proved": 0, "healthy": 0, "not-reproduced": 0, "could-not-run": 2}.get(report.verdict, 1)


def terms(precision: Sequence[str] | None, python: str | None, limits: Limits) -> Terms:
    """How the runs are done.

    Raises:
        Refusal: if a precision is unknown.
    """
    from codemods.verify.flow_bench import OTHERS, PRECISIONS, Terms

    chosen = tuple(dict.fromkeys(name for given in precision or () for name in given.split(",")))
    for name in chosen:
        if name not in (*PRECISIONS, *OTHERS):
            raise Refusal(f"--precision {name}: not one of {', '.join((*PRECISIONS, *OTHERS))}")
    return Terms(python or active_python(), chosen or PRECISIONS, limits.seconds, limits.memory)


def active_python() -> str:
    """The interpreter of the virtual environment that is active, which holds the project's torch; else ours."""
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        if place := os.environ.get(name):
            python = Path(place, "bin", "python")
            if python.is_file():
                return str(python)
    return sys.executable
