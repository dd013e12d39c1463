"""A key of a configuration file that no release of the program reads, and that is spelled like one that it reads.

## Why is this bad?
axolotl ignores the key without a word, and trains without what it asks for. LLaMA-Factory and Accelerate refuse the
file:

    ValueError: Some keys are not used by the HfArgumentParser: ['learning_rat']
    ValueError: The config file at train.yaml had unknown keys (['mixed_precison'])

The keys are those of all published releases, so that an older or a newer one reads no other.

## Fix safety
Unsafe: `nearest` writes the key that is spelled most alike. The value takes effect then, which changes the run.

## When it is not offered
Where the right key is there, too. Nothing is said of keys that are like no other, which may be those of a fork or a
plugin, of keys that a Python file of the project names, of keys of axolotl without a value, and of files that nobody is
sure to read.
"""

from __future__ import annotations

import difflib
import posixpath
import re
from collections.abc import Iterator

from codemods.flow.answers import Answer, question, unknown, unless
from codemods.frameworks.config_owners import ACCELERATE, AXOLOTL, LLAMA_FACTORY, is_interpolated, owner
from codemods.frameworks.removed_names.tables import known_keys
from codemods.model.edits import Consequence, Safety
from codemods.model.effect import Effect
from codemods.rules.file_context import FileContext
from codemods.rules.rule import Draft, Rule
from codemods.sources import files
from codemods.sources.config import Config, Key, Pair, Scalar, Table, plain

rule = Rule(
    code="HF021",
    name="unread-configuration-key",
    summary="no release of the program reads this key",
    fix_title="Write the key that is spelled most alike",
    safety=Safety.UNSAFE,
    consequence=Consequence.SILENT,
    effect=Effect.NUMBERS,
    elsewhere=(b"model_name_or_path", b"base_model", b"compute_environment"),
    errors=("had unknown keys (", "Some keys are not used by the HfArgumentParser:"),
    references=("https://github.com/hiyouga/LLaMA-Factory/issues/7927",),
)
_TESTED = frozenset({"test", "tests", "testdata", "fixtures"})
_STARTS = re.compile(r"\b(?:axolotl|llamafactory-cli|accelerate|torchrun|python3?)\b[^|>]*\s\S*\.\w+[^|>]*$")
LIKE = 0.86
"""How much of two keys must be the same, from 0 to 1, for one to be taken for the other."""


@rule.on(Config)
def unread_key(config: Config, ctx: FileContext) -> Iterator[Draft]:
    program = owner(config, ctx.index)
    if program not in (LLAMA_FACTORY, AXOLOTL, ACCELERATE):
        return
    known = known_keys(program)
    for table in (root for root in config.roots if isinstance(root, Table)):
        for entry in table.entries:
            key = entry.key.value
            if isinstance(key, Key) or not isinstance(key, str) or key in known or not key.isidentifier():
                continue
            if program == AXOLOTL and isinstance(entry.value, Scalar) and entry.value.value is None:
                continue  # it asks for nothing (empty)
            near = next(iter(difflib.get_close_matches(key, known, n=1, cutoff=LIKE)), None)
            if near is None or ctx.index.search(ctx.path, (key.encode(),), suffixes=(".py",)):
                continue
            there = any(each.key.value == near for each in table.entries)
            fixed = not there and not is_interpolated(entry.value)
            yield rule.finding(
                entry.key,
                is_bug=[
                    no_plugin_adds_keys(ctx, table),
                    no_other_program_reads(ctx, entry.key, key, there),
                    is_started_as_it_is(ctx, entry.key),
                ],
                fix={entry: Pair(near, plain(entry.value))} if fixed else None,
                message=f"no release of {program} reads `{key}`: `{near}`?",
                title=f"Write `{near}`",
                consequence=Consequence.SILENT if program == AXOLOTL else Consequence.RAISES,
            )


@question
def no_other_program_reads(ctx: FileContext, place: Scalar, key: str, beside: bool) -> Answer:
    """Whether a key can only be meant for the program: nobody else names it (`read_by_a_shell_script`).

    Beside the key that it is like, it holds what others take (`anchors`).
    """
    if _TESTED & {*ctx.path.split("/")[:-1]}:  # a file that has to be refused
        return unknown(ctx.shown_at(place.start, "a test may read this"))
    if beside:
        return unknown(ctx.shown_at(place.start, "the key that is spelled most alike is there, too"))
    others = (path for path in ctx.index.holding("", (key.encode(),), ("",)) if path != ctx.path)
    return unless(ctx.shown_in(path, key, f"`{key}` may be read here") for path in others)


@question
def is_started_as_it_is(ctx: FileContext, place: Scalar) -> Answer:
    """Whether no script of the project gives the file to another program first (`prepared`)."""
    name = posixpath.basename(ctx.path)
    scripts = ctx.index.holding("", (name.encode(),), (*files.SHELL, "Makefile"))
    lines = ((path, line) for path in scripts for line in (ctx.index.text(path) or "").splitlines() if name in line)
    return unless(
        ctx.shown_in(path, line, "this may make another file of it") for path, line in lines if not _STARTS.search(line)
    )


@question
def no_plugin_adds_keys(ctx: FileContext, table: Table) -> Answer:
    """Whether a configuration loads no plugin, which may read keys of its own (`of_a_plugin`)."""
    return unless(
        ctx.shown_at(each.key.start, "a plugin may read it")
        for each in table.entries
        if each.key.value == "plugins" and not (isinstance(each.value, Scalar) and each.value.value is None)
    )
