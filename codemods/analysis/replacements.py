"""Who replaces what a library defines: `torch.no_grad = …`, `setattr(Trainer, "fit", …)`, `patch.object(…)`.

A rule knows what a library does as it was released. A program that puts something else under one of its names may do
anything there.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from codemods.analysis.calls import given, literal
from codemods.analysis.mentions import are_connected, are_started_together, definers, importers, is_run_with
from codemods.analysis.python_context import PythonContext
from codemods.analysis.values import possible_values
from codemods.flow.answers import Answer, question, unknown, unless
from codemods.model.edits import Evidence
from codemods.project.index import Ref
from codemods.sources import files
from codemods.syntax.facts import dotted
from codemods.syntax.module import FUNCTIONS, own

_SETTERS = ("setattr", "__setattr__", "patch", "modules", "globals", "vars", "__dict__", "__path__", "import_module")
_CONFIGURATIONS = ("torch.backends.", "torch._dynamo.config.", "torch._inductor.config.", "torch.multiprocessing.")
"""Attributes that are there to be set."""
_PUTTING = ("setdefault", "update", "__setitem__")
"""Methods of a dictionary that put something there: of `sys.modules`, of `vars(transformers)`."""
_BUILDING = ("__init__", "__new__", "__call__")
"""Methods by which a class may be given other arguments than are written."""
_PATCHERS = {"unsloth": frozenset({"transformers", "trl", "peft"})}
"""Libraries that replace parts of others when they are imported, and whose parts."""
_IMPORTING = frozenset({"importlib.import_module"})
_IMPORTERS = ("meta_path", "path_hooks")
"""Lists of `sys`, by which a program gives another module than is asked for."""
_LIBRARIES = frozenset(
    {"torch", "lightning", "pytorch_lightning", "lightning_fabric", "accelerate", "transformers", "peft", "trl"}
)
_NAMED = re.compile(rf"""["'](?:{"|".join(sorted(_LIBRARIES))})(?:\.\w+)+["']""")
"""The name of a library's part as a text."""
_SET_IN_A_CELL = re.compile(rf"""(?<![\w.])(?:{"|".join(sorted(_LIBRARIES))})(?:\.\w+)+ = """)
"""A statement that sets a library's part, in the text of a notebook."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """A place that puts something else under a name of a library."""

    names: frozenset[str]
    """All that the name is made of, as it is written and as it is defined."""
    shown: Evidence
    last: str = ""
    """The last part of the name: what a program calls; of a module all of it."""
    is_any: bool = False
    """Whether the last part of the name is not in sight."""
    is_own: bool = False
    """Whether it is a name of the module that replaces it."""


@question
def library_is_as_released(ctx: PythonContext, *words: str) -> Answer:
    """Whether nothing in the program replaces what a library defines under some names, or a part of it."""
    if (patched := _patched_by_another(ctx) or _patched_by_a_notebook(ctx)) is not None:
        return unknown(patched)
    wanted = frozenset(words)
    asked = tuple(word.encode() for word in (*words, *_SETTERS, *_IMPORTERS))
    paths = tuple(dict.fromkeys((*ctx.index.search(ctx.path, asked), *ctx.index.replacing(ctx.path))))
    elsewhere = ctx.index.recall((library_is_as_released, wanted, paths), lambda: [*_in_files(ctx, paths, wanted)])
    found = elsewhere if ctx.path in paths else [*elsewhere, *_in_files(ctx, (ctx.path,), wanted)]
    libraries = {each.target.partition(".")[0] for each in ctx.facts.imports} & _LIBRARIES - {"torch"}
    return unless(
        each.shown
        for path, each in found
        if are_connected(ctx.index, ctx.path, path)
        if (each.is_any and (_imports_from(ctx, path) if each.is_own else _run_together(ctx, path)))
        or not each.names.isdisjoint(wanted | libraries)
        or _uses(ctx, each.last)
    )


def _uses(ctx: PythonContext, replaced: str) -> bool:
    """Whether a file calls something of that name, or imports the module of that name or something of it."""
    if "." not in replaced:
        return replaced in ctx.facts.called
    return any(f"{each.target}.".startswith(f"{replaced}.") for each in ctx.facts.imports)


def _in_files(ctx: PythonContext, paths: Iterable[str], words: frozenset[str]) -> Iterator[tuple[str, Replacement]]:
    """What some files replace that may be of some names, whoever asks."""
    for path in paths:
        if _may_replace(ctx, path, words):
            found = _replacements(ctx, path)
            yield from ((path, each) for each in found if each.is_any or each.last or each.names & words)


def _patched_by_another(ctx: PythonContext) -> Evidence | None:
    """Where the program imports a library that replaces parts of the ones that a file imports (`beside_unsloth`)."""
    for patcher, libraries in _PATCHERS.items():
        if not any(each.target.partition(".")[0] in libraries for each in ctx.facts.imports):
            continue
        for path in ctx.index.using(ctx.path, (patcher,)):
            facts = ctx.index.facts(path)
            for each in facts.imports if facts is not None and are_connected(ctx.index, ctx.path, path) else ():
                if each.target.partition(".")[0] == patcher:
                    return Evidence(path, each.line, f"`{patcher}` replaces parts of the library")
        if (named := _imported_by_text(ctx, patcher)) is not None:
            return named
    return None


def _imported_by_text(ctx: PythonContext, module: str) -> Evidence | None:
    """Where the program imports a module by its name as a text (`unsloth_by_text`)."""
    for path in ctx.index.search(ctx.path, tuple(f"{quote}{module}".encode() for quote in "'\"")):
        there = ctx.other(path) if are_connected(ctx.index, ctx.path, path) else None
        for text in there.all(ast.Constant) if there is not None else ():
            if there is not None and isinstance(text.value, str) and text.value.partition(".")[0] == module:
                if isinstance(there.parent(text), ast.Call):
                    return there.evidence(text, f"`{module}` replaces parts of the library")
    return None


def _patched_by_a_notebook(ctx: PythonContext) -> Evidence | None:
    """Where a notebook that runs other files replaces a part of a library first (`run_by_a_notebook`)."""
    if files.container(ctx.path).endswith(files.NOTEBOOK):
        return None
    for path in ctx.index.search(ctx.path, (b"exec(", b"runpy", b"%run"), suffixes=(files.NOTEBOOK,)):
        text = ctx.index.text(path) or ""
        if (found := _SET_IN_A_CELL.search(text)) is not None:
            return Evidence(path, text.count("\n", 0, found.start()) + 1, "a part of a library is replaced")
    return None


def _imports_from(ctx: PythonContext, path: str) -> bool:
    """Whether a file imports names from a module."""
    targets = (name for each in ctx.facts.imports for name in (each.target, each.target.rpartition(".")[0]))
    return path == ctx.path or any(ctx.index.module(ctx.path, name) == path for name in targets if name)


def _run_together(ctx: PythonContext, path: str) -> bool:
    """Whether some file in sight imports both, or one runs before the other (`computed_names_of_a_package`).

    What may replace anything elsewhere says nothing of this file.
    """
    mine, others = importers(ctx.index, ctx.path), importers(ctx.index, path)
    together = is_run_with(others, mine) or are_started_together(ctx.index, mine, others)
    return path == ctx.path or not mine.isdisjoint(others) or together


@question
def nobody_overrides(ctx: PythonContext, classes: frozenset[str], method: str) -> Answer:
    """Whether no class of the program has another method of this name than the library's classes that it extends.

    What is annotated as a library's class may be one of these (raw-backward-beside-fabric/subclass_elsewhere).
    """
    return unless(_overrides(ctx, classes, method))


@question
def is_no_stand_in(ctx: PythonContext, receiver: str, place: ast.AST, classes: frozenset[str]) -> Answer:
    """Whether no class of the program that is none of some library's has the methods which a function calls on a name.

    An annotation is no promise: who trains on one process is given an object that does nothing (`stand_in`).
    """
    scope = ctx.scope(place)
    if not isinstance(scope, FUNCTIONS) or receiver not in ctx.parameter_names(scope):
        return unless(())
    calls = (node for node in own(scope) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute))
    asked = {call.func.attr for call in calls if ctx.name(call.func.value) == receiver}  # type: ignore[attr-defined]
    asked -= {"backward"}
    found = list(definers(ctx, *sorted(asked))) if asked else []
    others: dict[tuple[str, str, int], set[str]] = {}
    for path, klass, method in found:
        if not ctx.index.lineage(Ref(path, klass.name)).external & classes:
            others.setdefault((path, klass.name, klass.line), set()).add(method)
    return unless(
        Evidence(path, line, f"`{name}` may be what `{receiver}` is")
        for (path, name, line), methods in others.items()
        if methods == asked
    )


def _overrides(ctx: PythonContext, classes: frozenset[str], method: str) -> Iterator[Evidence]:
    for path in ctx.index.search(ctx.path, (method.encode(),)):
        facts = ctx.index.facts(path)
        for name, klass in facts.classes.items() if facts is not None else ():
            if method in klass.methods and ctx.index.lineage(Ref(path, name)).external & classes:
                yield Evidence(path, klass.methods[method].line, f"`{name}` does something else")


def _may_replace(ctx: PythonContext, path: str, words: frozenset[str]) -> bool:
    facts = ctx.index.facts(path)
    if facts is None or not facts.imports:
        return False
    if path in ctx.index.replacing(ctx.path) or not facts.called.isdisjoint(_SETTERS):
        return True
    if not facts.mentioned.isdisjoint({*words, *_SETTERS, *_IMPORTERS}):
        return True
    if any(word in facts.loads for word in words):  # `TrainingArguments.__init__ = …` (constructor_is_replaced)
        return True
    return _NAMED.search(ctx.index.text(path) or "") is not None


def _replacements(ctx: PythonContext, path: str) -> tuple[Replacement, ...]:
    """All of a file, found once for whoever asks."""

    def found() -> tuple[Replacement, ...]:
        other = ctx.other(path)
        return tuple(_of_a_file(other)) if other is not None else ()

    return ctx.index.recall((_replacements, path), found)


def _of_a_file(ctx: PythonContext) -> Iterator[Replacement]:
    for node in ctx.all(ast.Assign):
        targets = [part for each in node.targets for part in (each.elts if isinstance(each, ast.Tuple) else [each])]
        for target in targets if not _is_plain(node.value) else ():
            if dotted(target) in ("builtins.print", "__builtin__.print"):  # so that one process prints
                continue
            if isinstance(target, ast.Attribute) and (dotted(target) or isinstance(target.value, ast.Call)):
                yield from _replacement(ctx, node, target.value, target.attr)
                if target.attr in _BUILDING and _is_taken_by_name(ctx, target.value):
                    shown = ctx.evidence(node, f"`{ctx.written(target)}` is replaced")
                    yield Replacement(frozenset({target.attr}), shown, is_any=True)
            if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Subscript):
                yield from _of_a_module_by_name(ctx, node, target.value, target.attr)
            if isinstance(target, ast.Subscript) and _is_globals(target.value):
                named, shown = literal(target.slice), ctx.evidence(node, "a name of this module is bound here")
                is_any = named is ... or any(ctx.facts.named(str(named)))  # (an_import_bound_anew)
                yield Replacement(frozenset({"globals"}), shown, is_any=is_any, is_own=True)
            if isinstance(target, ast.Subscript) and (owner := _namespace_of(target.value)) is not None:
                yield from _replacement(ctx, node, owner, literal(target.slice))
            if isinstance(target, ast.Subscript) and ctx.means(target.value, "sys.modules"):
                name = literal(target.slice)
                parts = name.split(".") if isinstance(name, str) else ["…"]
                if parts[0] in _LIBRARIES or parts == ["…"]:
                    shown = ctx.evidence(node, "a module is replaced")
                    yield Replacement(frozenset(parts), shown, ".".join(parts), is_any=len(parts) == 1)
    for modules in ctx.all(ast.Attribute):  # `sys.modules.setdefault(name, module)` (module_is_put_in)
        if ctx.means(modules, "sys.modules") and getattr(ctx.parent(modules), "attr", "") in _PUTTING:
            yield Replacement(frozenset({"modules"}), ctx.evidence(modules, "a module is replaced"), is_any=True)
    for path in ctx.all(ast.Attribute):  # where modules of a package are looked for (a law: "in its path")
        if path.attr == "__path__" and any(each.partition(".")[0] in _LIBRARIES for each in ctx.origin(path.value)):
            shown = ctx.evidence(path, f"modules of `{ctx.written(path.value)}` may be others")
            yield Replacement(frozenset({"__path__"}), shown, is_any=True)
    for finders in ctx.all(ast.Attribute):
        if finders.attr in _IMPORTERS and ctx.means(finders, f"sys.{finders.attr}"):
            shown = ctx.evidence(finders, "any module may be another one")
            yield Replacement(frozenset({finders.attr}), shown, is_any=True)
    for call in ctx.all(ast.Call):
        yield from _named_by_text(ctx, call)
        if isinstance(call.func, ast.Attribute) and call.func.attr in _PUTTING and _is_globals(call.func.value):
            shown = ctx.evidence(call, "names of this module are bound here")
            yield Replacement(frozenset({"globals"}), shown, is_any=True, is_own=True)
        match call.func, call.args:
            case ast.Attribute(value=names, attr=method), args if (
                method in _PUTTING and (owner := _namespace_of(names)) is not None
            ):
                named = literal(args[0]) if args and method != "update" else ...
                yield from _replacement(ctx, call, owner, named)
            case ast.Attribute(attr="setitem"), [names, name, _] if (owner := _namespace_of(names)) is not None:
                yield from _replacement(ctx, call, owner, literal(name))
            case _, [ast.Name() | ast.Attribute() as owner, ast.Constant(value=str(name))] if _decorates(ctx, call):
                yield from _replacement(ctx, call, owner, name)
            case ast.Name(id="setattr"), [owner, name, value] if not _is_plain(value):
                yield from _replacement(ctx, call, owner, literal(name))
                if isinstance(owner, ast.Subscript) and ctx.means(owner.value, "sys.modules"):
                    yield Replacement(frozenset({"modules"}), ctx.evidence(call, "a module is changed"), is_any=True)
                if literal(name) in _BUILDING and not ctx.origin(owner):
                    shown = ctx.evidence(call, f"`{ctx.written(owner)}.{literal(name)}` is replaced")
                    yield Replacement(frozenset({str(literal(name))}), shown, is_any=True)
            case ast.Attribute(attr="object" | "setattr" | "__setattr__"), [owner, name, _, *_]:
                yield from _replacement(ctx, call, owner, literal(name))
            case ((ast.Name(id="patch") | ast.Attribute(attr="patch")), [ast.Constant(value=str() as text), *_]):
                library, *rest = text.split(".")
                if rest and library in _LIBRARIES:
                    shown = ctx.evidence(call, f"`{text}` is replaced")
                    yield Replacement(frozenset({library, *rest}), shown, rest[-1])


def _of_a_module_by_name(
    ctx: PythonContext, node: ast.stmt, module: ast.Subscript, attribute: str
) -> Iterator[Replacement]:
    """What is put into a module that is asked for by its name (a law: "of a module by its name").

    `sys.modules["torch.cuda.amp"].autocast = …`
    """
    name = literal(module.slice)
    if not ctx.means(module.value, "sys.modules"):
        return
    parts = name.split(".") if isinstance(name, str) else ["…"]
    if parts[0] in _LIBRARIES or parts == ["…"]:
        shown = ctx.evidence(node, f"`{ctx.written(module)}.{attribute}` is replaced")
        yield Replacement(frozenset({*parts, attribute}), shown, attribute, is_any=parts == ["…"])


def _decorates(ctx: PythonContext, call: ast.Call) -> bool:
    return call in getattr(ctx.parent(call), "decorator_list", ())


def _named_by_text(ctx: PythonContext, call: ast.Call) -> Iterator[Replacement]:
    """What a function replaces, or wraps, that is given a part of a library as texts (`wrapped_by_text`).

    `@wrapt.patch_function_wrapper("lightning.pytorch.trainer.trainer", "Trainer.__init__")`
    """
    texts = [each.value for each in call.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    parts = texts[0].split(".") if texts else []
    if len(texts) < 2 or parts[0] not in _LIBRARIES or not all(map(str.isidentifier, ".".join(texts).split("."))):
        return
    names = {part for text in texts for part in text.split(".")}
    yield Replacement(frozenset(names), ctx.evidence(call, f"`{'.'.join(texts)}` may be replaced"))


def _modules(ctx: PythonContext, owner: ast.expr) -> frozenset[str]:
    """What a variable holds that is bound to a module or a class of a library (`patched_by_another_name`), a parameter
    that is given one, and a module that is asked for by name.
    """
    found: set[str] = set()
    for value in possible_values(ctx, owner, given=given)[0] if isinstance(owner, ast.Name | ast.Call) else ():
        match value.node:
            case ast.Name() | ast.Attribute() if value.node is not owner:
                found |= value.ctx.origin(value.node)
            case ast.Call(func=func, args=[ast.Constant(value=str(name)), *_]) if value.ctx.means(func, _IMPORTING):
                found.add(name)
    return frozenset(found)


def _is_some_module(ctx: PythonContext, owner: ast.expr) -> bool:
    """Whether it is a module that is asked for by what only a run tells (a law: "of a module by a given name")."""
    for each in possible_values(ctx, owner)[0]:
        match each.node:
            case ast.Call(func=func, args=[name, *_]) if each.ctx.means(func, _IMPORTING) and not each.path:
                return literal(name) is ...
    return False


def _is_taken_by_name(ctx: PythonContext, owner: ast.expr) -> bool:
    """Whether a variable may hold any class: `getattr(lr_scheduler, name)` (`installed_by_name`), or what a function is
    given (`installed_by_a_function`).
    """
    values = possible_values(ctx, owner)[0] if isinstance(owner, ast.Name) else ()
    calls = (each for each in values if isinstance(each.node, ast.Call) and each.ctx.name(each.node.func) == "getattr")
    return _is_given(ctx, owner) or any(calls)


def _is_given(ctx: PythonContext, owner: ast.expr) -> bool:
    scope = ctx.function(owner)
    method = ctx.method(owner)
    taken = ctx.parameter_names(scope) if scope is not None else set()
    return isinstance(owner, ast.Name) and owner.id in taken and (method is None or owner.id != method.self)


def _namespace_of(node: ast.expr) -> ast.expr | None:
    """Of which module or class something is the dictionary of names: `transformers.__dict__`, `vars(transformers)`."""
    match node:
        case ast.Attribute(value=owner, attr="__dict__"):
            return owner
        case ast.Call(func=ast.Name(id="vars"), args=[owner]):
            return owner
    return None


def _is_globals(node: ast.expr) -> bool:
    named = ("globals", "vars", "locals")
    return isinstance(node, ast.Call) and not node.args and isinstance(node.func, ast.Name) and node.func.id in named


def _is_plain(value: ast.expr) -> bool:
    """Whether a value is a number or a flag: a setting, and no other code."""
    return isinstance(value, (ast.Constant, ast.UnaryOp, ast.Compare))


def _replacement(
    ctx: PythonContext, node: ast.expr | ast.stmt, owner: ast.expr, attribute: object
) -> Iterator[Replacement]:
    """What is put under an attribute, if that is one of a library."""
    origins = ctx.origin(owner) or _modules(ctx, owner)
    name = attribute if isinstance(attribute, str) else "…"
    if not origins and _is_some_module(ctx, owner):
        shown = ctx.evidence(node, f"`{name}` of some module is replaced")
        yield Replacement(frozenset({name}), shown, last=name, is_any=name in ("…", *_BUILDING))
    settings = any(f"{origin}.{name}".startswith(_CONFIGURATIONS) for origin in origins)
    if not origins or settings or any(":" in origin for origin in origins):
        return
    parts = [part for each in (*origins, dotted(owner) or "") for part in each.split(".")]
    shown = ctx.evidence(node, f"`{ast.unparse(owner)}.{name}` is replaced")
    yield Replacement(frozenset({name, *parts}), shown, last=name, is_any=name in ("…", *_BUILDING))
