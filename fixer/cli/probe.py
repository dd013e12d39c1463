"""`fixer probe`: record what a training run does, where it has to be started by something else."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from fixer.cli import options
from fixer.errors import Refusal

SETTINGS = {"context_settings": {"allow_interspersed_args": False}}
"""How Typer makes this command."""


def probe(
    command: Annotated[list[str] | None, typer.Argument(metavar="-- CMD...", show_default=False)] = None,
    to: Annotated[Path | None, typer.Option(metavar="DIR", help="Where to keep what was seen.")] = None,
    steps: options.Steps = None,
    print_environment: Annotated[
        bool, typer.Option("--print-environment", help="Print what loads the probe, for launchers and containers.")
    ] = False,
) -> None:
    """Run a command with the probe loaded, and record what the training does.

    `fixer verify --before DIR --after DIR` judges two recordings. Start it where the program runs, once for each
    host or rank, with one directory for all of them: `srun fixer probe --to before -- python train.py`.

    Exit code: that of the command; 2: it could not be started.
    """
    from fixer.verify.recording import environment, record

    if to is None:
        raise Refusal("--to is missing: name a directory for the recording, as in --to before")
    if print_environment:
        if command:
            raise Refusal("--print-environment runs nothing: leave the command out")
        for name, value in environment(to.resolve(), steps or 0).items():
            print(f"export {name}={shlex.quote(value)}")
        return
    if not command:
        raise Refusal("there is no command: write it after --, as in `fixer probe --to before -- python train.py`")
    raise typer.Exit(record(command, to, steps or 0))
