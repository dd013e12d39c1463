"""`fixer explain CODE`: the rule's page, and its first example as a diff."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from fixer.cli import options
from fixer.cli.options import Color


def explain(
    code: Annotated[str, typer.Argument(help="A rule's code, such as PL001.")],
    color: options.ColorOption = Color.auto,
) -> None:
    """Say why a rule speaks, what its fix does, and show an example."""
    from codemods.transforms import load
    from fixer.cli.screen import Screen
    from fixer.report.catalogue import page, show_page
    from fixer.selectors import find

    screen = Screen(color)
    rule = find(code, load())
    if screen.pretty:
        show_page(screen.console(sys.stdout), rule)
    else:
        screen.result(page(rule).encode())
