"""What a library once had and no longer has, where no row says what became of it: only the release is known."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace

from codemods.analysis.calls import literal
from codemods.analysis.python_context import PythonContext
from codemods.flow.answers import unknown
from codemods.frameworks.autocast.version_tests import version_tested
from codemods.frameworks.removed_names import tables
from codemods.frameworks.removed_names.arguments import only_the_library_takes_it
from codemods.frameworks.removed_names.drafts import PACKAGES, finding
from codemods.frameworks.removed_names.own_uses import OwnUse, uses
from codemods.frameworks.removed_names.owners import instance_of, of_class, owners_of
from codemods.frameworks.removed_names.tables import RemovedName, as_one
from codemods.project import ranges
from codemods.project.index import Ref
from codemods.rules.file_context import FileContext
from codemods.rules.rule import Draft, Rule
from codemods.syntax.module import is_none

_FIFTH = "5.0.0"
"""Transformers 5, which dropped what models and configurations had held for others."""
_MIXIN = "4.52.0"
"""The release of which `PreTrainedModel` is no longer a `GenerationMixin`: transformers/modeling_utils.py."""
_GENERATES = "prepare_inputs_for_generation"
"""The method of a model's class that says how it generates."""


def gone_imports(rule: Rule, statement: ast.ImportFrom, ctx: PythonContext) -> Iterator[Draft]:
    """What is imported from a module that no longer has it, where no row of a table says more."""
    if statement.level or not statement.module or ctx.enclosing(statement, ast.Try) is not None:
        return
    for alias in statement.names:
        parts = as_one(f"{statement.module}.{alias.name}").split(".")
        around = [".".join(parts[: n + 1]) for n in range(len(parts))]
        if any(each in tables.of_place("name") for each in around):
            continue
        row = next((tables.gone_names()[each] for each in around if each in tables.gone_names()), None)
        release = ctx.upgrade(row.library) if row is not None else None
        if row is None or release is None or not ranges.every((f"=={release}",), row.removed):
            continue
        bound = alias.asname or alias.name
        if version_tested(ctx, statement, row.library) or any(":" in o for o in ctx.index.imported(ctx.path, bound)):
            continue
        yield from finding(rule, row.spelled(statement.module.partition(".")[0]), alias, ctx, None)


def gone_arguments(rule: Rule, call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    """The arguments of a call that its owner once took."""
    given = [each for each in call.keywords if each.arg in tables.gone_arguments()]
    for each in given:
        name = str(each.arg)
        row = _row(ctx, tables.gone_arguments()[name], owners_of(ctx, call))
        if row is not None and not version_tested(ctx, call, row.library):
            yield from finding(rule, row, each, ctx, None, (only_the_library_takes_it(ctx, call, name),))


def gone_members(rule: Rule, node: ast.Attribute, ctx: PythonContext) -> Iterator[Draft]:
    """A member that objects of a class once had: of one that is known, or whose name means nothing else."""
    rows = tables.gone_members().get(node.attr)
    if rows is None or not isinstance(node.ctx, ast.Load) or node.attr in tables.rows_of("attribute"):
        return
    owners, own = of_class(ctx, node) if ctx.origin(node) else instance_of(ctx, node.value)
    if any(next(ctx.index.assigned(ref, node.attr), None) or ctx.index.method(ref, node.attr) for ref in own):
        return
    if (row := _row(ctx, rows, owners)) is not None and not version_tested(ctx, node, row.library):
        yield from finding(rule, row, node, ctx, None)
    elif not owners and node.attr in tables.telling_members():
        row = _row(ctx, rows, tuple(rows))
        if row is None or not _imports(ctx, row) or uses(ctx.index, ctx.path, node.attr) - {OwnUse.READ}:
            return
        if ctx.index.search(ctx.path, (f"def {node.attr}".encode(),)):
            return
        doubt = unknown(ctx.evidence(node, f"what has `{node.attr}` here is not known"))
        for draft in finding(rule, row, node, ctx, None, (doubt,)):
            yield replace(draft, message=f"if it is {row.library}'s: {draft.message}")


def gone_variables(rule: Rule, node: ast.Subscript, ctx: PythonContext) -> Iterator[Draft]:
    """`os.environ["WANDB_DISABLED"] = …` of a variable that the library no longer reads."""
    name = literal(node.slice)
    row = tables.gone_variables().get(name) if isinstance(name, str) and isinstance(node.ctx, ast.Store) else None
    if row is None or not ctx.means(node.value, "os.environ") or _row(ctx, {"": row}, ("",)) is None:
        return
    doubt = unknown(ctx.evidence(node, f"something else may read `{name}`"))
    for draft in finding(rule, row, node, ctx, None, (doubt,)):
        yield replace(draft, message=f"{row.library} {row.gone} no longer reads `{name}`")


def unread_switches(rule: Rule, node: ast.Attribute, ctx: PythonContext) -> Iterator[Draft]:
    """`model.is_parallelizable = True`: what somebody sets on a model, and its Trainer no longer reads."""
    if not isinstance(node.ctx, ast.Store) or node.attr not in tables.unread_switches():
        return
    row = RemovedName("transformers", "attribute", "transformers.PreTrainedModel", node.attr, "decision", gone=_FIFTH)
    row = replace(row, silent=True)
    if _row(ctx, {"": row}, ("",)) is None or not _imports(ctx, row) or version_tested(ctx, node, row.library):
        return
    doubt = unknown(ctx.evidence(node, f"what has `{node.attr}` here is not known"))
    said = f"if it is a model's: no Trainer reads `{node.attr}` since transformers {_FIFTH}; `device_map` says it"
    for draft in finding(rule, row, node, ctx, None, (doubt,)):
        yield replace(draft, message=said)


def lost_bases(rule: Rule, klass: ast.ClassDef, ctx: PythonContext) -> Iterator[Draft]:
    """`class Model(PreTrainedModel)` that says how it generates, and is no `GenerationMixin` any more."""
    if not any(isinstance(each, ast.FunctionDef) and each.name == _GENERATES for each in klass.body):
        return
    row = RemovedName("transformers", "attribute", "transformers.PreTrainedModel", "generate", "decision", gone=_MIXIN)
    if _row(ctx, {"": row}, ("",)) is None or version_tested(ctx, klass, row.library):
        return
    lineage = ctx.index.lineage(Ref(ctx.path, klass.name))
    bases = {each for each in lineage.external if each.startswith("transformers.")}
    if not lineage.complete or not bases or not all(each.endswith("PreTrainedModel") for each in bases):
        return
    said = f"`PreTrainedModel` is no `GenerationMixin` since transformers {_MIXIN}, so `{klass.name}` has no `generate`"
    for draft in finding(rule, row, klass, ctx, None):
        yield replace(draft, message=f"{said}: add `transformers.GenerationMixin` to its bases")


def generation_settings(rule: Rule, node: ast.Attribute, ctx: PythonContext) -> Iterator[Draft]:
    """`model.config.max_length = 64`: settings of generation that only `generation_config` may hold."""
    owner, statement = node.value, ctx.statement(node)
    if not isinstance(node.ctx, ast.Store) or node.attr not in tables.generation_settings():
        return
    row = RemovedName("transformers", "attribute", "transformers.PreTrainedConfig", node.attr, "decision", gone=_FIFTH)
    if not isinstance(owner, ast.Attribute) or owner.attr != "config" or _row(ctx, {"": row}, ("",)) is None:
        return
    if is_none(getattr(statement, "value", None)) or version_tested(ctx, node, "transformers"):
        return
    doubt = unknown(ctx.evidence(node, f"what has `{node.attr}` here is not known"))
    where = f"`{ctx.source(owner.value)}.generation_config.{node.attr}`"
    said = "`generate` and `save_pretrained` refuse a setting of generation in a model's configuration"
    for draft in finding(rule, row, node, ctx, None, (doubt,)):
        yield replace(draft, message=f"if it is transformers's: {said} since transformers 5.0.0: set {where}")


def _row(ctx: FileContext, rows: Mapping[str, RemovedName], owners: tuple[str, ...]) -> RemovedName | None:
    """The row of one of some owners, if the project is carried to a release without the name."""
    for row in (rows[each] for each in owners if each in rows):
        release = ctx.upgrade(row.library)
        if release is not None and ranges.every((f"=={release}",), row.removed):
            return row
    return None


def _imports(ctx: PythonContext, row: RemovedName) -> bool:
    packages = PACKAGES.get(row.library, (row.library,))
    return any(each.target.partition(".")[0] in packages for each in ctx.facts.imports)
