"""How a project uses a word itself that is an old name of a library, too: then a repair of one place is half of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from enum import Enum

from codemods.analysis.python_context import PythonContext, program
from codemods.frameworks.removed_names.owners import instance_of
from codemods.project.index import Index

_CONFIGURATION = (".yaml", ".yml", ".json", ".toml")


class OwnUse(Enum):
    """How the project uses a word itself."""

    PARAMETER = "a function of it has a parameter of that name"
    FIELD = "a class of it has a field, or an object an attribute, of that name"
    OPTION = "a call is given the word, or the flag: `add_argument`, `get`"
    READ = "code reads an attribute or an item of that name"
    KEY = "a configuration file has the key"


def uses(index: Index, path: str, word: str) -> set[OwnUse]:
    """How the project of a file uses a word itself."""

    def found() -> set[OwnUse]:
        holders = index.search(path, (word.encode(), word.replace("_", "-").encode()))
        contexts = (program(index, each) for each in holders)
        told = {use for ctx in contexts if ctx is not None for use in _in_file(ctx, word)}
        if configurations(index, path, word):
            told.add(OwnUse.KEY)
        return told

    return index.recall((uses, index.root(path), word), found)


def _in_file(ctx: PythonContext, word: str) -> Iterator[OwnUse]:
    spelled = (word, f"--{word}", f"--{word.replace('_', '-')}")
    for node in ctx.all(ast.arg, ast.AnnAssign, ast.Attribute, ast.Subscript, ast.Constant):
        match node:
            case ast.arg(arg=name) if name == word:
                yield OwnUse.PARAMETER
            case ast.AnnAssign(target=ast.Name(id=name)) if name == word and isinstance(ctx.parent(node), ast.ClassDef):
                yield OwnUse.FIELD
            case ast.Attribute(attr=name, value=receiver, ctx=how) if name == word:
                if not instance_of(ctx, receiver)[0]:  # else it is the library's, and is repaired there
                    yield OwnUse.READ if isinstance(how, ast.Load) else OwnUse.FIELD
            case ast.Subscript(slice=ast.Constant(value=name), ctx=ast.Load()) if name == word:
                yield OwnUse.READ
            case ast.Constant(value=text) if text in spelled and isinstance(ctx.parent(node), ast.Call):
                yield OwnUse.OPTION


def configurations(index: Index, path: str, word: str) -> tuple[str, ...]:
    """The configuration files of the project that hold a word."""
    return index.search(path, (word.encode(),), suffixes=_CONFIGURATION)
