"""Surgery for rules: arguments, statements, `with` blocks. Pure: node in, node (or replacements) out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias, TypeVar

import libcst as cst

from codemods.syntax.tree import Tree

Replacement: TypeAlias = cst.CSTNode | Sequence[cst.CSTNode] | None
"""What a node of a tree becomes: another node, several (statements, arguments), or nothing."""

N = TypeVar("N", bound=cst.CSTNode)
Statement = cst.SimpleStatementLine | cst.BaseCompoundStatement


# -- writing calls


def make_argument(name: str | None, value: cst.BaseExpression) -> cst.Arg:
    """`value`, or `name=value`."""
    if name is None:
        return cst.Arg(value)
    bare = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    return cst.Arg(value, keyword=cst.Name(name), equal=bare)


def with_argument(call: cst.Call, name: str | None, value: cst.BaseExpression) -> cst.Call:
    """The call with one more argument at its end, laid out like those it has (trailing comma, one per line)."""
    new = make_argument(name, value)
    if not call.args:
        return call.with_changes(args=[new])
    *front, last = call.args
    if isinstance(last.value, cst.GeneratorExp) and not last.value.lpar:
        inner = last.value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
        last = last.with_changes(value=inner)
    before: cst.BaseParenthesizableWhitespace = cst.SimpleWhitespace(" ")
    if front and isinstance(front[-1].comma, cst.Comma):
        before = _layout(front[-1].comma.whitespace_after)
    elif isinstance(call.whitespace_before_args, cst.ParenthesizedWhitespace):
        before = _layout(call.whitespace_before_args)
    if isinstance(last.comma, cst.Comma):
        closing = last.comma.whitespace_after
        last = last.with_changes(comma=last.comma.with_changes(whitespace_after=_joined(closing, before)))
        new = new.with_changes(comma=cst.Comma(whitespace_after=_layout(closing)))
    else:
        closing = last.whitespace_after_arg
        last = last.with_changes(
            comma=cst.Comma(whitespace_after=_joined(closing, before)), whitespace_after_arg=cst.SimpleWhitespace("")
        )
        new = new.with_changes(whitespace_after_arg=_layout(closing))
    return call.with_changes(args=[*front, last, new])


def with_first_argument(call: cst.Call, name: str | None, value: cst.BaseExpression) -> cst.Call:
    """The call with one more argument at its start, laid out like those it has (one per line where they are)."""
    new = make_argument(name, value)
    if not call.args:
        return call.with_changes(args=[new])
    first, *rest = call.args
    if isinstance(first.value, cst.GeneratorExp) and not first.value.lpar:
        inner = first.value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
        first = first.with_changes(value=inner)
    after: cst.BaseParenthesizableWhitespace = cst.SimpleWhitespace(" ")
    if isinstance(call.whitespace_before_args, cst.ParenthesizedWhitespace):
        after = _layout(call.whitespace_before_args)
    return call.with_changes(args=[new.with_changes(comma=cst.Comma(whitespace_after=after)), first, *rest])


def _layout(space: cst.BaseParenthesizableWhitespace) -> cst.BaseParenthesizableWhitespace:
    """The same break, without comments and empty lines."""
    if not isinstance(space, cst.ParenthesizedWhitespace):
        return space
    bare = cst.TrailingWhitespace(newline=space.first_line.newline)
    return space.with_changes(first_line=bare, empty_lines=[])


def _joined(
    closing: cst.BaseParenthesizableWhitespace, before: cst.BaseParenthesizableWhitespace
) -> cst.BaseParenthesizableWhitespace:
    """The break before a new last argument: laid out as `before`, with the comments that stood in `closing`."""
    if not isinstance(closing, cst.ParenthesizedWhitespace) or not _commented(closing):
        return before
    if isinstance(before, cst.ParenthesizedWhitespace):
        return before.with_changes(first_line=closing.first_line, empty_lines=closing.empty_lines)
    return closing


def _commented(space: cst.BaseParenthesizableWhitespace) -> bool:
    if not isinstance(space, cst.ParenthesizedWhitespace):
        return False
    return space.first_line.comment is not None or any(line.comment for line in space.empty_lines)


def without_argument(call: cst.Call, arg: cst.Arg) -> cst.Call:
    """The call without one of its arguments."""
    kept = [a for a in call.args if a is not arg]
    if kept and arg is call.args[-1]:
        kept[-1] = closing(kept[-1], arg)
    if not kept and not _commented(call.whitespace_before_args):
        return call.with_changes(args=[], whitespace_before_args=cst.SimpleWhitespace(""))
    return call.with_changes(args=kept)


def with_parameters(old: cst.Parameters, drop: Sequence[str], last: Sequence[str]) -> cst.Parameters:
    """Parameters without some, and with more behind those that may be given by position, each with the default None."""
    new = old
    for name in ("posonly_params", "params", "kwonly_params"):
        listed: Sequence[cst.Param] = getattr(old, name)
        kept = [each for each in listed if each.name.value not in drop]
        if kept and kept[-1] is not listed[-1]:
            kept[-1] = closing(kept[-1], listed[-1])
        new = new.with_changes(**{name: kept})
    for name in last:
        *front, end = new.params
        like = next((each.comma for each in reversed(front) if isinstance(each.comma, cst.Comma)), None)
        space = _layout(like.whitespace_after) if like is not None else cst.SimpleWhitespace(" ")
        bare = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
        param = cst.Param(cst.Name(name), default=cst.Name("None"), equal=bare, star="")
        if isinstance(end.comma, cst.Comma):
            closing_space = end.comma.whitespace_after
            param = param.with_changes(comma=cst.Comma(whitespace_after=_layout(closing_space)))
            space = _joined(closing_space, space)
        end = end.with_changes(comma=cst.Comma(whitespace_after=space))
        new = new.with_changes(params=[*front, end, param])
    return new


def closing(item: N, last: cst.CSTNode) -> N:
    """`item` in the place of `last`, at the end of a list with commas: laid out as `last` was, with its own comment."""
    comma, end = getattr(item, "comma", None), getattr(last, "comma", None)
    after = comma.whitespace_after if isinstance(comma, cst.Comma) else None
    space = end.whitespace_after if isinstance(end, cst.Comma) else getattr(last, "whitespace_after_arg", None)
    if isinstance(after, cst.ParenthesizedWhitespace) and isinstance(space, cst.ParenthesizedWhitespace):
        space = space.with_changes(first_line=after.first_line, empty_lines=after.empty_lines)
        return item.with_changes(comma=cst.Comma(whitespace_after=space))
    if isinstance(last, cst.Arg):
        return item.with_changes(comma=end, whitespace_after_arg=last.whitespace_after_arg)
    return item.with_changes(comma=end)


def replace(root: N, changes: Mapping[cst.CSTNode, cst.CSTNode]) -> N:
    """`root` with nodes inside it exchanged (by identity)."""

    class Exchange(cst.CSTTransformer):
        def on_leave(self, original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:  # type: ignore[override]
            return changes.get(original, updated)

    return root.visit(Exchange())  # type: ignore[return-value]


# -- statements


def statement(tree: Tree, code: str) -> cst.SimpleStatementLine | cst.BaseCompoundStatement:
    """Parse one statement, with the indentation and line ends of the file; empty lines before it stay empty."""
    parsed = cst.parse_statement(code, config=tree.module.config_for_parsing)
    lines = [each if each.comment else each.with_changes(indent=False) for each in parsed.leading_lines]
    return parsed.with_changes(leading_lines=lines)


def small(tree: Tree, code: str) -> cst.BaseSmallStatement:
    """Parse one small statement."""
    line = statement(tree, code)
    assert isinstance(line, cst.SimpleStatementLine)
    return line.body[0]


def insert(tree: Tree, anchor: cst.CSTNode, code: Sequence[str], *, after: bool) -> dict[cst.CSTNode, Replacement]:
    """Statements on lines of their own, directly before or after the statement that holds `anchor`.

    In `a; b` lines and one-line suites small ones join the line; compound ones break it. An `elif` belongs to its `if`.
    """
    holder = tree.statement(anchor)
    assert holder is not None
    while isinstance(above := tree.parent(holder), cst.If) and above.orelse is holder:
        holder = above
    if isinstance(holder, cst.BaseCompoundStatement):
        new = [statement(tree, c) for c in code]
        if after:
            return {holder: [holder, *new]}
        lifted = [_with_lead(new[0], holder), *new[1:]]
        return {holder: [*lifted, _without_lead(holder)]}
    line = tree.parent(holder)
    if isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1:
        new = [statement(tree, c) for c in code]
        if after:
            return {line: [line, *new]}
        return {line: [_with_lead(new[0], line), *new[1:], _without_lead(line)]}
    assert isinstance(line, (cst.SimpleStatementLine, cst.SimpleStatementSuite))
    body = list(line.body)
    at = next(i for i, s in enumerate(body) if s is holder) + after
    between = [statement(tree, c) for c in code]
    if any(isinstance(s, cst.BaseCompoundStatement) for s in between):
        parts = [cst.SimpleStatementLine(joined(part)) for part in (body[:at], body[at:]) if part]
        parts[-1] = parts[-1].with_changes(trailing_whitespace=line.trailing_whitespace)
        broken = [*parts[: at > 0], *between, *parts[at > 0 :]]
        if isinstance(line, cst.SimpleStatementSuite):
            return {line: cst.IndentedBlock(body=broken)}
        return {line: [_with_lead(broken[0], line), *broken[1:]]}
    return {line: line.with_changes(body=joined([*body[:at], *(small(tree, c) for c in code), *body[at:]]))}


def joined(body: Sequence[cst.BaseSmallStatement]) -> list[cst.BaseSmallStatement]:
    """Small statements for one line: a semicolon after each but the last."""
    between = cst.Semicolon(whitespace_after=cst.SimpleWhitespace(" "))
    front = [s if _spaced(s.semicolon) else s.with_changes(semicolon=between) for s in body[:-1]]
    return [*front, body[-1].with_changes(semicolon=cst.MaybeSentinel.DEFAULT)]


def _spaced(semicolon: cst.Semicolon | cst.MaybeSentinel) -> bool:
    """Whether a semicolon is there, with a space after it."""
    if not isinstance(semicolon, cst.Semicolon):
        return False
    space = semicolon.whitespace_after
    return isinstance(space, cst.SimpleWhitespace) and bool(space.value)


def block(tree: Tree, suite: cst.BaseSuite) -> list[Statement]:
    """The statements of a suite as lines; a one-line suite is split."""
    if isinstance(suite, cst.IndentedBlock):
        return list(suite.body)  # type: ignore[arg-type]
    assert isinstance(suite, cst.SimpleStatementSuite)
    return [cst.SimpleStatementLine([s.with_changes(semicolon=cst.MaybeSentinel.DEFAULT)]) for s in suite.body]


def with_body(suite: cst.BaseSuite, statements: Iterable[cst.CSTNode]) -> cst.BaseSuite:
    """A suite with other statements; a one-line suite becomes an indented block, its comment that of the header."""
    if isinstance(suite, cst.IndentedBlock):
        return suite.with_changes(body=list(statements))
    assert isinstance(suite, cst.SimpleStatementSuite)
    return cst.IndentedBlock(body=list(statements), header=suite.trailing_whitespace)  # type: ignore[arg-type]


def wrapped(tree: Tree, header: str, statements: Sequence[cst.CSTNode], after: str = "") -> cst.BaseCompoundStatement:
    """`header` (such as `with torch.enable_grad():`) around statements; leading comments stay above the header."""
    outer = statement(tree, f"{header}\n{tree.module.default_indent}pass\n{after}\n")
    first = statements[0]
    lead = getattr(first, "leading_lines", ())
    body = [_without_lead(first), *statements[1:]]
    return outer.with_changes(leading_lines=lead, body=cst.IndentedBlock(body=body))  # type: ignore[return-value, arg-type]


def enclosed(
    tree: Tree,
    anchor: cst.CSTNode,
    header: str,
    before: Sequence[str] = (),
    after: str = "",
    values: Mapping[cst.CSTNode, cst.CSTNode] | None = None,
) -> dict[cst.CSTNode, Replacement]:
    """A small statement inside a block of its own; what shares its line stays before or behind it.

    Args:
        before: statements between what stays before it and the block.
        after: what ends the compound statement that the block is part of.
        values: what becomes of nodes in the statement.
    """
    line = tree.parent(anchor)
    assert isinstance(line, (cst.SimpleStatementLine, cst.SimpleStatementSuite))
    parts: list[cst.CSTNode] = [
        cst.SimpleStatementLine([each.with_changes(semicolon=cst.MaybeSentinel.DEFAULT)]) for each in line.body
    ]
    at = next(i for i, each in enumerate(line.body) if each is anchor)
    own = line if isinstance(line, cst.SimpleStatementLine) and len(parts) == 1 else parts[at]
    block = wrapped(tree, header, [replace(own, values or {})], after)
    parts[at : at + 1] = [*(statement(tree, code) for code in before), block]
    if isinstance(line, cst.SimpleStatementSuite):
        return {line: with_body(line, parts)}
    return {line: [_with_lead(parts[0], line), *map(_without_lead, parts[1:])]}


def _with_lead(node: cst.CSTNode, like: cst.CSTNode) -> cst.CSTNode:
    return node.with_changes(leading_lines=getattr(like, "leading_lines", ()))


def _without_lead(node: cst.CSTNode) -> cst.CSTNode:
    return node.with_changes(leading_lines=()) if getattr(node, "leading_lines", ()) else node


def with_item(node: cst.With, item: cst.BaseExpression) -> cst.With:
    """A `with` that enters one more context manager, after those that it has."""
    *front, last = node.items
    comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    return node.with_changes(items=[*front, last.with_changes(comma=comma), cst.WithItem(item, comma=last.comma)])


def chosen(tree: Tree, old: cst.Call, test: cst.BaseExpression, new: cst.Call) -> cst.IfExp:
    """`new if test else old`: on three lines where a call is a whole value, else in parentheses if it must be."""
    choice = cst.IfExp(test, new.with_changes(lpar=[], rpar=[]), old.with_changes(lpar=[], rpar=[]))
    parent = tree.parent(old)
    if isinstance(parent, (cst.Assign, cst.AnnAssign, cst.Return, cst.Expr)) and not old.lpar:
        inner = _new_line(tree.module.default_indent)
        return choice.with_changes(
            lpar=[cst.LeftParen(whitespace_after=inner)],
            rpar=[cst.RightParen(whitespace_before=_new_line(""))],
            whitespace_before_if=inner,
            whitespace_before_else=inner,
        )
    if isinstance(parent, cst.Arg) and not parent.star:
        return choice
    return choice.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def _new_line(space: str) -> cst.ParenthesizedWhitespace:
    return cst.ParenthesizedWhitespace(indent=True, last_line=cst.SimpleWhitespace(space))


def divided(node: cst.With, parts: Sequence[tuple[bool, int]], *, loop: bool) -> list[cst.CSTNode]:
    """Parts of the body of a `with`, each in a `with` of its own (True) or in none.

    Args:
        parts: whether each stands in a `with`, and how many statements it has.
        loop: the parts are of the body of the one loop in the `with`, which comes out of it.
    """
    inner = node.body.body[0] if loop else None
    assert inner is None or isinstance(inner, (cst.For, cst.While))
    suite = node.body if inner is None else inner.body
    statements = [each for line in suite.body for each in _statements(line)]
    made: list[cst.CSTNode] = []
    for inside, length in parts:
        taken, statements = statements[:length], statements[length:]
        lines = _lines_of(suite, taken)
        made += [node.with_changes(body=_part(node.body, lines, statements), leading_lines=())] if inside else lines
    if inner is not None:
        leading = [*node.leading_lines, *inner.leading_lines]
        return [inner.with_changes(body=with_body(inner.body, made), leading_lines=leading)]
    leading = [*node.leading_lines, *getattr(made[0], "leading_lines", ())]
    return [made[0].with_changes(leading_lines=leading), *made[1:]]


def _statements(line: cst.CSTNode) -> Sequence[cst.CSTNode]:
    """The small statements of a line, or the one statement that it is."""
    return line.body if isinstance(line, cst.SimpleStatementLine) else [line]


def _lines_of(suite: cst.BaseSuite, taken: Sequence[cst.CSTNode]) -> list[cst.CSTNode]:
    """Some statements of a suite as lines: whole lines stay, of others each statement gets a line of its own."""
    found: list[cst.CSTNode] = []
    for line in suite.body:
        mine = [each for each in _statements(line) if each in taken]
        if not isinstance(line, cst.BaseSmallStatement) and len(mine) == len(_statements(line)):
            found.append(line)
            continue
        for each in mine:
            assert isinstance(each, cst.BaseSmallStatement)
            alone = cst.SimpleStatementLine([each.with_changes(semicolon=cst.MaybeSentinel.DEFAULT)])
            if isinstance(line, cst.SimpleStatementLine) and each is line.body[0]:
                alone = alone.with_changes(leading_lines=line.leading_lines)
            if isinstance(line, cst.SimpleStatementLine) and each is line.body[-1]:
                alone = alone.with_changes(trailing_whitespace=line.trailing_whitespace)
            found.append(alone)
    return found


def _part(whole: cst.BaseSuite, lines: Sequence[cst.CSTNode], rest: Sequence[cst.CSTNode]) -> cst.BaseSuite:
    """A part of a block; what stands at its end stays with the last part."""
    if isinstance(whole, cst.IndentedBlock):
        return whole.with_changes(body=lines, footer=[] if rest else whole.footer)
    return cst.IndentedBlock(body=lines)  # type: ignore[arg-type]


def result_named(tree: Tree, node: cst.Return, name: str, code: Sequence[str]) -> dict[cst.CSTNode, Replacement]:
    """`return f(x)` → `name = f(x)`, `code`, `return name`."""
    value = node.value
    assert value is not None
    if isinstance(value, cst.Tuple) and any(isinstance(each, cst.StarredElement) for each in value.elements):
        value = value if value.lpar else value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    bound = cst.Assign([cst.AssignTarget(cst.Name(name))], value)
    after = [*(small(tree, each) for each in code), cst.Return(cst.Name(name))]
    line = tree.parent(node)
    if isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1:
        return {line: [line.with_changes(body=[bound]), *(cst.SimpleStatementLine([each]) for each in after)]}
    assert isinstance(line, (cst.SimpleStatementLine, cst.SimpleStatementSuite))
    front = [each for each in line.body if each is not node]
    return {line: line.with_changes(body=joined([*front, bound, *after]))}
