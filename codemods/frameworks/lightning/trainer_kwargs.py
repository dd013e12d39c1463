"""Tables of a configuration that the project's own code hands to a Trainer: `Trainer(**config.trainer)`."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence

from codemods.frameworks import config_owners
from codemods.model.names import FABRIC, LIGHTNING_TRAINER
from codemods.project.index import Index
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
    paths = ctx.index.search(ctx.path, (b"Trainer", b"Fabric"))
    return ctx.index.recall((handed_on, paths), lambda: frozenset(_handed_on(paths, ctx.index)))


def _handed_on(paths: Sequence[str], index: Index) -> Iterator[tuple[str, ...]]:
    for path in paths:
        facts = index.facts(path)
        for splat in facts.splats if facts is not None else ():
            means = index.resolve(path, splat.called)
            if means and means <= _TRAINER:
                yield splat.keys
