"""Precisions given on a command line, as far as these surely reach Lightning's Trainer or Fabric.

They are reported only: code of the project parses a flag's value (`type=int`), and would have to change with it.
"""

from __future__ import annotations

import ast
import itertools
import posixpath
import re
from collections.abc import Iterator

from codemods.analysis.calls import keyword, literal
from codemods.analysis.python_context import PythonContext
from codemods.frameworks import config_owners
from codemods.frameworks.launches import program_of
from codemods.frameworks.lightning.trainer_kwargs import handed_on
from codemods.model.names import FABRIC, LIGHTNING_TRAINER
from codemods.project.index import Index
from codemods.rules.file_context import FileContext
from codemods.sources.config import Config
from codemods.sources.shell import Command, Launch, Word, launched

_TRAINER = LIGHTNING_TRAINER | FABRIC
_FLAG = re.compile(r"--(?P<option>[A-Za-z][\w.-]*)(?:=(?P<value>.*))?", re.DOTALL)
_OVERRIDE = re.compile(r"\+{0,2}(?P<group>[\w.]+)\.precision=(?P<value>.*)", re.DOTALL)
_CLI_OPTION = re.compile(r"(?:(?:fit|validate|test|predict)\.)?trainer\.precision")
_SUBCOMMANDS = frozenset({"fit", "validate", "test", "predict"})


def flags(command: Command, ctx: FileContext) -> Iterator[tuple[Word, str]]:
    """The precisions among the arguments of a program: `--trainer.precision 16`, `trainer.precision=16`."""
    launch = launched(command)
    words = launch.arguments if launch else command.words[1:]
    if launch is None and not (words and words[0].text in _SUBCOMMANDS):
        return
    for word, after in itertools.zip_longest(words, words[1:]):
        if override := _OVERRIDE.fullmatch(word.text):
            if word.literal and _is_hydra_group(override["group"], ctx):
                yield word, override["value"].strip("'\"")
        elif flag := _FLAG.fullmatch(word.text):
            value, holder = (flag["value"], word) if flag["value"] is not None else (after.text if after else "", after)
            if holder and holder.literal and value and _reaches_trainer(flag["option"], launch, ctx):
                yield holder, value


def defaults(call: ast.Call, ctx: PythonContext) -> Iterator[tuple[ast.expr, object]]:
    """The default of an option that the same file hands to a Trainer: `add_argument("--precision", default=16)`."""
    default = keyword(call, "default")
    if default is None or not isinstance(call.func, ast.Attribute) or call.func.attr != "add_argument":
        return
    dest = literal(given) if (given := keyword(call, "dest")) else None
    for name in map(literal, call.args):
        if dest is None and isinstance(name, str) and name.startswith("--"):
            dest = name[2:].replace("-", "_")
    value = literal(default)
    if dest in options_handed_on(ctx.path, ctx) and isinstance(value, (str, int, float)):
        yield default, value


def _reaches_trainer(option: str, launch: Launch | None, ctx: FileContext) -> bool:
    if _CLI_OPTION.fullmatch(option):
        return bool(ctx.index.search(ctx.path, (b"LightningCLI",)))
    program = program_of(launch, ctx) if launch else None
    return program is not None and option.replace("-", "_") in options_handed_on(program, ctx)


def options_handed_on(path: str, ctx: FileContext) -> frozenset[str]:
    """The command line options that a file hands to a Trainer or Fabric as its precision, as they were given."""
    text, facts = ctx.index.text(path), ctx.index.facts(path)
    if text is None or facts is None or not {"parse_args", "parse_known_args"} & facts.called:
        return frozenset()
    found = {"precision"} if "from_argparse_args" in facts.called and ctx.target("lightning") else set()
    for setting in facts.settings:
        precision = setting.call.keywords.get("precision")
        if precision and precision.dotted and "." in precision.dotted and not precision.call:
            means = ctx.index.resolve(path, setting.call.dotted or "")
            if means and means <= _TRAINER:
                found.add(precision.dotted.rpartition(".")[2])
    return frozenset(name for name in found if not re.search(rf"\.{re.escape(name)}\s*=(?!=)", text))


def _is_hydra_group(name: str, ctx: FileContext) -> bool:
    """Whether what stands below `name` in the project's configurations becomes a Trainer or Fabric."""
    if any(f".{'.'.join(keys)}".endswith(f".{name}") for keys in handed_on(ctx)):
        return True
    root = ctx.index.root(ctx.path)
    return name in ctx.index.recall((_hydra_groups, root), lambda: frozenset(_hydra_groups(ctx.path, ctx.index)))


def _hydra_groups(path: str, index: Index) -> Iterator[str]:
    """What the configurations in the project of `path` call the tables that become a Trainer or Fabric."""
    for found in index.search(path, (b"_target_",), suffixes=(".yaml", ".yml")):
        config = index.document(found)
        if not isinstance(config, Config):
            continue
        for table in config_owners.trainer_tables(config, index):
            if table.entry("_target_"):
                folder = posixpath.basename(posixpath.dirname(found))
                yield folder if table in config.roots else config.label(table)
