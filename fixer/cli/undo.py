"""`fixer undo`: take back what the last `fixer apply` wrote."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from codemods.model.visible import visible_line
from fixer.cli import options


@options.grouped
def undo(
    *,
    path: Annotated[
        str, typer.Argument(metavar="[PATH]", help="A directory of the project.", show_default="the current directory")
    ] = ".",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the patch; write nothing.")] = False,
    showing: options.Showing,
) -> None:
    """Take back what the last `fixer apply` wrote.

    A file that has changed since stays as it is; the others get back what they held.

    Exit code 0: done; 1: with --dry-run, changes are pending; 2: there is nothing to undo, or a file has changed since.
    """
    from fixer.cli import show
    from fixer.errors import Refusal
    from fixer.output.journal import recover
    from fixer.output.undo import LastApply
    from fixer.project.configuration import Settings
    from fixer.project.discover import root_of
    from fixer.report.tally import plural
    from fixer.run.request import Outcome

    screen, here = showing.screen(), Path.cwd()
    if not (here / path).exists():
        raise Refusal(f"{path}: no such file or directory")
    last = LastApply(root_of((path,), here))
    if not dry_run:
        for sentence in recover(last.root):
            screen.note(sentence)
    fitted = last.fitted()
    if dry_run:
        show.patch(screen, Outcome(last.root, fitted.plan, Settings()))
        restored, skips = frozenset(file.path for file in fitted.plan.changed), fitted.skips
    else:
        with screen.progress("writing", len(fitted.plan.changed)) as tick:
            restored, skips = last.undo(fitted, tick)
        names = (visible_line(os.path.relpath(last.root / each, here)) for each in sorted(restored))
        screen.result("".join(f"{name}: restored\n" for name in names).encode("utf-8", "backslashreplace"))
    screen.errors(tuple(f"{skip.path}: {skip.detail}" for skip in skips))
    if fitted.done:
        held = "holds" if len(fitted.done) == 1 else "hold"
        screen.note(f"{plural(len(fitted.done), 'file')} {held} already what was there before")
    if dry_run and restored:
        screen.note(f"{plural(len(restored), 'file')} would be restored")
    raise typer.Exit(2 if skips else 1 if dry_run and restored else 0)
