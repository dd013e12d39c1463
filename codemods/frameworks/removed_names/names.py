"""Attributes, methods and imports that a library no longer has."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from codemods.analysis.class_building import heirs_are_as_written, set_by_name
from codemods.analysis.mentions import definers, mentions, stores
from codemods.analysis.python_context import PythonContext
from codemods.flow.answers import Answer, question, unless
from codemods.frameworks.autocast.version_tests import version_tested
from codemods.frameworks.removed_names.drafts import PACKAGES, finding, repair
from codemods.frameworks.removed_names.own_uses import OwnUse, uses
from codemods.frameworks.removed_names.owners import instance_of, of_class
from codemods.frameworks.removed_names.tables import RemovedName, as_one, last_names, of_rule
from codemods.model.edits import Evidence, Need
from codemods.model.names import TORCH_MODULE, canonical
from codemods.project.index import Ref
from codemods.rules.rule import Draft, Remedy, Rule
from codemods.sources import files
from codemods.syntax.module import parameters
from codemods.syntax.verbs import Verb, delete, drop, edit_call, insert_before
from codemods.syntax.verbs import replace as replaced

_MAKING = frozenset({"setattr", "add_module", "register_module", "register_buffer", "register_parameter"})


def old_attributes(rule: Rule, node: ast.Attribute, ctx: PythonContext) -> Iterator[Draft]:
    """An attribute or a method that objects of a class no longer have, with the arguments that go with it."""
    table = of_rule(rule.code, "attribute")
    if node.attr not in table or isinstance(node.ctx, ast.Del):
        return
    is_set = isinstance(node.ctx, ast.Store)
    owners, own = of_class(ctx, node) if ctx.origin(node) else instance_of(ctx, node.value)
    row = next((table[node.attr][owner] for owner in owners if owner in table[node.attr]), None)
    if row is None or version_tested(ctx, node, row.library):
        return
    if row.stored is not is_set and row.place != "argument":
        return
    own_attribute = () if row.stored else (next(ctx.index.assigned(ref, node.attr), None) for ref in own)
    if any(ctx.index.method(ref, node.attr) for ref in own) or any(own_attribute):
        return  # a class of the project has an attribute of that name itself
    verbs: list[Verb] = []
    if row.kind == "rename" and row.values is None and row.below is None:
        new, call = f"{ctx.operand(node.value)}.{row.new}", ctx.parent(node)
        if isinstance(call, ast.Call) and call.func is node:
            arguments = of_rule(rule.code, "argument")
            named: dict[ast.expr | ast.keyword, str] = {
                each: renamed[f"{row.owner}.{row.old}"].new
                for each in call.keywords
                if (renamed := arguments.get(each.arg or "", {})) and f"{row.owner}.{row.old}" in renamed
            }
            # what `**` gives may have the old names of arguments that are renamed, too (handed_on)
            spread = any(each.arg is None for each in call.keywords) and any(
                f"{row.owner}.{row.old}" in owners for owners in arguments.values()
            )
            verbs = [] if spread else [edit_call(call, function=new, named=named)]
        else:
            verbs = [replaced(node, new)]
    unset = nobody_sets_it(ctx, node.attr) & no_attribute_is_made_by_name(ctx, own) & is_no_field(ctx, node.attr)
    unset &= no_class_answers(ctx) & heirs_are_as_written(ctx, row.owner)
    if row.place == "attribute" and not unset.is_yes:
        verbs = []  # what is put there keeps its name (an_override)
    if row.place == "argument" and uses(ctx.index, ctx.path, node.attr) & {OwnUse.KEY, OwnUse.OPTION, OwnUse.FIELD}:
        verbs = []  # what gives it its value keeps its name (fed_by_a_file)
    if node.attr in of_rule(rule.code, "argument") and any(_passes_on(ctx, ref, node.attr) for ref in own):
        verbs = []  # who makes one may give it by the old name (a_constructor)
    remedy = repair(row, verbs, ctx) if verbs else None
    if row.stored:
        what = row.was or "cannot be set"
        said = f"`{row.old}` of `{row.owner.rpartition('.')[2]}` {what} since {row.library} {row.gone}"
        yield from finding(rule, row, node, ctx, None, message=f"{said}. {row.decide.rstrip('.')}")
    elif is_set:  # a new attribute, which nobody reads
        yield from finding(rule, replace(row, silent=True), node, ctx, remedy, (stored_for_nobody(ctx, node),))
    else:
        yield from finding(rule, row, node, ctx, remedy, (unset,))


def _passes_on(ctx: PythonContext, ref: Ref, name: str) -> bool:
    """Whether a class of the project takes an argument with others, under `**`, and hands it on as it is called."""
    for each in ctx.index.lineage(ref).refs:
        there = ctx.other(each.path)
        found = there.definition(f"{each.name}.__init__") if there is not None else None
        if found is not None:
            return found[1].args.kwarg is not None and all(arg.arg != name for arg in parameters(found[1]))
    return False


@question
def no_attribute_is_made_by_name(ctx: PythonContext, own: Sequence[Ref]) -> Answer:
    """Whether no class of the project makes attributes whose names only a run can tell (`made_by_name`)."""
    places = [place for ref in dict.fromkeys(own) for place in set_by_name(ctx, ref)]
    return unless((*_made_by_name(ctx, own), *places))


@question
def no_class_answers(ctx: PythonContext) -> Answer:
    """Whether no class of the program, modules apart, answers for attributes that objects lack (`answered`)."""
    return unless(
        Evidence(path, klass.methods[method].line, f"`{klass.name}` may answer for any attribute")
        for path, klass, method in definers(ctx, "__getattr__", "__getattribute__")
        if ctx.index.descends(Ref(path, klass.name), TORCH_MODULE) is not True
    )


def _made_by_name(ctx: PythonContext, own: Sequence[Ref]) -> Iterator[Evidence]:
    for ref in dict.fromkeys(each for klass in own for each in ctx.index.lineage(klass).refs):
        there = ctx.other(ref.path)
        for klass in there.classes(ref.name) if there is not None else ():
            for call in (node for node in ast.walk(klass) if isinstance(node, ast.Call)):
                assert there is not None
                last = (there.name(call.func) or "").rpartition(".")[2]
                if last in _MAKING and not any(isinstance(each, ast.Constant) for each in call.args[:2]):
                    yield there.evidence(call, f"`{klass.name}` may make any attribute here")
            for node in (each for each in ast.walk(klass) if isinstance(each, ast.Subscript)):  # put_under_a_name
                stored = isinstance(node.ctx, ast.Store) and getattr(node.value, "attr", "") == "__dict__"
                if there is not None and stored and not isinstance(node.slice, ast.Constant):
                    yield there.evidence(node, f"`{klass.name}` may make any attribute here")


@question
def nobody_sets_it(ctx: PythonContext, name: str) -> Answer:
    """Whether nothing in the project gives an object an attribute, or a method, of this name (`of_a_mixin`).

    A library may import a class by a text: `auto_map` in the configuration of a model (`loaded_by_a_library`).
    """
    set_here = (each.evidence(f"`{name}` may be set here") for each in stores(ctx, name) if each.word == name)
    defined = (
        Evidence(path, klass.methods[name].line, f"`{klass.name}` has its own")
        for path in ctx.index.search(ctx.path, (f"def {name}".encode(),))
        if (facts := ctx.index.facts(path)) is not None
        for klass in facts.classes.values()
        if name in klass.methods
    )
    return unless([*set_here, *defined])


_MAKERS = frozenset({"make_dataclass", "type", "create_model", "new_class"})
"""What makes a class of fields that are named by texts."""
_DOUBLES = frozenset({"SimpleNamespace", "Namespace", "Mock", "MagicMock", "namedtuple"})
"""What makes an object of fields that are named by keywords, as for a test."""


@question
def is_no_field(ctx: PythonContext, name: str) -> Answer:
    """Whether nothing of the program is made by a call that names such a field (`made_fields`, `double_of_a_test`)."""
    found = ctx.index.search(ctx.path, (name.encode(),))
    programs = (there for path in found if (there := ctx.other(path)) is not None)
    return unless(
        there.evidence(call, f"`{name}` may be a field")
        for there in programs
        if not there.facts.called.isdisjoint(_MAKERS | _DOUBLES)
        for call in there.all(ast.Call)
        if _has_a_field(there, call, name)
    )


def _has_a_field(ctx: PythonContext, call: ast.Call, name: str) -> bool:
    made = (ctx.name(call.func) or "").rpartition(".")[2]
    if made in _DOUBLES and any(each.arg == name for each in call.keywords):
        return True
    return made in _MAKERS and any(isinstance(each, ast.Constant) and each.value == name for each in ast.walk(call))


@question
def stored_for_nobody(ctx: PythonContext, stored: ast.Attribute) -> Answer:
    """Whether nothing in the program reads what is stored under an old name, also by a text (`a_note`)."""
    return unless(
        each.evidence(f"`{stored.attr}` may be read here")
        for each in mentions(ctx, stored.attr)
        if isinstance(each.node, ast.Constant)
        or (isinstance(each.node, ast.Attribute) and isinstance(each.node.ctx, ast.Load))
    )


def old_imports(rule: Rule, statement: ast.ImportFrom, ctx: PythonContext) -> Iterator[Draft]:
    """The names in `from … import …` that a library no longer has there."""
    table = of_rule(rule.code, "name")
    if statement.level or not statement.module or ctx.enclosing(statement, ast.Try) is not None:
        return
    for alias in statement.names:
        row = table.get(as_one(f"{statement.module}.{alias.name}"), {}).get("")
        module = None if row is not None else _gone_module(table, as_one(statement.module))
        row = row or module
        bound = alias.asname or alias.name
        if row is None or version_tested(ctx, statement, row.library):
            continue
        if any(i.conditional or i.type_checking for i in ctx.facts.named(bound)):
            continue
        if any(":" in origin for origin in ctx.index.imported(ctx.path, bound)):
            continue  # a module of the project of that name
        if not _is_used(row, statement.module, ctx):
            continue
        verbs = _import(row, statement, alias, ctx) if row.kind == "rename" and module is None else []
        shown = row.spelled(statement.module.partition(".")[0])
        yield from finding(rule, shown, alias, ctx, _repair(shown, verbs, ctx) if verbs else None)


def _repair(row: RemovedName, verbs: Sequence[Verb], ctx: PythonContext) -> Remedy:
    return replace(repair(row, verbs, ctx), is_right=[nothing_lost_is_used(ctx, row), name_is_not_read(ctx)])


@question
def name_is_not_read(ctx: PythonContext) -> Answer:
    """Whether a file asks no class for its own name, which a rename changes (`keys_of_a_table`)."""
    return unless(
        ctx.evidence(node, f"`{ctx.written(node)}` may be another name then")
        for node in ctx.all(ast.Attribute)
        if node.attr in ("__name__", "__qualname__")
    )


def _is_used(row: RemovedName, name: str, ctx: PythonContext) -> bool:
    """Whether the project uses the library of a row that speaks of what another library had (`of_the_hub_alone`)."""
    packages = PACKAGES.get(row.library, (row.library,))
    return name.partition(".")[0] in packages or any(ctx.index.using(ctx.path, packages))


def _gone_module(table: Mapping[str, Mapping[str, RemovedName]], module: str) -> RemovedName | None:
    """The row of a module, or of a package around it, that a library no longer has."""
    while module and module not in table:
        module = module.rpartition(".")[0]
    return table.get(module, {}).get("")


def _import(row: RemovedName, statement: ast.ImportFrom, alias: ast.alias, ctx: PythonContext) -> Sequence[Verb]:
    """The import of the new name in the place of the old one, and the new name where the old one is used."""
    module, _, name = row.spelled(str(statement.module).partition(".")[0]).new.rpartition(".")
    bound = alias.asname or alias.name
    others = ctx.index.imported_elsewhere(ctx.path, bound) or _is_a_text(ctx, bound)
    loads = (n for n in ctx.all(ast.Name) if n.id == bound and isinstance(n.ctx, ast.Load))
    mine = [each for each in loads if canonical(row.old) in ctx.origin(each)]
    others = others or not mine  # it is there for others (handed_on_by_a_star)
    if any(_may_take_others(row, ctx, each) for each in mine) or (others and row.takes is not None):
        return []
    kept = alias.asname or (alias.name if name == alias.name else "")
    uses: list[Verb] = []
    if not kept:
        taken = any(ctx.facts.named(name)) or name in ctx.facts.rebound or alias.name in ctx.facts.exports
        if taken or others:
            kept = alias.name
        elif any(_tells_kinds_apart(ctx, each) for each in mine):
            return []
        else:
            uses = [replaced(each, name) for each in mine]
    shown = f"{name} as {kept}" if kept and kept != name else name
    new = insert_before(statement, f"from {module} import {shown}")
    return [new, drop(alias) if len(statement.names) > 1 else delete(statement), *uses]


def _is_a_text(ctx: PythonContext, name: str) -> bool:
    """Whether code of the project has a name as a text, by which `getattr` may ask for it (`asked_for_by_text`)."""
    return bool(ctx.index.search(ctx.path, (f'"{name}"'.encode(), f"'{name}'".encode())))


def _tells_kinds_apart(ctx: PythonContext, node: ast.expr) -> bool:
    """Whether a name tells objects of a class from others: the new class may be that of the others (`told_apart`)."""
    match ctx.parent(node):
        case ast.Call(func=func) if ctx.name(func) in ("isinstance", "issubclass") and func is not node:
            return True
        case ast.Tuple() as several if isinstance(call := ctx.parent(several), ast.Call):
            return ctx.name(call.func) in ("isinstance", "issubclass")
        case ast.Compare():
            return True
    return False


def _may_take_others(row: RemovedName, ctx: PythonContext, node: ast.expr) -> bool:
    """Whether a name is that of another function, which may take other arguments than a call gives it.

    Those that its row does not list (`other_arguments`); of any function the ones behind the first, by position
    (`in_another_order`). Whoever is given the function may call it with any (`handed_on`).
    """
    call = ctx.parent(node)
    new = row.new.rpartition(".")[2]
    is_a_class = new[:1].isupper()
    if not isinstance(call, ast.Call) or call.func is not node:
        return row.takes is not None and not ctx.annotates(node) and not _tells_kinds_apart(ctx, node)
    if row.takes is None:
        return new != row.old.rpartition(".")[2] and not is_a_class and len(call.args) > 1
    first = 1 if row.takes and not is_a_class else 0
    return len(call.args) > first or any(each.arg not in row.takes for each in call.keywords)


@question
def nothing_lost_is_used(ctx: PythonContext, row: RemovedName) -> Answer:
    """Whether the program names none of the arguments and members that the new class is without (`a_lost_member`)."""
    return unless((*_lost(ctx, row), *_extending(ctx, row), *_told_by_name(ctx, row)))


def _told_by_name(ctx: PythonContext, row: RemovedName) -> Iterator[Evidence]:
    """The texts that hold the name of a class which has another one now: `type(x).__name__` (`told_by_its_name`)."""
    old = row.old.rpartition(".")[2]
    if not old[:1].isupper() or old == row.new.rpartition(".")[2]:
        return
    for quoted in (f'"{old}"', f"'{old}'"):
        for path in ctx.index.search(ctx.path, (quoted.encode(),)):
            yield ctx.shown_in(path, quoted, f"`{old}` is a text here")
    for path in ctx.index.holding("", (old.encode(),), ("",)):
        if not files.is_python(path):  # a saved configuration
            yield ctx.shown_in(path, old, f"`{old}` is a text here")


def _extending(ctx: PythonContext, row: RemovedName) -> Iterator[Evidence]:
    """The classes that extend one which has another name now: it may have other members (`extended`)."""
    if row.new.rpartition(".")[2] == row.old.rpartition(".")[2]:
        return
    for klass in ctx.all(ast.ClassDef):
        for base in klass.bases:
            if canonical(row.old) in ctx.origin(base):
                yield ctx.evidence(base, f"`{klass.name}` may use what the new class does not have")


def _lost(ctx: PythonContext, row: RemovedName) -> Iterator[Evidence]:
    for path in ctx.index.search(ctx.path, tuple(word.encode() for word in row.without)) if row.without else ():
        there = ctx.index.syntax(path)
        for node in () if there is None else there.all(ast.Attribute, ast.keyword, ast.Constant):
            match node:
                case ast.Attribute(attr=word) | ast.keyword(arg=str(word)) | ast.Constant(value=str(word)):
                    if word in row.without:
                        yield Evidence(path, node.lineno, f"`{word}` is gone with the old name")


def old_names(rule: Rule, node: ast.Attribute, ctx: PythonContext) -> Iterator[Draft]:
    """A dotted name, `pl.utilities.seed.seed_everything`, that a library no longer has."""
    table = of_rule(rule.code, "name")
    if node.attr not in last_names(rule.code) or not isinstance(node.ctx, ast.Load) or len(ctx.origin(node)) != 1:
        return
    row = table.get(_written(ctx, node), {}).get("")
    if row is None or version_tested(ctx, node, row.library) or not _is_used(row, row.old, ctx):
        return
    above = ctx.parent(node)
    if isinstance(above, ast.Attribute) and _written(ctx, above) in table:
        return
    head = (ctx.name(node) or "").partition(".")[0]
    package = next((each.target for each in ctx.facts.named(head)), "")
    shown = row.spelled(package.partition(".")[0])
    yield from finding(rule, shown, node, ctx, _other_name(shown, node, head, package, ctx))


def _written(ctx: PythonContext, node: ast.Attribute) -> str:
    """A dotted name with what its head is imported as: a canonical name does not tell the old place from the new."""
    head, _, rest = (ctx.name(node) or "").partition(".")
    targets = {each.target for each in ctx.facts.named(head)}
    return as_one(f"{targets.pop()}.{rest}") if len(targets) == 1 else ""


def _other_name(row: RemovedName, node: ast.Attribute, head: str, package: str, ctx: PythonContext) -> Remedy | None:
    """The new name, by the same import where it reaches the name (`pl.loggers.Logger`), else by another one."""
    if row.kind != "rename" or _may_take_others(row, ctx, node) or _tells_kinds_apart(ctx, node):
        return None
    if row.library == "lightning" and package:
        # `ctx.spell` would import the other distribution (pytorch_lightning_alias)
        reached = row.new.startswith(f"{package}.") and package in ("pytorch_lightning", "lightning.pytorch")
        return _repair(row, [replaced(node, f"{head}{row.new.removeprefix(package)}")], ctx) if reached else None
    spelled = ctx.spell(row.new, at=node)
    if spelled is None:
        return None
    module, need = row.new.rpartition(".")[0], spelled.need
    if need is None and "." in module and spelled.code == row.new:
        need = Need(module, scope=ctx.scope_name(node))  # `import trl` does not load `trl.experimental.orpo`
    return replace(_repair(row, [replaced(node, spelled.code)], ctx), needs=[need] if need is not None else [])
