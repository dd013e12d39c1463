"""From the verbs of a fix to libcst: the nodes that stand where those of the syntax tree stand, and their exchange."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import libcst as cst

from codemods.syntax.module import Module
from codemods.syntax.rewrite import (
    Replacement,
    block,
    enclosed,
    insert,
    make_argument,
    remove,
    with_argument,
    with_first_argument,
    without_argument,
)
from codemods.syntax.tree import spans, walk
from codemods.syntax.verbs import Delete, Drop, EditCall, Enclose, Insert, Replace, Unwrap, Verb

if TYPE_CHECKING:
    from codemods.rules.context import Context


def located(context: Context, module: Module, wanted: Iterable[ast.AST]) -> Mapping[ast.AST, cst.CSTNode]:
    """The libcst node for each statement or expression of the syntax tree of the same text, where there is one."""
    wanted = list(wanted)
    lines = {node.lineno for node in wanted if isinstance(node, _PLACED)}
    candidates: list[cst.CSTNode] = []
    for statement, (first, last) in _top_level(context, module):
        if any(first <= line <= last for line in lines):
            candidates += walk(statement)
    where = spans(context.path, context.text, context.module, candidates)
    by_place: dict[tuple[int, int, _Kind], cst.CSTNode] = {}
    for node in candidates:
        if node in where and (kind := next((k for k in _KINDS.values() if isinstance(node, k)), None)):
            by_place.setdefault((where[node].inner_start, where[node].inner_end, kind), node)
    found: dict[ast.AST, cst.CSTNode] = {}
    for each in wanted:
        if isinstance(each, ast.Module):
            found[each] = context.module
            continue
        assert isinstance(each, _PLACED), "a finding is about a statement or an expression"
        kind = next(theirs for ours, theirs in _KINDS.items() if isinstance(each, ours))
        there = by_place.get((*module.span(each), kind))
        if there is not None:
            found[each] = there
    return found


_Kind: TypeAlias = tuple[type[cst.CSTNode], ...]
_KINDS: Mapping[type[ast.AST], _Kind] = {
    ast.stmt: (cst.BaseSmallStatement, cst.BaseCompoundStatement),
    ast.expr: (cst.BaseExpression,),
    ast.keyword: (cst.Arg,),
    ast.alias: (cst.ImportAlias,),
}
_PLACED = (ast.stmt, ast.expr, ast.keyword, ast.alias)
"""What one node of the syntax tree may be in libcst, where several begin and end at one place."""


def _top_level(context: Context, module: Module) -> Iterable[tuple[cst.CSTNode, tuple[int, int]]]:
    """The statements of the module, with their first and last lines."""
    lines: list[tuple[int, int]] = []
    for each in module.tree.body:
        decorators = [d.lineno for d in getattr(each, "decorator_list", ())]
        lines.append((min([each.lineno, *decorators]), each.end_lineno or each.lineno))
    rest = iter(lines)
    for statement in context.module.body:
        if isinstance(statement, cst.SimpleStatementLine):
            mine = [next(rest) for _ in statement.body]
            yield statement, (mine[0][0], mine[-1][1])
        else:
            yield statement, next(rest)


def subjects(module: Module, verb: Verb) -> Sequence[ast.AST]:
    """The nodes that a verb changes, or beside which it inserts."""
    match verb:
        case Replace(node=node) | EditCall(node=node) | Unwrap(block=node):
            return [node]
        case Drop(nodes=nodes):
            return nodes
        case Insert(anchor=anchor) | Delete(anchor=anchor) | Enclose(anchor=anchor):
            statement = module.statement(anchor)
            assert statement is not None, "code stands in statements"
            return [statement]


def replacements(
    context: Context, module: Module, verb: Verb, places: Mapping[ast.AST, cst.CSTNode]
) -> dict[cst.CSTNode, Replacement]:
    """What becomes of which libcst nodes, for one verb.

    Args:
        places: the libcst nodes of the verb's subjects, as `located` gives them.
    """
    old, *others = (places[each] for each in subjects(module, verb))
    match verb:
        case Replace(node=node, code=code):
            new = cst.parse_expression(_dedented(module, node, code))
            if isinstance(new, _ATOMS):
                return {old: new}
            parentheses = {name: getattr(old, name) for name in ("lpar", "rpar") if getattr(old, name, ())}
            return {old: new.with_changes(**parentheses)}
        case Insert(code=code, after=after):
            indent = context.module.default_indent
            return insert(context, old, [_indented(c, indent) for c in code], after=after)
        case Delete():
            return {old: None} if isinstance(old, cst.BaseCompoundStatement) else dict(remove(context, old))
        case Drop():
            return {_listed(context, each): None for each in (old, *others)}
        case Enclose(header=header):
            return enclosed(context, old, header)
        case Unwrap():
            assert isinstance(old, cst.With)
            first, *rest = block(context, old.body)
            return {old: [first.with_changes(leading_lines=[*old.leading_lines, *first.leading_lines]), *rest]}
        case EditCall():
            assert isinstance(old, cst.Call)
            return {old: _edited(module, verb, old)}


_ATOMS = (cst.Call, cst.Attribute, cst.Name, cst.Subscript, cst.SimpleString)
"""What needs no parentheses anywhere."""


def _listed(context: Context, node: cst.CSTNode) -> cst.CSTNode:
    """What stands in a list for an expression: the argument, element, decorator or item of a `with`."""
    kinds = (cst.Arg, cst.BaseElement, cst.BaseDictElement, cst.Decorator, cst.WithItem)
    return next(each for each in (node, *context.ancestors(node)) if isinstance(each, kinds))


def _edited(module: Module, verb: EditCall, old: cst.Call) -> cst.Call:
    """A call with what `EditCall` says."""
    written: list[ast.expr | ast.keyword] = [*verb.node.args, *verb.node.keywords]
    given = sorted(written, key=lambda each: (each.lineno, each.col_offset))
    args: list[cst.Arg] = []
    dropped: list[cst.Arg] = []
    for each, arg in zip(given, old.args, strict=True):
        if each in verb.values:
            arg = arg.with_changes(value=_expression(module, verb, verb.values[each]))
        if each in verb.named:
            keyword = make_argument(verb.named[each], arg.value)
            arg = arg.with_changes(keyword=keyword.keyword, equal=keyword.equal)
        args.append(arg)
        dropped += [arg] if each in verb.drop else []
    new = old.with_changes(args=args)
    for arg in dropped:
        new = without_argument(new, arg)
    if verb.function is not None:
        new = new.with_changes(func=cst.parse_expression(verb.function))
    for name, code in reversed(verb.first):
        new = with_first_argument(new, name, _expression(module, verb, code))
    for name, code in verb.last:
        new = with_argument(new, name, _expression(module, verb, code))
    return new


def _expression(module: Module, verb: EditCall, code: str) -> cst.BaseExpression:
    """The value of an argument, which may go over several lines without parentheses of its own."""
    inside = cst.parse_expression(f"({_dedented(module, verb.node, code)}\n)")
    if len(inside.lpar) == 1 and isinstance(inside, (cst.GeneratorExp, cst.Tuple)):
        return inside
    return inside.with_changes(lpar=inside.lpar[1:], rpar=inside.rpar[:-1])


def _dedented(module: Module, node: ast.AST, code: str) -> str:
    """Code of several lines without the indentation of the statement that it goes into: libcst adds that again."""
    statement = module.statement(node)
    if "\n" not in code or statement is None:
        return code
    indent = module.indentation(statement)
    strings = {
        line
        for each in ast.walk(ast.parse(f"({code}\n)"))
        if isinstance(each, (ast.Constant, ast.JoinedStr)) and each.end_lineno is not None
        for line in range(each.lineno + 1, each.end_lineno + 1)
    }
    lines = code.split("\n")
    return "\n".join(line if n in strings else line.removeprefix(indent) for n, line in enumerate(lines, start=1))


def _indented(code: str, indent: str) -> str:
    """A statement with the indentation of the file in place of four spaces."""
    lines = code.split("\n")
    levels = [(len(line) - len(line.lstrip(" "))) // 4 for line in lines]
    return "\n".join(indent * level + line.lstrip(" ") for level, line in zip(levels, lines, strict=True))
