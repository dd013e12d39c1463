"""`fixer cache`: where what was found before is kept, and how to be rid of it."""

from __future__ import annotations

import typer

cache = typer.Typer(name="cache", no_args_is_help=True, help="What was found before: where it is kept.")


@cache.command("dir")
def directory() -> None:
    """Print the directory."""
    from fixer.run import cache_directory

    print(cache_directory.directory())


@cache.command()
def clear() -> None:
    """Forget everything that was found before, and what `fixer undo` would restore."""
    from fixer.output import undo
    from fixer.run import cache_directory
    from fixer.run.cache import clear
    from fixer.verify.kept_runs import KeptRuns

    clear(cache_directory.directory())
    KeptRuns.of_user().clear()
    undo.clear()
