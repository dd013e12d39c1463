"""From the verbs of a fix to edits: libcst nodes where those of the syntax tree stand, exchanged and written."""

from __future__ import annotations

import ast
import dataclasses
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import libcst as cst

from codemods.model.edits import Edit, Skip, SkipReason, Unreadable, trim, whole_lines
from codemods.syntax import comments
from codemods.syntax.module import Module
from codemods.syntax.rewrite import (
    Replacement,
    block,
    chosen,
    closing,
    divided,
    enclosed,
    insert,
    joined,
    make_argument,
    replace,
    result_named,
    with_argument,
    with_first_argument,
    with_item,
    with_parameters,
    without_argument,
)
from codemods.syntax.tree import Span, Tree, render, walk
from codemods.syntax.verbs import (
    AddItem,
    Choose,
    Delete,
    DivideBlock,
    Drop,
    EditCall,
    EditParameters,
    Enclose,
    Insert,
    NameResult,
    Rename,
    Replace,
    Unwrap,
    Verb,
    Verbs,
)


def located(tree: Tree, module: Module, wanted: Iterable[ast.AST]) -> Mapping[ast.AST, cst.CSTNode]:
    """The libcst node for each statement or expression of the syntax tree of the same text, where there is one."""
    wanted = list(wanted)
    lines = sorted({node.lineno for node in wanted if isinstance(node, _PLACED)})
    candidates: list[cst.CSTNode] = []
    for statement, (first, last) in _top_level(tree, module):
        at = bisect_left(lines, first)
        if at < len(lines) and lines[at] <= last:
            candidates += walk(statement)
    where = tree.spans
    by_place: dict[tuple[int, int, _Kind], cst.CSTNode] = {}
    for node in candidates:
        if node in where and (kind := next((k for k in _KINDS.values() if isinstance(node, k)), None)):
            by_place.setdefault((where[node].inner_start, where[node].inner_end, kind), node)
    found: dict[ast.AST, cst.CSTNode] = {}
    for each in wanted:
        assert isinstance(each, _PLACED), "a finding is about a statement or an expression"
        kind = next(theirs for ours, theirs in _KINDS.items() if isinstance(each, ours))
        there = by_place.get((*_span(module, each), kind))
        if there is not None:
            found[each] = there
    return found


def _span(module: Module, node: ast.stmt | ast.expr | ast.keyword | ast.alias) -> tuple[int, int]:
    """Where a node begins and ends for libcst, which leaves out the parentheses of a generator expression, too."""
    start, end = module.span(node)
    if isinstance(node, ast.GeneratorExp):
        inner = module.text[start + 1 : end - 1]
        start, end = end - 1 - len(inner.lstrip()), start + 1 + len(inner.rstrip())
    return start, end


_Kind: TypeAlias = tuple[type[cst.CSTNode], ...]
_KINDS: Mapping[type[ast.AST], _Kind] = {
    ast.stmt: (cst.BaseSmallStatement, cst.BaseCompoundStatement),
    ast.expr: (cst.BaseExpression,),
    ast.keyword: (cst.Arg,),
    ast.alias: (cst.ImportAlias,),
}
_PLACED = (ast.stmt, ast.expr, ast.keyword, ast.alias)
"""What one node of the syntax tree may be in libcst, where several begin and end at one place."""


def _top_level(tree: Tree, module: Module) -> Iterable[tuple[cst.CSTNode, tuple[int, int]]]:
    """The statements of the module, with their first and last lines."""
    lines: list[tuple[int, int]] = []
    for each in module.tree.body:
        decorators = [d.lineno for d in getattr(each, "decorator_list", ())]
        lines.append((min([each.lineno, *decorators]), each.end_lineno or each.lineno))
    rest = iter(lines)
    for statement in tree.module.body:
        if isinstance(statement, cst.SimpleStatementLine):
            mine = [next(rest) for _ in statement.body]
            yield statement, (mine[0][0], mine[-1][1])
        else:
            yield statement, next(rest)


def subjects(module: Module, verb: Verb) -> Sequence[ast.AST]:
    """The nodes that a verb changes, or beside which it inserts; behind them a part that stays."""
    match verb:
        case Replace(node=node, code=ast.expr() as part):
            return [node, part]
        case Replace(node=node) | EditCall(node=node) | EditParameters(node=node) | Rename(node=node):
            return [node]
        case NameResult(node=node):
            return [node]
        case Unwrap(block=block) | AddItem(block=block) | DivideBlock(block=block):
            return [block]
        case Choose(change=change):
            return [change.node]
        case Drop(nodes=nodes):
            return nodes
        case Delete(anchors=anchors):
            return [_statement(module, anchor) for anchor in anchors]
        case Insert(anchor=anchor):
            return [_statement(module, anchor)]
        case Enclose(anchor=anchor, values=values):
            return [_statement(module, anchor), *values]


def _statement(module: Module, node: ast.AST) -> ast.stmt:
    statement = module.statement(node)
    assert statement is not None, "code stands in statements"
    return statement


def replacements(
    tree: Tree, module: Module, verb: Verb, places: Mapping[ast.AST, cst.CSTNode]
) -> dict[cst.CSTNode, Replacement]:
    """What becomes of which libcst nodes, for one verb.

    Args:
        places: the libcst nodes of the verb's subjects, as `located` gives them.
    """
    old, *others = (places[each] for each in subjects(module, verb))
    match verb:
        case Replace(node=node, code=code):
            if isinstance(code, ast.expr):
                return {old: others[0]}
            new = cst.parse_expression(_dedented(module, node, code))
            if isinstance(new, _ATOMS):
                return {old: new}
            parentheses = {name: getattr(old, name) for name in ("lpar", "rpar") if getattr(old, name, ())}
            return {old: new.with_changes(**parentheses)}
        case Insert(code=code, after=after):
            indent = tree.module.default_indent
            return insert(tree, old, [_indented(c, indent) for c in code], after=after)
        case Delete():
            return dict.fromkeys((old, *others))
        case Drop():
            return {_listed(tree, each): None for each in (old, *others)}
        case Enclose(header=header, before=before, after=end, values=values):
            indent = tree.module.default_indent
            front = [_indented(each, indent) for each in before]
            codes = zip(others, values.values(), strict=True)
            exchanged = {each: cst.parse_expression(code) for each, code in codes}
            return enclosed(tree, old, header, front, _indented(end, indent), exchanged)
        case Unwrap():
            assert isinstance(old, cst.With)
            first, *rest = block(tree, old.body)
            return {old: [first.with_changes(leading_lines=[*old.leading_lines, *first.leading_lines]), *rest]}
        case Rename(name=name):
            return {old: old.with_changes(name=cst.Name(name))}
        case AddItem(code=code):
            assert isinstance(old, cst.With)
            return {old: with_item(old, cst.parse_expression(code))}
        case DivideBlock(block=node, parts=parts):
            assert isinstance(old, cst.With)
            return {old: divided(old, [(inside, len(s)) for inside, s in parts], loop=parts[0][1][0] not in node.body)}
        case NameResult(name=name, code=code):
            assert isinstance(old, cst.Return)
            return result_named(tree, old, name, code)
        case EditCall():
            assert isinstance(old, cst.Call)
            return {old: _edited(module, verb, old)}
        case EditParameters(drop=dropped, last=last):
            assert isinstance(old, cst.FunctionDef)
            return {old.params: with_parameters(old.params, dropped, last)}
        case Choose(test=test, change=change):
            assert isinstance(old, cst.Call)
            return {old: chosen(tree, old, cst.parse_expression(test), _edited(module, change, old))}


_ATOMS = (cst.Call, cst.Attribute, cst.Name, cst.Subscript, cst.SimpleString)
"""What needs no parentheses anywhere."""


def _listed(tree: Tree, node: cst.CSTNode) -> cst.CSTNode:
    """What stands in a list for an expression: the argument, element, decorator, name or item of a `with`."""
    kinds = (cst.Arg, cst.BaseElement, cst.BaseDictElement, cst.Decorator, cst.WithItem, cst.ImportAlias)
    return next(each for each in (node, *tree.ancestors(node)) if isinstance(each, kinds))


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


# -- from nodes to edits


Pairs: TypeAlias = "list[tuple[cst.CSTNode, Replacement]]"
"""What becomes of nodes that do not lie in each other."""


def repairs(tree: Tree, module: Module, verbs: Verbs, places: Mapping[ast.AST, cst.CSTNode]) -> list[Pairs]:
    """What becomes of which nodes, verb by verb.

    Args:
        places: the libcst nodes of the subjects of the verbs, as `located` gives them.

    Raises:
        Unreadable: where libcst has no counterpart of a subject.
    """
    if not all(node in places for verb in verbs for node in subjects(module, verb)):
        raise Unreadable(Skip(tree.path, SkipReason.NO_ROUND_TRIP, "libcst reads a statement in another way"))
    return [_lifted(tree, replacements(tree, module, verb, places)) for verb in verbs]


def edits(tree: Tree, repairs: Sequence[Pairs]) -> list[Edit] | None:
    """The edits of one fix; None where they would touch each other, or write what an f-string cannot hold."""
    found: list[Edit] = []
    for pairs in repairs:
        made = [edit_of(tree.path, tree.text, tree.module, old, new, tree.spans[old]) for old, new in pairs]
        if not _fits_formatted_strings(tree, pairs, made):
            return None
        found += made
    if len(repairs) > 1 and _overlap(found):
        return None
    return comments.kept(tree.text, found)


def written(tree: Tree, module: Module, verbs: Verbs) -> list[Edit] | None:
    """The edits of the verbs of one fix about one file.

    Raises:
        Unreadable: where libcst reads the file in another way.
    """
    nodes = (node for verb in verbs for node in subjects(module, verb))
    return edits(tree, repairs(tree, module, verbs, located(tree, module, nodes)))


def _overlap(edits: Sequence[Edit]) -> bool:
    """Whether two edits of one file change the same text."""
    ordered = sorted(edits, key=lambda edit: (edit.start, edit.end))
    return any(earlier.end > later.start for earlier, later in pairwise(ordered))


def _fits_formatted_strings(tree: Tree, pairs: Pairs, edits: Sequence[Edit]) -> bool:
    """Whether edits inside f-strings hold nothing that Python before 3.12 refuses there (PEP 701)."""
    for (old, _), edit in zip(pairs, edits, strict=True):
        around = (node for node in tree.ancestors(old) if isinstance(node, cst.FormattedString))
        if any(mark in edit.text for node in around for mark in (node.end, "\\", "#")):
            return False
    return True


def _lifted(tree: Tree, fix: Mapping[cst.CSTNode, Replacement]) -> list[tuple[cst.CSTNode, Replacement]]:
    """A fix in which nothing leaves a hole: what holds a node that goes, or becomes several, changes with it.

    The neighbours on its line keep their semicolons, those in its list their commas, and its block a `pass`.
    """
    lifted: dict[cst.CSTNode, Replacement] = {}
    held: set[cst.CSTNode] = set()
    for old, new in fix.items():
        holder, comma = tree.parent(old), getattr(old, "comma", None)
        if isinstance(new, cst.CSTNode):
            lost = isinstance(comma, cst.Comma) and not isinstance(getattr(new, "comma", None), cst.Comma)
            lifted[old] = new.with_changes(comma=comma) if lost else new
        elif holder is not None and comma is not None:
            lifted[holder] = _list(holder, old, fix)
            held.add(holder)
        elif isinstance(holder, (cst.SimpleStatementLine, cst.SimpleStatementSuite)):
            lifted[holder] = _line(holder, fix)
            held.add(holder)
        else:
            lifted[old] = new or None
    for old in tuple(lifted):
        block = tree.parent(old)
        if isinstance(block, cst.IndentedBlock) and all(lifted.get(s, s) is None for s in block.body):
            lifted[old] = cst.SimpleStatementLine([cst.Pass()], leading_lines=getattr(old, "leading_lines", ()))
    inside = {node for holder in held for node in walk(holder)} - held
    nodes = {old: new for old, new in fix.items() if isinstance(new, cst.CSTNode)}
    whole = {old: replace(new, nodes) for old, new in lifted.items() if old in held and isinstance(new, cst.CSTNode)}
    return [(old, whole.get(old, new)) for old, new in lifted.items() if old not in inside]


def _exchanged(items: Sequence[cst.CSTNode], fix: Mapping[cst.CSTNode, Replacement]) -> list[Any]:
    found: list[cst.CSTNode] = []
    for item in items:
        new = fix.get(item, item)
        found += [new] if isinstance(new, cst.CSTNode) else new or []
    return found


def _line(
    line: cst.SimpleStatementLine | cst.SimpleStatementSuite, fix: Mapping[cst.CSTNode, Replacement]
) -> Replacement:
    """A line of small statements with some of them exchanged."""
    body = _exchanged(line.body, fix)
    if body:
        return line.with_changes(body=joined(body))
    return line.with_changes(body=[cst.Pass()]) if isinstance(line, cst.SimpleStatementSuite) else None


def _list(holder: cst.CSTNode, old: cst.CSTNode, fix: Mapping[cst.CSTNode, Replacement]) -> cst.CSTNode:
    """`holder` with other things between its commas: the list of arguments or elements that `old` is one of."""
    fields = ((f.name, getattr(holder, f.name)) for f in dataclasses.fields(holder))
    name, items = next((n, v) for n, v in fields if isinstance(v, (list, tuple)) and any(each is old for each in v))
    listed = _exchanged(items, fix)
    between = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    for i, each in enumerate(listed):
        if each is listed[-1]:
            listed[i] = closing(each, items[-1])
        elif not isinstance(each.comma, cst.Comma):
            listed[i] = each.with_changes(comma=between)
    return holder.with_changes(**{name: listed})


def edit_of(path: str, text: str, module: cst.Module, old: cst.CSTNode, new: Replacement, span: Span) -> Edit:
    """The minimal edit that turns a node into its replacement."""
    end = min(span.end, len(text))
    if new is None:
        start = span.start
        if isinstance(old, (cst.SimpleStatementLine, cst.BaseCompoundStatement)):
            start = max(start, text.rfind("\n", 0, span.inner_start) + 1)
        if span.end > len(text):  # the file ends without a newline, and goes on doing so
            start = len(text[:start].removesuffix("\n").removesuffix("\r"))
        return Edit(path, start, end, "")
    nodes = [new] if isinstance(new, cst.CSTNode) else new
    flags = {"is_elif": True} if text.startswith("elif", span.inner_start) else {}
    written = "".join(render(module, node, span.indent, **flags) for node in nodes)
    if span.end > len(text):  # the file ends without a newline, and goes on doing so
        written = written[: len(text) - span.end]
    return whole_lines(trim(Edit(path, span.start, end, written), text), text)
