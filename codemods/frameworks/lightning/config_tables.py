"""Precisions in configuration files: those that LightningCLI, Hydra or `Trainer(**config.trainer)` hands on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from codemods.frameworks import config_owners
from codemods.frameworks.lightning.trainer_kwargs import splatted_tables
from codemods.rules.file_context import FileContext
from codemods.sources.config import Alias, Config, Scalar, Table, Value, followed

_SAVED = re.compile(r"# (?:lightning\.pytorch|pytorch_lightning)==(\d+)")
"""How LightningCLI begins the configuration that it saves beside a run."""
_READ = re.compile(
    r"""(?:\.precision\b|\[["']precision["']\]|\.get\(\s*["']precision["'][^)]*\))\s*(?:==|!=|\bin\b|\bnot\b|\]|\.(?:lower|split|startswith|endswith)\b)"""
    r"""|\b(?:int|str|float)\(\s*[\w.]+(?:\.precision\b|\[["']precision["']\])"""
)
"""Code that looks into a precision, instead of handing it on."""
_RECORDS = re.compile(r"(?:.*/)?(?:\.hydra|multirun|lightning_logs|wandb|mlruns)/")
"""Where runs of the past are written down: what they were given stays as it was."""
_MISSING = "???"
"""What Hydra calls a value that has to come from somewhere else."""


@dataclass(frozen=True, slots=True)
class Configured:
    """One precision in a configuration file."""

    node: Value
    value: object
    written: str
    table: Table
    shared: bool
    """Written elsewhere in the file, or read elsewhere too, by way of a YAML alias."""


def configured(config: Config, ctx: FileContext) -> Iterator[Configured]:
    """The precisions that surely reach Lightning's Trainer or Fabric, as far as they are plain values."""
    if _RECORDS.match(config.path):
        return
    aliased = {node.target for node in config.nodes() if isinstance(node, Alias)}
    for table in (*config_owners.trainer_tables(config, ctx.index), *splatted_tables(config, ctx)):
        for entry in table.entries:
            value = followed(entry.value)
            if (
                entry.key.value == "precision"
                and isinstance(value, Scalar)
                and not config_owners.is_interpolated(value)
            ):
                if isinstance(value.value, (str, int, float)) and value.value != _MISSING:
                    written = ctx.text[value.start : value.end]
                    yield Configured(entry.value, value.value, written, table, value in aliased)


def saved_by(config: Config) -> int | None:
    """The major version of the Lightning that saved a configuration; None where none did."""
    match = _SAVED.match(config.text)
    return int(match[1]) if match else None


def is_read_elsewhere(ctx: FileContext) -> bool:
    """Whether something besides Lightning may look at the precision: code of the project, or an interpolation."""
    if ctx.index.search(ctx.path, (b"precision}",), suffixes=(".yaml", ".yml")):
        return True
    return any(_reads(ctx.index.text(path) or "") for path in ctx.index.search(ctx.path, (b"precision",)))


@lru_cache(maxsize=1024)
def _reads(code: str) -> bool:
    return _READ.search(code) is not None
