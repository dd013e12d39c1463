"""`fixer rules`: list the rules; `fixer rules new` starts one."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from fixer.cli import options
from fixer.cli.options import Color, RulesFormat

rules = typer.Typer(name="rules", help="List the rules, or start a new one.", rich_markup_mode=None)


@rules.callback(invoke_without_command=True)
def list_rules(
    context: typer.Context,
    format: RulesFormat = RulesFormat.terminal,
    color: options.ColorOption = Color.auto,
) -> None:
    """List the rules, or start a new one with `fixer rules new`."""
    if context.invoked_subcommand:
        return
    from codemods.transforms import load
    from fixer.cli.screen import Screen
    from fixer.report import catalogue

    screen = Screen(color)
    if format is RulesFormat.json:
        screen.result(catalogue.as_json(load()))
    elif format is RulesFormat.markdown:
        screen.result(catalogue.table(load()).encode())
    else:
        catalogue.show(screen.console(sys.stdout), load())


@rules.command()
def new(
    code: Annotated[str, typer.Argument(help="Family letters and three digits, such as AMP011.")],
    name: Annotated[str, typer.Argument(help="The bad pattern in kebab case, such as raw-backward.")],
) -> None:
    """Write the skeleton of a rule and of its fixtures, in a checkout of fixer."""
    from pathlib import Path

    from fixer.cli.skeleton import write

    for path in write(code, name, Path.cwd()):
        print(path)
