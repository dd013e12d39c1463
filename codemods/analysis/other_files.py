"""What code of other files may have to do with what happens in a file."""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Iterable, Iterator

from codemods.analysis.acting import acting, methods_of
from codemods.analysis.places import file_of, where_imported
from codemods.analysis.python_context import PythonContext
from codemods.analysis.unfollowed import is_of_an_end
from codemods.flow.answers import Answer, question, unless
from codemods.model.computed import Computed
from codemods.model.edits import Evidence
from codemods.project.index import Index
from codemods.syntax.facts import Import, Unknown


@question
def other_files_leave_it_alone(
    ctx: PythonContext, known: frozenset[str] = frozenset(), computed: Computed = Computed.ALL
) -> Answer:
    """Whether what a file uses of other files of the project only computes, and nothing acts where it is used.

    What a function of another file does with an optimizer, a loss or a scaler is not followed to its end: it may step,
    divide or raise, or give an object that was made otherwise. Who calls from there may go on after an error.
    """
    key = (other_files_leave_it_alone, known, computed)
    if key not in ctx.memo:
        ctx.memo[key] = unless((*_used(ctx, known, computed), *_users(ctx, known, computed)))
    found: Answer = ctx.memo[key]
    return found


def _used(ctx: PythonContext, known: frozenset[str], computed: Computed) -> Iterator[Evidence]:
    """What the file imports from the project and acts, each where it is defined, if that is a class or a function."""
    for each in ctx.facts.imports:
        module = file_of(ctx.index, ctx.path, each)
        if module is None or module == ctx.path or each.type_checking:
            continue
        functions = started = None
        if isinstance(module, str) and computed is not Computed.ALL:
            functions, started = _behind(ctx, each, module), _started(ctx, module)
        if functions is not None and started is not None:
            acts = acting(ctx, [*functions, *started], known=known, sizes=bool(computed), outside=ctx.path)
            if (place := next(acts, None)) is not None:
                yield place
            continue
        yield where_imported(ctx, each, f"`{each.target.rpartition('.')[2]}` may take part")


def _behind(ctx: PythonContext, each: Import, module: str) -> list[tuple[PythonContext, ast.AST]] | None:
    """The functions that an import gives to a file; None where that cannot be told."""
    there = ctx.other(module)
    if there is None:
        return None
    names = [*there.facts.functions, *there.facts.classes]
    if each.name == "*":
        return _functions(ctx, [f"{module}:{name}" for name in names])
    if ctx.index.module(ctx.path, each.target) == module:  # the module itself: what is asked of it
        return _functions(ctx, [f"{module}:{name}" for name in names if name in ctx.facts.mentioned])
    origin = ctx.index.resolve(ctx.path, each.name)
    if len(origin) != 1:
        return None
    return _functions(ctx, list(origin))


def _functions(ctx: PythonContext, origins: Iterable[str]) -> list[tuple[PythonContext, ast.AST]] | None:
    found: list[tuple[PythonContext, ast.AST]] = []
    for origin in origins:
        path, inside, name = origin.partition(":")
        there = ctx.other(path) if inside else None
        if there is None:
            return None
        if (function := there.definition(name)) is not None:
            found.append(function)
        elif there.classes(name):
            methods = methods_of(ctx, origin)
            if methods is None:
                return None
            found += [*methods, *((there, each) for each in there.classes(name))]
        else:
            given = there.facts.assignments.get(name, ())
            if not given or not all(isinstance(each.value.literal, (int, float, str)) for each in given):
                return None
    return found


def _started(ctx: PythonContext, module: str) -> list[tuple[PythonContext, ast.AST]] | None:
    """The files that run where one is imported, those that it imports included; None where one cannot be read."""
    paths = _loaded(ctx.index, module)
    programs = [ctx.other(path) for path in sorted(paths) if path != ctx.path] if paths is not None else [None]
    known = [each for each in programs if each is not None]
    return [(each, each.module.tree) for each in known] if len(known) == len(programs) else None


def _loaded(index: Index, module: str) -> frozenset[str] | None:
    """The files of the project that the import of one loads, itself included; None where that cannot be told."""

    def found() -> frozenset[str] | None:
        seen, waiting = set[str](), [module]
        while waiting:
            path = waiting.pop()
            if path in seen:
                continue
            seen.add(path)
            taken = _imported(index, path)
            if taken is None:
                return None
            waiting += taken
        return frozenset(seen)

    return index.recall((_loaded, module), found)


def _imported(index: Index, path: str) -> tuple[str, ...] | None:
    """The files of the project that a file imports, and the package that it lies in; None where one is not found."""

    def found() -> tuple[str, ...] | None:
        facts = index.facts(path)
        above = posixpath.dirname(posixpath.dirname(path) if path.endswith("/__init__.py") else path)
        package = posixpath.join(above, "__init__.py")
        files: list[str | Unknown | None] = [package if index.exists(package) else None]
        files += [file_of(index, path, each) for each in facts.imports if not each.type_checking] if facts else []
        if facts is None or any(each is not None and not isinstance(each, str) for each in files):
            return None
        return tuple(dict.fromkeys(each for each in files if isinstance(each, str)))

    return index.recall((_imported, path), found)


def is_taken_by(ctx: PythonContext, path: str) -> bool:
    """Whether a file imports another one of the project, or may do so, directly or by way of others."""
    loaded = _loaded(ctx.index, ctx.path)
    return loaded is None or path in loaded


def _users(ctx: PythonContext, known: frozenset[str], computed: Computed) -> Iterator[Evidence]:
    """The files that import this one and act themselves, each where it does."""
    seen, waiting = {ctx.path}, [ctx.path]
    while waiting:
        used = waiting.pop()
        for path in ctx.index.importing(used):
            facts = ctx.index.facts(path) if path not in seen else None
            each = next((i for i in facts.imports if file_of(ctx.index, path, i) == used), None) if facts else None
            if each is None:
                continue
            seen.add(path)
            waiting.append(path)
            there = ctx.other(path)
            if there is None or computed is Computed.ALL:
                yield Evidence(path, each.line, "what stands in this file may be used here")
            elif place := next(_acts_on_it(ctx, there, known, computed), None):
                yield place


def _acts_on_it(
    ctx: PythonContext, there: PythonContext, known: frozenset[str], computed: Computed
) -> Iterator[Evidence]:
    for node in there.all(ast.Try):
        if not all(is_of_an_end(there, handler) for handler in node.handlers):
            yield there.evidence(node, "an error may be caught here")
    statements = [(there, each) for each in there.module.tree.body]
    yield from acting(ctx, statements, known=known, sizes=bool(computed), outside=ctx.path)
