"""Attributes, methods and imports that a library no longer has."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

from codemods.analysis.mentions import stores
from codemods.analysis.python_context import PythonContext
from codemods.flow.answers import Answer, question, unless
from codemods.frameworks.autocast.version_tests import version_tested
from codemods.frameworks.removed_names.drafts import finding, repair
from codemods.frameworks.removed_names.owners import instance_of
from codemods.frameworks.removed_names.tables import RemovedName, as_one, last_names, of_rule
from codemods.model.names import canonical
from codemods.rules.rule import Draft, Rule
from codemods.syntax.verbs import Verb, delete, drop, edit_call, insert_before
from codemods.syntax.verbs import replace as replaced


def old_attributes(rule: Rule, node: ast.Attribute, ctx: PythonContext) -> Iterator[Draft]:
    """An attribute or a method that objects of a class no longer have, with the arguments that go with it."""
    table = of_rule(rule.code, "attribute")
    if node.attr not in table or isinstance(node.ctx, ast.Del) or ctx.origin(node):
        return
    is_set = isinstance(node.ctx, ast.Store)
    owners, own = instance_of(ctx, node.value)
    row = next((table[node.attr][owner] for owner in owners if owner in table[node.attr]), None)
    if row is None or version_tested(ctx, node, row.library) or (is_set and row.place != "argument"):
        return
    if any(ctx.index.method(ref, node.attr) or next(ctx.index.assigned(ref, node.attr), None) for ref in own):
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
            verbs = [edit_call(call, function=new, named=named)]
        else:
            verbs = [replaced(node, new)]
    remedy = repair(row, verbs, ctx) if verbs else None
    if is_set:  # a new attribute, which nobody reads
        yield from finding(rule, replace(row, silent=True), node, ctx, remedy)
    else:
        yield from finding(rule, row, node, ctx, remedy, (nobody_sets_it(ctx, node.attr),))


@question
def nobody_sets_it(ctx: PythonContext, name: str) -> Answer:
    """Whether nothing in the program gives an object an attribute of this name."""
    return unless(each.evidence(f"`{name}` may be set here") for each in stores(ctx, name) if each.word == name)


def old_imports(rule: Rule, statement: ast.ImportFrom, ctx: PythonContext) -> Iterator[Draft]:
    """The names in `from … import …` that a library no longer has there."""
    table = of_rule(rule.code, "name")
    if statement.level or not statement.module or ctx.enclosing(statement, ast.Try) is not None:
        return
    for alias in statement.names:
        row = table.get(as_one(f"{statement.module}.{alias.name}"), {}).get("")
        bound = alias.asname or alias.name
        if row is None or version_tested(ctx, statement, row.library):
            continue
        if any(i.conditional or i.type_checking for i in ctx.facts.named(bound)):
            continue
        if any(":" in origin for origin in ctx.index.imported(ctx.path, bound)):
            continue  # a module of the project of that name
        verbs = _import(row, statement, alias, ctx) if row.kind == "rename" else []
        shown = row.spelled(statement.module.partition(".")[0])
        yield from finding(rule, shown, alias, ctx, repair(shown, verbs, ctx) if verbs else None)


def _import(row: RemovedName, statement: ast.ImportFrom, alias: ast.alias, ctx: PythonContext) -> Sequence[Verb]:
    """The import of the new name in the place of the old one, and the new name where the old one is used."""
    module, _, name = row.spelled(str(statement.module).partition(".")[0]).new.rpartition(".")
    kept = alias.asname or (alias.name if name == alias.name else "")
    uses: list[Verb] = []
    if not kept:
        if any(ctx.facts.named(name)) or name in ctx.facts.rebound or alias.name in ctx.facts.exports:
            kept = alias.name
        else:
            loads = (n for n in ctx.all(ast.Name) if n.id == alias.name and isinstance(n.ctx, ast.Load))
            uses = [replaced(each, name) for each in loads if canonical(row.old) in ctx.origin(each)]
    shown = f"{name} as {kept}" if kept and kept != name else name
    new = insert_before(statement, f"from {module} import {shown}")
    return [new, drop(alias) if len(statement.names) > 1 else delete(statement), *uses]


def old_names(rule: Rule, node: ast.Attribute, ctx: PythonContext) -> Iterator[Draft]:
    """A dotted name, `pl.utilities.seed.seed_everything`, that a library no longer has."""
    table = of_rule(rule.code, "name")
    if node.attr not in last_names(rule.code):
        return
    origins = ctx.origin(node)
    row = next((table[old][""] for old in origins if old in table), None) if len(origins) == 1 else None
    if row is None or (isinstance(ctx.parent(node), ast.Attribute) and ctx.origin(ctx.parent(node)) & table.keys()):
        return
    if not isinstance(node.ctx, ast.Load) or version_tested(ctx, node, row.library):
        return
    spelled = ctx.spell(canonical(row.new), at=node) if row.kind == "rename" else None
    package = next((each.target for each in ctx.facts.named((ctx.name(node) or "").partition(".")[0])), "")
    shown = row.spelled(package.partition(".")[0])
    remedy = repair(shown, [replaced(node, spelled.code)], ctx) if spelled is not None else None
    needs = [spelled.need] if spelled is not None else []
    yield from finding(rule, shown, node, ctx, replace(remedy, needs=needs) if remedy is not None else None)
