"""Which file of the project a shell command runs."""

from __future__ import annotations

import posixpath

from codemods.rules.file_context import FileContext
from codemods.sources.shell import Launch


def program_of(launch: Launch, ctx: FileContext) -> str | None:
    """The project's file that a command runs, from the script's own directory or the project's root."""
    named = launch.program.replace(".", "/") + ".py" if launch.module else launch.program
    folders = dict.fromkeys((posixpath.dirname(ctx.path), ctx.index.root(ctx.path)))
    paths = (posixpath.normpath(posixpath.join(folder, named)) for folder in folders)
    return next((path for path in paths if ctx.index.exists(path)), None)
