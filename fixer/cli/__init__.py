"""The command line. Each command imports what it needs when it is run, so that `fixer --help` is quick."""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from typing import Annotated

import typer

from codemods import __version__
from fixer import COLLECT
from fixer.cli.apply import apply
from fixer.cli.bulk import bulk
from fixer.cli.cache import cache
from fixer.cli.check import check
from fixer.cli.explain import explain
from fixer.cli.probe import probe
from fixer.cli.push import PushCommand
from fixer.cli.rules import rules
from fixer.cli.verify import verify
from fixer.errors import Refusal

app = typer.Typer(
    name="fixer",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(check)
app.command(cls=PushCommand)(apply)
app.command()(verify)
app.command(context_settings={"allow_interspersed_args": False})(probe)
app.command()(explain)
app.add_typer(rules)
app.add_typer(bulk)
app.add_typer(cache)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"fixer {__version__}")
        raise typer.Exit


@app.callback()
def _fixer(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Find and repair mixed-precision and gradient-flow bugs in PyTorch training code."""


def main() -> None:
    """The entry point of the command `fixer`."""
    from fixer.git.command import forget_location

    # What a repository holds must never be imported; `""` and relative places mean the current directory.
    sys.path[:] = [place for place in sys.path if place not in ("", ".")]
    forget_location()
    gc.set_threshold(*COLLECT)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        try:
            Path.cwd()
        except OSError as error:
            raise Refusal("the current directory is gone: change to one that exists") from error
        app()
    except Refusal as refusal:
        print(f"fixer: {refusal}", file=sys.stderr)
        sys.exit(refusal.code)
    except ImportError as error:
        from codemods.transforms import Unloadable

        if not isinstance(error, Unloadable):
            raise
        print(f"fixer: {error}", file=sys.stderr)
        sys.exit(2)
