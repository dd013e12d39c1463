"""Precisions in configuration files: those that LightningCLI, Hydra or `Trainer(**config.trainer)` hands on."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from codemods.flow.answers import Answer, question, unknown, unless, yes
from codemods.frameworks import config_owners
from codemods.frameworks.lightning.trainer_kwargs import splatted_tables
from codemods.model.edits import Evidence
from codemods.project.index import Index
from codemods.rules.file_context import FileContext
from codemods.sources import files
from codemods.sources.config import Alias, Config, Scalar, Table, Value, followed
from codemods.syntax.module import parameters

_SAVED = re.compile(r"# (?:lightning\.pytorch|pytorch_lightning)==(\d+)")
"""How LightningCLI begins the configuration that it saves beside a run."""
_READ = re.compile(
    r"""(?:\.precision\b|\[["']precision["']\]|\.get\(\s*["']precision["'][^)]*\))\s*(?:==|!=|\bin\b|\bnot\b|\]|=(?!=)|\.(?:lower|upper|split|strip|replace|removeprefix|removesuffix|startswith|endswith)\b)"""
    r"""|\b(?:int|str|float)\(\s*[\w.]+(?:\.precision\b|\[["']precision["']\])"""
    r"""|(?<![\["'])(?<!get\()["'](?:[\w.]+[/.])?precision["']"""
)
"""Code that looks into a precision, instead of handing it on, or has its key as a text (`translated`)."""
_READ_BY_A_SCRIPT = re.compile(r"(?:\b(?:yq|jq|grep|sed|awk)\b|\bpython\S* -c\b)[^\n]*\bprecision\b")
"""A command that takes a precision out of a file (`read_by_a_script`); one that is given a precision is another."""
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


@question
def trainer_is_lightnings(ctx: FileContext) -> Answer:
    """Whether no command line of the program makes a Trainer of its own from a configuration."""
    return unless(
        Evidence(path, call.lineno, "another class may be the Trainer")
        for path in ctx.index.search(ctx.path, (b"trainer_class",))
        if (module := ctx.index.syntax(path)) is not None
        for call in module.all(ast.Call)
        if any(each.arg == "trainer_class" for each in call.keywords)
    )


@question
def only_lightning_reads_it(ctx: FileContext) -> Answer:
    """Whether nothing besides Lightning looks at the precision: no code of the project, and no interpolation."""
    index = ctx.index
    interpolating = index.search(ctx.path, (b"precision}",), suffixes=(".yaml", ".yml"))
    paths = index.search(ctx.path, (b"precision",))
    scripts = index.search(ctx.path, (b"precision",), suffixes=files.SHELL)
    key = (only_lightning_reads_it, interpolating, paths, scripts)
    place = index.recall(key, lambda: _reader(index, interpolating, paths, scripts))
    return yes() if place is None else unknown(place)


@question
def nobody_knows_the_spelling(ctx: FileContext, value: object) -> Answer:
    """Whether no code of the project has a spelling as a text, which it may translate (`names_of_their_own`)."""
    quoted = tuple(f"{mark}{value}{mark}".encode() for mark in "\"'")
    return unless(
        _shown(ctx.index, path, next((each.decode() for each in quoted if each.decode() in text), ""))
        for path in ctx.index.search(ctx.path, quoted)
        if (text := ctx.index.text(path) or "")
    )


def _reader(
    index: Index, interpolating: Sequence[str], paths: Sequence[str], scripts: Sequence[str]
) -> Evidence | None:
    """The first place that reads a precision."""
    for path in scripts:
        if (read := _READ_BY_A_SCRIPT.search(index.text(path) or "")) is not None:
            return _shown(index, path, read[0])
    for path in interpolating:
        return _shown(index, path, "precision}")
    for path in paths:
        if (found := _READ.search(index.text(path) or "")) is not None:
            return _shown(index, path, found[0])
        if (taking := next(_taking(index, path), None)) is not None:
            return taking
    return None


def _taking(index: Index, path: str) -> Iterator[Evidence]:
    """The functions of a file with a parameter of that name, which a table may be spread into (`planned`)."""
    module = index.syntax(path)
    for function in module.all(ast.FunctionDef) if module is not None else ():
        if function.args.kwarg is not None and any(each.arg == "precision" for each in parameters(function)):
            yield Evidence(path, function.lineno, f"`{function.name}` may read the precision")


def _shown(index: Index, path: str, words: str) -> Evidence:
    text = index.text(path) or ""
    return Evidence(path, text.count("\n", 0, max(text.find(words), 0)) + 1, "something else may read the precision")
