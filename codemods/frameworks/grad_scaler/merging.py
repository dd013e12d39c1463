"""Fixes that are put together from several: each change finds its place in those that are there already."""

from __future__ import annotations

from collections.abc import Mapping

import libcst as cst

from codemods.rules.context import Context
from codemods.syntax.rewrite import Replacement, remove, replace

Fix = dict[cst.CSTNode, Replacement]


def with_change(ctx: Context, fix: Mapping[cst.CSTNode, Replacement], old: cst.CSTNode, new: cst.CSTNode) -> Fix:
    """A fix that also exchanges `old`, inside of what becomes of a node around it."""
    for around in ctx.ancestors(old):
        if around in fix:
            return {**fix, around: [replace(n, {old: new}) for n in _nodes(fix[around])]}
    return {**fix, old: new}


def without_statement(ctx: Context, fix: Mapping[cst.CSTNode, Replacement], anchor: cst.CSTNode) -> Fix:
    """A fix that also deletes the small statement that holds `anchor`."""
    holder = ctx.statement(anchor)
    line = ctx.parent(holder) if holder is not None else None
    if line is None or line not in fix:
        return {**fix, **remove(ctx, anchor)}
    left: list[cst.CSTNode] = []
    for node in _nodes(fix[line]):
        if isinstance(node, (cst.SimpleStatementLine, cst.SimpleStatementSuite)) and holder in node.body:
            kept = [s for s in node.body if s is not holder]
            if kept:
                kept[-1] = kept[-1].with_changes(semicolon=cst.MaybeSentinel.DEFAULT)
                left.append(node.with_changes(body=kept))
        else:
            left.append(node)
    return {**fix, line: left}


def _nodes(given: Replacement) -> list[cst.CSTNode]:
    return [given] if isinstance(given, cst.CSTNode) else list(given or ())
