"""Flags of training scripts that became arguments which a library no longer takes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from codemods.analysis.python_context import PythonContext
from codemods.analysis.python_context import program as context_of
from codemods.frameworks.launches import program_of
from codemods.frameworks.removed_names.drafts import finding
from codemods.frameworks.removed_names.owners import dataclasses_of, made
from codemods.frameworks.removed_names.tables import of_rule
from codemods.project.index import Ref
from codemods.rules.file_context import FileContext
from codemods.rules.rule import Draft, Rule
from codemods.sources.shell import Command, Word, launched

_FLAG = re.compile(r"--(?P<option>[A-Za-z][\w-]*)(?:=.*)?", re.DOTALL)


def old_flags(rule: Rule, command: Command, ctx: FileContext) -> Iterator[Draft]:
    """The flags of a command whose program hands them to a class of a library: `--evaluation_strategy steps`.

    They are reported only: a script may be run with another release than the one that the project asks for.
    """
    rows = of_rule(rule.code, "argument")
    launch = launched(command)
    given = flags(launch.arguments) if launch is not None else []
    if launch is None or not any(name in rows for _, name in given) or (path := program_of(launch, ctx)) is None:
        return
    program = context_of(ctx.index, path)
    owners, own = parsed(program) if program is not None else ((), ())
    for word, name in given:
        row = next((rows[name][owner] for owner in owners if owner in rows[name]), None) if name in rows else None
        if row is not None and row.gone and not any(next(ctx.index.assigned(ref, name), None) for ref in own):
            yield from finding(rule, row, word, ctx, None)


def flags(words: Iterable[Word]) -> list[tuple[Word, str]]:
    """The flags among the words of a command, each with the name of the argument that it becomes."""
    found = ((word, _FLAG.fullmatch(word.text)) for word in words)
    return [(word, flag["option"].replace("-", "_")) for word, flag in found if flag]


def parsed(ctx: PythonContext) -> tuple[tuple[str, ...], tuple[Ref, ...]]:
    """The owners of the arguments that a program parses into dataclasses, and the classes of the project among them."""
    owners: list[str] = []
    own: list[Ref] = []
    for call in ctx.all(ast.Call):
        for kind in dataclasses_of(ctx, call):
            for origin in ctx.origin(kind):
                owners += made(ctx, origin)
                own += [Ref.of(origin)] if ":" in origin else []
    return tuple(dict.fromkeys(owners)), tuple(own)
