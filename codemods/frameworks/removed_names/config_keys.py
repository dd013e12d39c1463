"""Keys of configuration files whose reader no longer knows them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from codemods.flow.answers import unknown
from codemods.frameworks.config_owners import is_interpolated, scalar
from codemods.frameworks.removed_names.drafts import finding, floor_of, title
from codemods.frameworks.removed_names.own_uses import OwnUse, configurations, uses
from codemods.frameworks.removed_names.tables import RemovedName, of_rule
from codemods.rules.file_context import FileContext
from codemods.rules.rule import Draft, Remedy, Rule
from codemods.sources.config import Entry, Pair, Table, plain


def old_keys(rule: Rule, table: Table, owners: Sequence[str], ctx: FileContext) -> Iterator[Draft]:
    """The keys of a table in a configuration file that its reader no longer knows."""
    rows = of_rule(rule.code, "argument")
    known = {entry.key.value for entry in table.entries}
    for entry in table.entries:
        at = rows.get(entry.key.value) if isinstance(entry.key.value, str) else None
        row = next((at[owner] for owner in owners if owner in at), None) if at else None
        if row is not None:
            fix = _of_entry(row, entry, known) if _is_read_by_the_library(entry, ctx, row) else {}
            remedy = Remedy(fix, title(row), requires=floor_of(row)) if fix else None
            doubts = []
            if OwnUse.FIELD in uses(ctx.index, ctx.path, row.old):  # beside_a_field
                doubts = [unknown(ctx.shown_at(entry.key.start, f"a field of the project may take `{row.old}`"))]
            yield from finding(rule, row, entry.key, ctx, remedy, doubts)
        else:
            yield from _old_value(rule, entry, owners, ctx)


def _old_value(rule: Rule, entry: Entry, owners: Sequence[str], ctx: FileContext) -> Iterator[Draft]:
    """The value of a key that its reader no longer takes: `accelerator: ddp`."""
    held = scalar(entry.value)
    at = of_rule(rule.code, "value").get(f"{entry.key.value}={held}")
    row = next((at[owner] for owner in owners if owner in at), None) if at and held is not ... else None
    if row is not None:
        yield from finding(rule, row, entry.value, ctx, None)


def _of_entry(row: RemovedName, entry: Entry, known: set[object]) -> dict[object, object]:
    held = scalar(entry.value)
    if (row.harmless is not None and row.is_harmless(held)) or (row.harmless is None and row.kind == "delete"):
        return {entry: None} if not is_interpolated(entry.value) else {}
    if row.kind == "rename" and row.new not in known:
        new = row.new_value(held)
        if new is not None:
            return {entry: Pair(row.new, ast.literal_eval(new) if new else plain(entry.value))}
    return {}


def _is_read_by_the_library(entry: Entry, ctx: FileContext, row: RemovedName) -> bool:
    """Whether the project does not read a key (`read_here`), nor sets back what another file says (`overrides`)."""
    key = str(entry.key.value)
    if uses(ctx.index, ctx.path, key) & {OwnUse.READ, OwnUse.OPTION, OwnUse.FIELD}:
        return False
    return row.kind == "rename" or configurations(ctx.index, ctx.path, key) == (ctx.path,)
