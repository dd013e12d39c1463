"""Old names of which nobody can tell who takes them: what speaks for them is the name alone, and that nothing in the
project has a use of its own for it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import replace

from codemods.analysis.calls import given, keyword, literal
from codemods.analysis.python_context import PythonContext, program
from codemods.analysis.values import possible_values
from codemods.flow.answers import unknown
from codemods.frameworks.autocast.version_tests import version_tested
from codemods.frameworks.config_owners import owner
from codemods.frameworks.launches import program_of
from codemods.frameworks.removed_names import tables
from codemods.frameworks.removed_names.arguments import says_nothing
from codemods.frameworks.removed_names.command_lines import flags, parsed
from codemods.frameworks.removed_names.drafts import PACKAGES, finding
from codemods.frameworks.removed_names.own_uses import OwnUse, uses
from codemods.frameworks.removed_names.owners import instance_of, meant, of_class, owners_of
from codemods.frameworks.removed_names.tables import RemovedName
from codemods.model.edits import Evidence
from codemods.project import ranges
from codemods.project.index import Ref
from codemods.rules.file_context import FileContext
from codemods.rules.rule import Draft, Rule
from codemods.sources.config import Array, Config, Table, Value
from codemods.sources.shell import Command, launched
from codemods.syntax.module import Function, parameters

_NO_HOOKS = frozenset({"torch", "object", "abc", "typing", "builtins", "enum", "transformers", "accelerate", "peft"})
"""Packages whose classes have no hooks of Lightning's."""
_TRAINER = "lightning.pytorch.Trainer"
_PARSING = ("from_argparse_args", "add_argparse_args")
"""What made a parser of the Trainer's arguments, and a Trainer of what it had parsed."""
_UNKNOWN = "what takes `{}` here is not known"


def unresolved_arguments(rule: Rule, call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    """The old arguments of a call that may be a library's."""
    given = [each for each in call.keywords if each.arg is not None and _carried(ctx, each.arg)]
    if not given or owners_of(ctx, call) or version_tested(ctx, call, _carried(ctx, str(given[0].arg))[0].library):
        return
    likely = _likely_owners(ctx, call)
    for each in given:
        name = str(each.arg)
        found = _carried(ctx, name)
        row = next((row for row in found if row.owner in likely), None)
        if row is None and name in tables.telling() and not _is_another(ctx, call):
            row = None if uses(ctx.index, ctx.path, name) & {OwnUse.PARAMETER, OwnUse.FIELD} else found[0]
        if row is None or (row.harmless and says_nothing(row, each.value)) or _is_anothers(ctx, row):
            continue
        if not _takes_itself(ctx, call, name):
            yield from _finding(rule, row, each, ctx, ctx.evidence(call, _UNKNOWN.format(name)))


def unresolved_keys(rule: Rule, written: ast.Dict, ctx: PythonContext) -> Iterator[Draft]:
    """The old keys of a literal dictionary of which no call is known that it is spread into."""
    keys = {str(key.value): key for key in written.keys if isinstance(key, ast.Constant)}
    rows = _by_company(ctx, keys)
    if rows and written not in _spread(ctx):
        for name, row in rows.items():
            if not uses(ctx.index, ctx.path, name) & {OwnUse.READ, OwnUse.OPTION, OwnUse.FIELD}:
                yield from _finding(rule, row, keys[name], ctx, ctx.evidence(keys[name], _UNKNOWN.format(name)))


def unresolved_items(rule: Rule, item: ast.Subscript, ctx: PythonContext) -> Iterator[Draft]:
    """`settings["evaluation_strategy"] = …`."""
    if isinstance(item.slice, ast.Constant) and (row := _of_a_parsed_trainer(ctx, item, str(item.slice.value))):
        yield from _finding(rule, row, item, ctx, ctx.evidence(item, _UNKNOWN.format(item.slice.value)))
    elif isinstance(item.ctx, ast.Store) and isinstance(item.slice, ast.Constant):
        for name, row in _by_company(ctx, [str(item.slice.value)]).items():
            if not uses(ctx.index, ctx.path, name) & {OwnUse.READ, OwnUse.OPTION, OwnUse.FIELD}:
                yield from _finding(rule, row, item, ctx, ctx.evidence(item, _UNKNOWN.format(name)))


def unresolved_attributes(rule: Rule, node: ast.Attribute, ctx: PythonContext) -> Iterator[Draft]:
    """`arguments.evaluation_strategy` of an object that nobody knows."""
    row = _of_a_parsed_trainer(ctx, node, node.attr)
    if row is not None and not ctx.origin(node) and not instance_of(ctx, node.value)[0]:
        yield from _finding(rule, row, node, ctx, ctx.evidence(node, f"what has `{node.attr}` here is not known"))
        return
    if node.attr not in tables.telling():
        return
    arguments = [row for row in _carried(ctx, node.attr) if not _has_still(row)]
    if not (found := arguments or _carried(ctx, node.attr, "attribute")):
        return
    known = of_class(ctx, node) if ctx.origin(node) else instance_of(ctx, node.value)
    if known[0] or uses(ctx.index, ctx.path, node.attr) & {OwnUse.FIELD, OwnUse.OPTION, OwnUse.KEY}:
        return
    if not version_tested(ctx, node, found[0].library):
        yield from _finding(rule, found[0], node, ctx, ctx.evidence(node, f"what has `{node.attr}` here is not known"))


def _of_a_parsed_trainer(ctx: PythonContext, node: ast.expr, name: str) -> RemovedName | None:
    """The row of an argument of Lightning's Trainer, in a file that gives it what it parsed (`parsed_trainer`)."""
    holder = ctx.parent(node)
    given = holder.value if isinstance(holder, ast.Assign) else None
    rows = [*_carried(ctx, name), *_carried_values(ctx, name, given)]
    row = next((each for each in rows if each.owner == _TRAINER and not _has_still(each)), None)
    parsed = row is not None and any(each.attr in _PARSING and ctx.origin(each) for each in ctx.all(ast.Attribute))
    return row if row is not None and parsed and not version_tested(ctx, node, row.library) else None


def unresolved_fields(rule: Rule, field: ast.AnnAssign, ctx: PythonContext) -> Iterator[Draft]:
    """A field with the old name of an argument, in a class that extends the one whose argument it was."""
    klass = ctx.klass(field) if isinstance(ctx.parent(field), ast.ClassDef) else None
    if klass is None or not isinstance(field.target, ast.Name):
        return
    name = field.target.id
    old = [*_carried(ctx, name), *_carried_values(ctx, name, field.value)]
    row = next((each for each in old if each.owner in _above(ctx, klass)), None)
    if row is not None and not version_tested(ctx, field, row.library):
        doubt = ctx.evidence(field, f"`{name}` may be read by the project itself")
        yield from _finding(rule, row, field, ctx, doubt)


def unresolved_files(rule: Rule, text: ast.Constant, ctx: PythonContext) -> Iterator[Draft]:
    """The name of a file, or a path to it, that a library no longer writes."""
    name = text.value.rpartition("/")[2] if isinstance(text.value, str) else ""
    for row in _carried(ctx, name, "file"):
        asked = [each.specs for _, each in ctx.requirements(row.library)]
        if asked and all(ranges.every(specs, row.removed) for specs in asked):
            continue  # it was so before (`asked_for_already`)
        if any(ctx.index.using(ctx.path, (row.library,))) and not _names_the_new_one(ctx, row):
            said = f"`save_pretrained` writes `{row.new}` since {row.library} {row.gone}, and no `{row.old}`"
            doubt = unknown(ctx.evidence(text, f"who writes `{row.old}` is not known"))
            yield from finding(rule, row, text, ctx, None, (doubt,), message=f"{said}. {row.decide[:-1]}")


def _names_the_new_one(ctx: PythonContext, row: RemovedName) -> bool:
    """Whether a file names what is written now as well (`both_files`)."""
    return any(isinstance(each.value, str) and each.value.endswith(row.new) for each in ctx.all(ast.Constant))


def unresolved_hooks(rule: Rule, function: Function, ctx: PythonContext) -> Iterator[Draft]:
    """A method with the name of a hook that is no longer called, in a class whose bases are not all known."""
    klass = ctx.klass(function) if isinstance(ctx.parent(function), ast.ClassDef) else None
    rows = _carried(ctx, function.name, "hook") if function.name in tables.telling() else []
    if not rows or klass is None:
        return
    lineage, owners = ctx.index.lineage(klass), {row.owner for row in rows}
    if any(name in owners for base in lineage.external for name in meant(base)):
        return
    if not lineage.complete or any(base.partition(".")[0] not in _NO_HOOKS for base in lineage.external):
        evidence = ctx.evidence(function, f"what `{klass.name}` descends from is not known")
        yield from _finding(rule, rows[0], function, ctx, evidence)


def unresolved_names(rule: Rule, node: ast.Name, ctx: PythonContext) -> Iterator[Draft]:
    """A name that only a star import of a library may bind."""
    stars = [each.target for each in ctx.facts.named("*")]
    if not stars or not isinstance(node.ctx, ast.Load) or any(ctx.facts.named(node.id)) or node.id in ctx.facts.rebound:
        return
    rows = [row for row in _carried(ctx, node.id, "name") if any(row.old == f"{star}.{node.id}" for star in stars)]
    gone = (tables.gone_names().get(tables.as_one(f"{star}.{node.id}")) for star in stars)
    rows += [row for row in gone if row is not None and _is_carried_past(ctx, row)]
    if rows:
        yield from _finding(rule, rows[0], node, ctx, ctx.evidence(node, f"a star import may bind `{node.id}`"))


def unresolved_settings(rule: Rule, config: Config, ctx: FileContext) -> Iterator[Draft]:
    """The old keys of a configuration file that nobody is known to read."""
    if owner(config, ctx.index) is not None:
        return
    for table in _tables(config.roots):
        entries = {str(entry.key.value): entry for entry in table.entries}
        for name, row in _by_company(ctx, entries).items():
            if not ctx.index.using(ctx.path, PACKAGES.get(row.library, (row.library,))):
                continue
            if uses(ctx.index, ctx.path, name) & {OwnUse.READ, OwnUse.OPTION, OwnUse.FIELD}:
                continue
            key = entries[name].key
            yield from _finding(rule, row, key, ctx, ctx.shown_at(key.start, _UNKNOWN.format(name)))


def unresolved_flags(rule: Rule, command: Command, ctx: FileContext) -> Iterator[Draft]:
    """The old flags of a command whose program is not known to have an option of that name."""
    launch = launched(command)
    for word, name in flags(command.words if launch is None else launch.arguments):
        rows = _carried(ctx, name) if name in tables.telling() else []
        if not rows or uses(ctx.index, ctx.path, name) & {OwnUse.OPTION, OwnUse.FIELD, OwnUse.PARAMETER}:
            continue
        path = program_of(launch, ctx) if launch is not None else None
        there = program(ctx.index, path) if path is not None else None
        if there is None or not parsed(there)[0]:
            yield from _finding(rule, rows[0], word, ctx, ctx.shown_at(word.start, _UNKNOWN.format(name)))


def _finding(rule: Rule, row: RemovedName, node: object, ctx: FileContext, place: Evidence) -> Iterator[Draft]:
    for draft in finding(rule, row, node, ctx, None, (unknown(place),)):
        yield replace(draft, message=f"if it is {row.library}'s: {draft.message}")


def _carried(ctx: FileContext, name: str, place: str = "argument") -> list[RemovedName]:
    """The rows of an old name that the releases refuse to which the project is carried; what is renamed first."""
    found = [row for row in tables.rows_of(place).get(name, ()) if _is_carried_past(ctx, row)]
    return sorted(found, key=lambda row: row.kind != "rename")


def _is_carried_past(ctx: FileContext, row: RemovedName) -> bool:
    release = ctx.upgrade(row.library) if row.gone else None
    return release is not None and ranges.every((f"=={release}",), row.removed)


def _has_still(row: RemovedName) -> bool:
    """Whether objects of the owner have an attribute with the name of an argument that is gone."""
    return f"{row.owner}.{row.old}" == "lightning.pytorch.Trainer.checkpoint_callback"


def _carried_values(ctx: FileContext, name: str, value: ast.expr | None) -> list[RemovedName]:
    """The rows of an old value that a field of this name has, of itself or as `field(default=…)`."""
    if isinstance(value, ast.Call):
        value = keyword(value, "default")
    old = f"{name}={literal(value)}" if value is not None else ""
    return [row for row in _carried(ctx, name, "value") if row.old == old]


def _is_anothers(ctx: PythonContext, row: RemovedName) -> bool:
    """Whether the file uses a library of which a method of that name takes the argument (`of_an_adapter`)."""
    return any(each.target.partition(".")[0] in row.also for each in ctx.facts.imports)


def _by_company(ctx: FileContext, names: Iterable[str]) -> dict[str, RemovedName]:
    """Old keys among some: those that mean nothing else, and those that stand beside such a one of the same owner."""
    found = {name: rows for name in names if (rows := [row for row in _carried(ctx, name) if _is_a_setting(row)])}
    sure = {row.owner for name in found.keys() & tables.telling() for row in found[name]}
    chosen = {}
    for name, rows in found.items():
        beside = [row for row in rows if row.owner in sure]
        if beside:
            chosen[name] = beside[0]
    return chosen


def _is_a_setting(row: RemovedName) -> bool:
    """Whether it may be a key: trainers of Transformers and TRL are given models and data, which no file holds."""
    return row.library == "lightning" or not row.owner.endswith("Trainer")


def _likely_owners(ctx: PythonContext, call: ast.Call) -> frozenset[str]:
    """The owners in the tables that a call may be of: a class that descends from one and passes on what it is given, or
    a method of the same name of an object that nobody knows.
    """
    here = ctx.klass(call)
    match call.func:
        case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr="__init__") if here is not None:
            return _above(ctx, here)
        case ast.Attribute(attr=method) if not ctx.origin(call.func):
            return frozenset(row.owner for row in tables.rows() if row.owner.endswith(f".{method}"))
    # a class under another name, also one that a function is given (class_of_a_caller)
    found = [each for each in possible_values(ctx, call.func, given=given)[0] if not each.path]
    refs = [each.ctx.ref(each.node) for each in found if isinstance(each.node, ast.ClassDef)]
    refs += [Ref.of(origin) for origin in ctx.origin(call.func) if ":" in origin]
    return frozenset(name for ref in refs for name in _above(ctx, ref))


def _above(ctx: PythonContext, ref: Ref) -> frozenset[str]:
    return frozenset(name for base in ctx.index.lineage(ref).external for name in meant(base))


def _is_another(ctx: PythonContext, call: ast.Call) -> bool:
    """Whether a call is of something outside the project that the tables do not speak of."""
    origins = ctx.origin(call.func)
    return bool(origins) and all(":" not in origin for origin in origins)


def _takes_itself(ctx: PythonContext, call: ast.Call, name: str) -> bool:
    """Whether a function, a constructor or a field of the project that is called has the argument."""
    for path, _, qualified in (origin.partition(":") for origin in ctx.origin(call.func)):
        there = ctx.other(path) if qualified else None
        if there is not None and any(_has(found, name) for found in there.definitions(qualified)):
            return True
    return False


def _has(found: ast.ClassDef | Function, name: str) -> bool:
    if not isinstance(found, ast.ClassDef):
        return any(arg.arg == name for arg in parameters(found))
    for node in found.body:
        match node:
            case ast.FunctionDef(name="__init__") if _has(node, name):
                return True
            case ast.AnnAssign(target=ast.Name(id=field)) if field == name:
                return True
    return False


def _spread(ctx: PythonContext) -> set[ast.AST]:
    """The dictionaries that are spread into calls whose owners are known."""
    if (_spread,) not in ctx.memo:
        ctx.memo[(_spread,)] = {
            value.node
            for call in ctx.all(ast.Call)
            if any(each.arg is None for each in call.keywords) and owners_of(ctx, call)
            for each in call.keywords
            if each.arg is None
            for value in possible_values(ctx, each.value)[0]
        }
    known: set[ast.AST] = ctx.memo[(_spread,)]
    return known


def _tables(values: Iterable[Value]) -> Iterator[Table]:
    waiting = list(values)
    while waiting:
        match waiting.pop():
            case Table() as table:
                yield table
                waiting += [entry.value for entry in table.entries]
            case Array(items=items):
                waiting += items
