"""A name that the newer release no longer has, at a place of which nobody can tell whose it is.

## Why is this bad?
An upgrade that lists what is left has to list all of it. A keyword of a call through a variable, a key of a dictionary
that statements fill, of a YAML file that plain code reads, an attribute of an object that a function hands on, a method
of a class with unknown bases: the name speaks for an old argument of the library, and nothing in the project has a use
of its own for it.

    TypeError: TrainingArguments.__init__() got an unexpected keyword argument 'evaluation_strategy'

Found by `fixer upgrade` only, and possible only. Beside these, an import of what a module once defined and the newest
release no longer has, a member that the objects of a library's class once had, and an argument that it once took,
where no table says what became of it; an environment variable that it no longer reads, and a setting of generation in
a model's configuration, which Transformers 5 refuses, or an id of a token, which `generate` no longer reads there; a
class of models that lost a base, or that lists its tied weights; a class method that is called on an object; the name
of a file that is no longer written; `--local_rank`, which torch's launcher spells with a dash. Of an import, and where
the class is known, that is certain.

## Fix safety
There is none: who takes the name is not known.

## When it is not offered
For names that mean something else elsewhere (`gpus`, `tokenizer`), except in a call of the project's class that
descends from the owner, of a method with the owner's name, or beside another old name of the same owner. Nothing is
said where the project has a parameter, a field, an option of that name, or reads an item or an attribute that is called
so: then it is the project's own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.python_context import PythonContext
from codemods.frameworks.removed_names import gone, tables, unresolved
from codemods.model.edits import Consequence, Safety
from codemods.model.effect import Effect
from codemods.rules.file_context import FileContext
from codemods.rules.rule import Draft, Rule
from codemods.sources.config import Config
from codemods.sources.shell import Command
from codemods.syntax.module import Function

_WORDS = {*tables.rows_of("argument"), *tables.rows_of("attribute"), *tables.rows_of("hook"), *tables.rows_of("name")}
_LIBRARIES = {*tables.LISTED, "pytorch_lightning"}
_SETTINGS = {*tables.generation_settings(), *tables.unread_switches(), *tables.token_ids()}
_OTHERS = {"environ", "PreTrainedModel", "dataloader_idx", "Trainer", "add_argument", "bin", "load_from_checkpoint"}
_ASKED = _WORDS | _LIBRARIES | _SETTINGS | _OTHERS

rule = Rule(
    code="VER009",
    name="unresolved-removed-name",
    summary="this may be a name that the newer release no longer has",
    fix_title="Use the name of the newer release",
    safety=Safety.DISPLAY,
    consequence=Consequence.RAISES,
    effect=Effect.NUMBERS,
    triggers=(tuple(sorted(word for word in _ASKED if word.isidentifier() and len(word) > 2)),),
    imports=tuple(sorted({row.library for row in tables.rows()} | {"pytorch_lightning"})),
    elsewhere=tuple(sorted(word.encode() for word in tables.rows_of("argument"))),
    upgrading=True,
    references=("https://github.com/huggingface/transformers/blob/main/MIGRATION_GUIDE_V5.md",),
)


@rule.on(ast.Call)
def argument(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    yield from unresolved.unresolved_arguments(rule, call, ctx)
    yield from gone.gone_arguments(rule, call, ctx)
    yield from gone.shifted_arguments(rule, call, ctx)
    yield from gone.dashed_rank(rule, call, ctx)
    yield from gone.called_on_an_object(rule, call, ctx)
    yield from gone.scripts_of_data(rule, call, ctx)


@rule.on(ast.Dict)
def key(written: ast.Dict, ctx: PythonContext) -> Iterator[Draft]:
    yield from unresolved.unresolved_keys(rule, written, ctx)


@rule.on(ast.Subscript)
def item(node: ast.Subscript, ctx: PythonContext) -> Iterator[Draft]:
    yield from unresolved.unresolved_items(rule, node, ctx)
    yield from gone.gone_variables(rule, node, ctx)


@rule.on(ast.Attribute)
def attribute(node: ast.Attribute, ctx: PythonContext) -> Iterator[Draft]:
    yield from unresolved.unresolved_attributes(rule, node, ctx)
    yield from gone.gone_members(rule, node, ctx)
    yield from gone.generation_settings(rule, node, ctx)
    yield from gone.unread_switches(rule, node, ctx)
    yield from gone.token_ids(rule, node, ctx)


@rule.on(ast.AnnAssign)
def field(node: ast.AnnAssign, ctx: PythonContext) -> Iterator[Draft]:
    yield from unresolved.unresolved_fields(rule, node, ctx)


@rule.on(ast.Constant)
def file(text: ast.Constant, ctx: PythonContext) -> Iterator[Draft]:
    yield from unresolved.unresolved_files(rule, text, ctx)


@rule.on(ast.FunctionDef, ast.AsyncFunctionDef)
def hook(function: Function, ctx: PythonContext) -> Iterator[Draft]:
    yield from unresolved.unresolved_hooks(rule, function, ctx)
    yield from gone.optional_parameters(rule, function, ctx)
    yield from gone.callback_tokenizers(rule, function, ctx)


@rule.on(ast.ClassDef)
def base(klass: ast.ClassDef, ctx: PythonContext) -> Iterator[Draft]:
    yield from gone.lost_bases(rule, klass, ctx)
    yield from gone.unended_constructors(rule, klass, ctx)
    yield from gone.listed_ties(rule, klass, ctx)


@rule.on(ast.ImportFrom)
def imported(statement: ast.ImportFrom, ctx: PythonContext) -> Iterator[Draft]:
    yield from gone.gone_imports(rule, statement, ctx)


@rule.on(ast.Name)
def starred(node: ast.Name, ctx: PythonContext) -> Iterator[Draft]:
    yield from unresolved.unresolved_names(rule, node, ctx)


@rule.on(Config)
def setting(config: Config, ctx: FileContext) -> Iterator[Draft]:
    yield from unresolved.unresolved_settings(rule, config, ctx)


@rule.on(Command)
def flag(command: Command, ctx: FileContext) -> Iterator[Draft]:
    yield from unresolved.unresolved_flags(rule, command, ctx)
