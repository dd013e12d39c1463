"""The Python of a project, as far as rules about dependency files look into it: cheap questions, sure answers only."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.python_context import PythonContext, program
from codemods.frameworks import config_owners
from codemods.project.index import Ref
from codemods.rules.file_context import FileContext
from codemods.sources.config import Config
from codemods.syntax.facts import Setting

MIXED: frozenset[object] = frozenset({16, "16", "16-mixed", "bf16", "bf16-mixed"})
"""Values of `precision` with which Lightning opens an autocast region."""


def programs(ctx: FileContext, literals: tuple[bytes, ...], *words: str) -> Iterator[PythonContext]:
    """The Python files of the project that hold one of the literals and one of the words."""
    for path in ctx.index.search(ctx.path, literals):
        if ctx.index.says(path, *words):
            if (found := program(ctx.index, path)) is not None:
                yield found


def methods(where: PythonContext) -> Iterator[tuple[Ref, ast.FunctionDef]]:
    """The methods of the classes at module level, each with its class."""
    for klass in where.module.tree.body:
        if isinstance(klass, ast.ClassDef):
            yield from ((where.ref(klass), f) for f in klass.body if isinstance(f, ast.FunctionDef))


def is_mixed(setting: Setting) -> bool:
    """Whether a call sets a mixed precision."""
    value = setting.call.keywords.get("precision")
    return value is not None and isinstance(value.literal, (int, str)) and value.literal in MIXED


def trains_in_mixed_precision(ctx: FileContext) -> bool:
    """Whether a call or a configuration file of the project surely sets a mixed precision."""
    if any(is_mixed(setting) for _, setting in ctx.index.settings(ctx.path)):
        return True
    for path in ctx.index.search(ctx.path, (b"precision",), suffixes=(".yaml", ".yml")):
        config = ctx.index.document(path)
        tables = config_owners.trainer_tables(config, ctx.index) if isinstance(config, Config) else ()
        if any(config_owners.scalar(table.get("precision")) in MIXED for table in tables):
            return True
    return False


def trains_with_lightning(ctx: FileContext) -> bool:
    return bool(ctx.index.search(ctx.path, (b"LightningModule",)))
