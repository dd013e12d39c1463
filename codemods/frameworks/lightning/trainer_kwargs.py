"""Tables of a configuration that the project's own code hands to a Trainer: `Trainer(**config.trainer)`."""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Iterator
from functools import lru_cache

from codemods.frameworks import config_owners
from codemods.model.names import FABRIC, LIGHTNING_TRAINER
from codemods.rules.file_context import FileContext
from codemods.sources.config import Config, Table

_TRAINER = LIGHTNING_TRAINER | FABRIC


def splatted_tables(config: Config, ctx: FileContext) -> Iterator[Table]:
    """The tables of a file in nobody's format that hold a Trainer's arguments only, under the name that is handed on.

    A file of a folder of that name (`trainer/gpu.yaml`, as Hydra composes them) is such a table too.
    """
    tables = [node for node in config.nodes() if isinstance(node, Table) and config_owners.is_trainer_table(node)]
    if not any(table.entry("precision") for table in tables) or config_owners.owner(config, ctx.index):
        return
    handed = handed_on(ctx)
    folder = posixpath.basename(posixpath.dirname(config.path))
    for root in config.roots:
        named = [root.get(*keys[i:]) for keys in handed for i in range(len(keys))] if isinstance(root, Table) else []
        if any(keys[-1] == folder for keys in handed):
            named.append(root)
        yield from (table for table in tables if any(table is found for found in named))


def handed_on(ctx: FileContext) -> frozenset[tuple[str, ...]]:
    """The keys below which code of the project finds what it hands to a Trainer or Fabric: `**config["trainer"]`."""
    found = set()
    for path in ctx.index.search(ctx.path, (b"Trainer", b"Fabric")):
        for called, keys in _splats(ctx.index.text(path) or ""):
            means = ctx.index.resolve(path, called)
            if means and means <= _TRAINER:
                found.add(keys)
    return frozenset(found)


@lru_cache(maxsize=256)
def _splats(text: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """What is called with `**a.b.c` or `**a["b"]`, and the keys below the first name."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return ()
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    splats = ((ast.unparse(call.func), _keys(k.value)) for call in calls for k in call.keywords if k.arg is None)
    return tuple((called, keys) for called, keys in splats if keys)


def _keys(node: ast.expr) -> tuple[str, ...]:
    match node:
        case ast.Attribute(value=ast.Name(), attr=key):
            return (key,)
        case ast.Attribute(value=inner, attr=key) if keys := _keys(inner):
            return (*keys, key)
        case ast.Subscript(value=ast.Name(), slice=ast.Constant(value=str(key))):
            return (key,)
        case ast.Subscript(value=inner, slice=ast.Constant(value=str(key))) if keys := _keys(inner):
            return (*keys, key)
    return ()
