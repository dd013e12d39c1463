"""The Python of a project, as far as rules about dependency files look into it: cheap questions, sure answers only."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.frameworks import config_owners
from codemods.model.names import NO_GRAD
from codemods.project.index import Ref
from codemods.rules.file_context import FileContext
from codemods.sources.config import Config
from codemods.syntax.facts import Setting, dotted
from codemods.syntax.module import Module

MIXED: frozenset[object] = frozenset({16, "16", "16-mixed", "bf16", "bf16-mixed"})
"""Values of `precision` with which Lightning opens an autocast region."""


def programs(ctx: FileContext, literals: tuple[bytes, ...], *words: str) -> Iterator[tuple[str, str, Module]]:
    """Path, text and syntax of the Python files of the project that hold one of the literals and one of the words."""
    for path in ctx.index.search(ctx.path, literals):
        text = ctx.index.text(path)
        if text is None or not any(word in text for word in words):
            continue
        if (module := ctx.index.syntax(path)) is not None:
            yield path, text, module


def means(ctx: FileContext, path: str, node: ast.expr | None, names: frozenset[str]) -> bool:
    """Whether an expression, or what it calls, surely is one of these library objects."""
    written = dotted(node.func if isinstance(node, ast.Call) else node)
    origins = ctx.index.resolve(path, written) if written else frozenset[str]()
    return bool(origins) and origins <= names


def methods(module: Module, path: str) -> Iterator[tuple[Ref, ast.FunctionDef]]:
    """The methods of the classes at module level, each with its class."""
    for klass in module.tree.body:
        if isinstance(klass, ast.ClassDef):
            yield from ((Ref(path, klass.name), f) for f in klass.body if isinstance(f, ast.FunctionDef))


def switches_off(ctx: FileContext, path: str, node: ast.expr) -> bool:
    """Whether a context manager or decorator surely switches gradients off."""
    if not means(ctx, path, node, NO_GRAD):
        return False
    given = [*node.args, *(k.value for k in node.keywords)] if isinstance(node, ast.Call) else []
    return all(isinstance(value, ast.Constant) and value.value is True for value in given)


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
