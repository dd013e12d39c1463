"""What code of other files may have to do with what happens in a file."""

from __future__ import annotations

from collections.abc import Iterator

from codemods.analysis.python_context import PythonContext
from codemods.flow.answers import Answer, question, unless
from codemods.model.edits import Evidence
from codemods.project.index import Index
from codemods.syntax.facts import Import, Unknown


@question
def nothing_is_in_another_file(ctx: PythonContext) -> Answer:
    """Whether a file neither uses code of another file of the project, nor is used by one.

    What a function of another file does with an optimizer, a loss or a scaler is not followed to its end: it may step,
    divide or raise, or give an object that was made otherwise. Who calls from there may go on after an error.
    """
    key = (nothing_is_in_another_file,)
    if key not in ctx.memo:
        ctx.memo[key] = unless((*_used(ctx), *_users(ctx)))
    found: Answer = ctx.memo[key]
    return found


def _used(ctx: PythonContext) -> Iterator[Evidence]:
    """What the file imports from the project, each where it is defined, if that is a class or a function."""
    for each in ctx.facts.imports:
        module = file_of(ctx.index, ctx.path, each)
        if module is None or module == ctx.path or each.type_checking:
            continue
        name = each.target.rpartition(".")[2]
        facts = ctx.index.facts(module) if isinstance(module, str) else None
        found = (facts.classes.get(name) or facts.functions.get(name)) if facts is not None else None
        path, line = (str(module), found.line) if found is not None else (ctx.path, each.line)
        yield Evidence(path, line, f"`{name}` may take part")


def _users(ctx: PythonContext) -> Iterator[Evidence]:
    """The files that import this one, each where it does."""
    for path in ctx.index.importing(ctx.path):
        facts = ctx.index.facts(path) if path != ctx.path else None
        for each in facts.imports if facts is not None else ():
            if file_of(ctx.index, path, each) == ctx.path:
                yield Evidence(path, each.line, "what stands in this file may be used here")
                break


def file_of(index: Index, importer: str, each: Import) -> str | Unknown | None:
    """The file of the project that an import takes, or takes a name from."""
    owner = each.target.rpartition(".")[0]
    found = [index.module(importer, name) for name in (each.target, owner) if name]
    return next((path for path in found if isinstance(path, str)), next((path for path in found if path), None))
