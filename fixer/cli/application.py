"""The application that Typer runs. Each command imports what it needs when it is run, so `fixer --help` is quick."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Annotated

import typer

from codemods import __version__
from fixer.cli.help import GroupedCommand

COMMANDS = (
    "check",
    "apply",
    "upgrade",
    "undo",
    "verify",
    "diagnose",
    "probe",
    "explain",
    "rules",
    "guard",
    "lsp",
    "bulk",
    "cache",
)
"""Each in a module of that name, in the order in which they are listed."""
COMPLETION = ("-h", "--help", "--install-completion", "--show-completion")
"""Where completion is asked for or listed: what it needs is loaded only there, and when a shell asks."""


def application(words: Sequence[str] = ()) -> typer.Typer:
    """The command line.

    Args:
        words: what was typed; where it begins with the name of a command, no other one is loaded.
    """
    made = typer.Typer(
        name="fixer",
        no_args_is_help=True,
        add_completion=not words or words[0] in COMPLETION,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    made.callback()(_fixer)
    for name in (words[0],) if words and words[0] in COMMANDS else COMMANDS:
        module = importlib.import_module(f"fixer.cli.{name}")
        command = getattr(module, name)
        if isinstance(command, typer.Typer):
            made.add_typer(command)
        else:
            made.command(**{"cls": GroupedCommand, **getattr(module, "SETTINGS", {})})(command)
    return made


def _version(wanted: bool) -> None:
    if wanted:
        print(f"fixer {__version__}")
        raise typer.Exit


def _fixer(
    version: Annotated[
        bool, typer.Option("--version", "-V", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Find and repair mixed-precision and gradient-flow bugs in PyTorch training code."""
