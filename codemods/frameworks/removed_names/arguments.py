"""Arguments, and values of arguments, that a library no longer takes."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from codemods.analysis.calls import keyword, literal
from codemods.analysis.mentions import definers, mentions, read_by_computed_names
from codemods.analysis.python_context import PythonContext
from codemods.analysis.searched_texts import looked_for
from codemods.flow.answers import Answer, question, unknown, unless, yes
from codemods.frameworks.autocast.version_tests import version_tested
from codemods.frameworks.removed_names.dictionaries import FILLING, Holder, may_hold, names_of_keys, readers, written
from codemods.frameworks.removed_names.drafts import finding, repair
from codemods.frameworks.removed_names.owners import own_classes, owners_of
from codemods.frameworks.removed_names.tables import RemovedName, by_position, is_field, of_rule, values_by_position
from codemods.model.edits import Evidence
from codemods.rules.rule import Draft, Remedy, Rule
from codemods.syntax.verbs import Verb, drop, edit_call
from codemods.syntax.verbs import replace as replaced


def old_arguments(rule: Rule, call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    """The arguments of a call, given by keyword, by position or in a dictionary, that its owner no longer takes."""
    table = of_rule(rule.code, "argument")
    given = [*_by_keyword(call, table), *_by_position(call, rule.code)]
    spread = any(each.arg is None for each in call.keywords) and not names_of_keys(ctx).isdisjoint(table)
    if not given and not spread:
        return
    owners = owners_of(ctx, call)
    if not owners:
        return
    for each in (*given, *(_spread(call, ctx, table) if spread else ())):
        row = next((table[each.name][owner] for owner in owners if owner in table[each.name]), None)
        if row is not None and (_has_a_row(rule, row, each.value) or _asks_for_the_same(ctx, row, each.value)):
            continue
        if row is not None and not version_tested(ctx, call, row.library) and _takes_position(row, each):
            is_bug = (
                *each.is_bug,
                only_the_library_takes_it(ctx, call, each.name),
                says_something(ctx, row, each.value),
            )
            yield from finding(rule, row, each.node, ctx, _argument_remedy(row, each, ctx), is_bug)


def _has_a_row(rule: Rule, row: RemovedName, value: ast.expr) -> bool:
    """Whether a value of an argument has a row of its own (`slow_tokenizer`)."""
    return row.owner in of_rule(rule.code, "value").get(f"{row.old}={literal(value)}", {})


def _asks_for_the_same(ctx: PythonContext, row: RemovedName, value: ast.expr) -> bool:
    """Whether an ignored argument asks for what is done anyhow: `use_fast=True` (`slow_tokenizer`).

    What nobody knows is told by `fixer upgrade` (`tokenizer_by_a_flag`).
    """
    if row.kind != "decision" or not row.harmless:
        return False
    held = literal(value)
    return row.is_harmless(held) if held is not ... else ctx.upgrade(row.library) is None


@question
def says_something(ctx: PythonContext, row: RemovedName, value: ast.expr) -> Answer:
    """Whether an argument that is ignored surely asks for something else than what is done (`tokenizer_by_a_flag`)."""
    if not row.silent or not row.harmless or literal(value) is not ...:
        return yes()
    return unknown(ctx.evidence(value, f"`{row.old}` may be {row.harmless[0]} here, which is what is done"))


@question
def only_the_library_takes_it(ctx: PythonContext, call: ast.Call, name: str) -> Answer:
    """Whether no class of the project that a call is of so much as names an argument (`a_field_of_a_subclass`)."""
    return unless(_named_by_classes(ctx, call, name))


def _named_by_classes(ctx: PythonContext, call: ast.Call, name: str) -> Iterator[Evidence]:
    yield from _beside_another_base(ctx, call)
    for ref in own_classes(ctx, call):
        there = ctx.other(ref.path)
        for klass in there.classes(ref.name) if there is not None else ():
            assert there is not None
            for decorator in klass.decorator_list:
                func = decorator.func if isinstance(decorator, ast.Call) else decorator
                if not there.means(func, "dataclasses.dataclass"):  # given_another_constructor
                    yield there.evidence(decorator, f"this may give `{klass.name}` another constructor")
            for given in klass.keywords:
                if given.arg == "metaclass":  # called_by_a_metaclass
                    yield there.evidence(given.value, f"this may give `{klass.name}` another constructor")
            for node in ast.walk(klass):
                match node:
                    case ast.Name(id=word) | ast.Attribute(attr=word) | ast.arg(arg=word) | ast.Constant(value=word):
                        if word == name and not there.module.contains(call, node):
                            yield Evidence(ref.path, node.lineno, f"`{klass.name}` may take `{name}` itself")


def _beside_another_base(ctx: PythonContext, call: ast.Call) -> Iterator[Evidence]:
    """The classes of several bases in which `super()` may be another one than where it stands (`beside_a_sibling`)."""
    func = call.func.value if isinstance(call.func, ast.Attribute) else None
    here = ctx.klass(call) if isinstance(func, ast.Call) and ctx.name(func.func) == "super" else None
    for heir in ctx.index.subclasses(here) if here is not None else ():
        klass = ctx.index.klass(heir)
        if klass is not None and len(klass.bases) > 1:
            yield Evidence(heir.path, klass.line, f"`super()` may be another class in `{heir.name}`")


@dataclass(frozen=True, slots=True)
class _Given:
    """An argument with an old name."""

    name: str
    node: ast.keyword | ast.expr
    """What a finding points at, and what a fix changes: a keyword, a value by position, or the key of a dictionary."""
    value: ast.expr
    call: ast.Call
    position: int | None = None
    is_bug: tuple[Answer, ...] = ()
    holder: Holder | None = None
    """What holds it in a dictionary."""
    beside: frozenset[str] = frozenset()
    """The arguments that the dictionaries of the call hold."""


def _by_keyword(call: ast.Call, table: Mapping[str, Mapping[str, RemovedName]]) -> Iterator[_Given]:
    for each in call.keywords:
        if each.arg is not None and each.arg in table:
            yield _Given(each.arg, each, each.value, call)


def _by_position(call: ast.Call, code: str) -> Iterator[_Given]:
    for name, position in by_position(code):
        if position < len(call.args) and not any(isinstance(a, ast.Starred) for a in call.args[: position + 1]):
            yield _Given(name, call.args[position], call.args[position], call, position)


def _takes_position(row: RemovedName, given: _Given) -> bool:
    return given.position is None or given.position == row.position


def _spread(call: ast.Call, ctx: PythonContext, table: Mapping[str, Mapping[str, RemovedName]]) -> Iterator[_Given]:
    """The old arguments that the dictionaries hold which `**` spreads into a call."""
    held = [pair for each in call.keywords if each.arg is None for pair in written(ctx, each.value)]
    beside = frozenset(each.name for each, _ in held)
    for each, answer in held:
        if each.name in table:
            yield _Given(each.name, each.node, each.value, call, None, (answer,), each.holder, beside)


def _argument_remedy(row: RemovedName, given: _Given, ctx: PythonContext) -> Remedy | None:
    if given.holder is not None:
        verbs = _in_dictionary(row, given, ctx) if _all_take(row, given, ctx) else []
    else:
        verbs = _in_call(row, given, ctx)
    if not verbs:
        return None
    answers = []
    if row.kind == "rename" and not says_nothing(row, given.value):
        answers = [
            nothing_else_gives(ctx, given.call, row.new),
            is_below(ctx, row, given.value),
            nobody_names_it(ctx, row.old),
        ]
    elif is_field(row):
        answers = [nobody_reads_it(ctx, given.call, row.old), nobody_names_it(ctx, row.old)]
    if says_nothing(row, given.value):
        answers = [*answers, reading_it_does_nothing(ctx, given.value)]
    return replace(repair(row, verbs, ctx), is_right=answers)


@question
def reading_it_does_nothing(ctx: PythonContext, value: ast.expr) -> Answer:
    """Whether a value that goes is no property of the program, which may do something when read (`a_property`)."""
    read = {each.attr for each in ast.walk(value) if isinstance(each, ast.Attribute)}
    return unless(
        Evidence(path, klass.methods[name].line, f"reading `{name}` may do something")
        for path, klass, name in (definers(ctx, *sorted(read)) if read else ())
        if klass.methods[name].is_property
    )


def _all_take(row: RemovedName, given: _Given, ctx: PythonContext) -> bool:
    """Whether a dictionary with an old key is read by calls of the library only (`read_by_its_own_class`)."""
    spread = [each.value for each in given.call.keywords if each.arg is None]
    named = [each for each in spread if isinstance(each, ast.Name)]
    if not named and given.holder not in spread:
        return False
    for node in (reader for each in named for reader in readers(ctx, each)):
        above = ctx.parent(node)
        call = ctx.parent(above) if isinstance(above, ast.keyword) and above.arg is None else None
        if isinstance(above, ast.Subscript) or (isinstance(above, ast.Attribute) and above.attr in FILLING):
            continue
        if not isinstance(call, ast.Call) or not any(o.startswith(f"{row.library}.") for o in owners_of(ctx, call)):
            return False
    return True


@question
def nobody_reads_it(ctx: PythonContext, call: ast.Call, name: str) -> Answer:
    """Whether nothing in the program reads an attribute that goes with an argument (`read_elsewhere`)."""
    return unless(
        each.evidence(f"`{each.ctx.written(each.node)}` may read what goes with the argument")
        for each in mentions(ctx, name)
        if isinstance(each.node, ast.Attribute) and not ctx.module.contains(call, each.node)
    )


@question
def nobody_names_it(ctx: PythonContext, name: str) -> Answer:
    """Whether nothing in the program reads an argument by a text: `getattr(args, "warmup_ratio", 0)` (`by_a_text`)."""
    by_its_name = [
        each.evidence(f"`{name}` is read by its name here")
        for each in mentions(ctx, name)
        if isinstance(each.node, ast.Constant)
    ]
    return unless([*by_its_name, *read_by_computed_names(ctx), *looked_for(ctx, name)])


@question
def nothing_else_gives(ctx: PythonContext, call: ast.Call, name: str) -> Answer:
    """Whether no `**` of a call may give it an argument of this name as well."""
    return unless(_may_give(ctx, call, name))


def _may_give(ctx: PythonContext, call: ast.Call, name: str) -> Iterator[Evidence]:
    for each in call.keywords:
        if each.arg is None and may_hold(ctx, each.value, name):
            yield ctx.evidence(each.value, f"`{name}` may be given here as well")


def _in_call(row: RemovedName, given: _Given, ctx: PythonContext) -> Sequence[Verb]:
    call, node = given.call, given.node
    if says_nothing(row, given.value):
        last = given.position is None or given.position == len(call.args) - 1
        return [edit_call(call, drop=[node])] if last else []
    if any(keyword(call, each) is not None for each in row.excludes):
        return []  # (`beside_steps`)
    if row.kind == "rename" and given.position is None and keyword(call, row.new) is None:
        value = new_value(ctx, row, given.value)
        if value is not None:
            return [edit_call(call, named={node: row.new}, values={node: value} if value else {})]
    return []


def _in_dictionary(row: RemovedName, given: _Given, ctx: PythonContext) -> Sequence[Verb]:
    holder, node = given.holder, given.node
    if says_nothing(row, given.value):
        if isinstance(holder, ast.Call) and isinstance(node, ast.keyword):
            return [edit_call(holder, drop=[node])]
        return [drop(node)] if isinstance(holder, ast.Dict) else []
    beside = given.beside | {each.arg for each in given.call.keywords}
    if any(each in beside for each in row.excludes) or row.kind != "rename" or row.new in beside:
        return []
    value = new_value(ctx, row, given.value)
    if value is None:
        return []
    if isinstance(node, ast.keyword):
        assert isinstance(holder, ast.Call)
        return [edit_call(holder, named={node: row.new}, values={node: value} if value else {})]
    key = replaced(node, ctx.quoted(row.new))
    return [key, replaced(given.value, value)] if value else [key]


def new_value(ctx: PythonContext, row: RemovedName, value: ast.expr) -> str | None:
    """The value under the new name: "" as it is; None where that cannot be told."""
    held = literal(value)
    if held is not ...:
        return row.new_value(held)
    if row.values is None:
        return ""
    if row.boolean:
        test = ctx.operand(value) if isinstance(value, (ast.IfExp, ast.Lambda, ast.NamedExpr)) else ctx.source(value)
        return f"{row.values['True']} if {test} else {row.values['False']}"
    return None


@question
def is_below(ctx: PythonContext, row: RemovedName, value: ast.expr) -> Answer:
    """Whether a number keeps its meaning under the new name."""
    if row.below is None or literal(value) is not ...:
        return yes()
    return unknown(ctx.evidence(value, f"from {row.below:g} on, `{row.new}` means something else"))


def says_nothing(row: RemovedName, value: ast.expr) -> bool:
    """Whether an argument may go: it was given what it is without, or nothing is lost with any value."""
    if row.harmless is not None:
        return literal(value) is not ... and row.is_harmless(literal(value))
    return row.kind == "delete" and isinstance(value, (ast.Constant, ast.Name, ast.Attribute))


def old_values(rule: Rule, call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    """The values of arguments, also as arms of `a if x else b`, that their owner no longer takes."""
    table = of_rule(rule.code, "value")
    given = [(each.arg, each.value) for each in call.keywords if each.arg]
    for number, each in enumerate(call.args):
        given += [(name, each) for name in values_by_position(rule.code, number)]
    for argument, value in ((name, arm) for name, each in given for arm in _arms(each)):
        held = literal(value)
        at = table.get(f"{argument}={held}") if held is not ... else None
        row = next((at[owner] for owner in owners_of(ctx, call) if owner in at), None) if at else None
        if row is None or version_tested(ctx, call, row.library):
            continue
        new = row.values.get(repr(held)) if row.values is not None else ctx.quoted(row.new) if row.new else None
        verbs = [replaced(value, new)] if row.kind == "rename" and new else []
        is_bug = (only_the_library_takes_it(ctx, call, argument),)  # called_by_a_metaclass
        yield from finding(rule, row, value, ctx, repair(row, verbs, ctx) if verbs else None, is_bug)


def _arms(value: ast.expr) -> Iterator[ast.expr]:
    if isinstance(value, ast.IfExp):
        yield from (*_arms(value.body), *_arms(value.orelse))
    else:
        yield value
