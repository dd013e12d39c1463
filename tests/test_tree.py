"""Walk, spans and sameness, held against libcst's own slower ways."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping

import libcst as cst
import pytest
from libcst.metadata import ByteSpanPositionProvider, MetadataWrapper
from memory import Memory

from codemods.analysis.python_context import PythonContext
from codemods.engine.check_python import look
from codemods.model.edits import Safety, SkipReason
from codemods.project.index import Index
from codemods.rules.rule import Draft, Rule
from codemods.syntax.tree import Span, Tree, children, parse, render, text_of, walk
from codemods.syntax.tree import spans as spans_in
from codemods.syntax.verbs import replace

PROGRAM = '''\
"""Doc."""
from __future__ import annotations
import a.b as c, d
from . import e
from .f import *

# about f
@g(1)
@h
async def f(p: int = 1, /, q: str = "x", *args: int, r=2, **kw) -> dict[str, int]:
    """Doc."""
    global y
    async with (a as b, c): await d
    async for i in x: yield i
    return lambda u, *v, w=1: (u, *v, {"a": 1, **w}, {1, 2}, [k for k in l if k], {k: 1 for k in l})


class A(B, metaclass=M):
    x: int = 1
    y: str
    z += (1 if a else -2) and not b or c < d <= e

    def m(self): pass; del self.x


try:
    raise E from e
except (A, B) as e:
    assert x, "m"
except C:
    x[1:2, ::3] = y = f"{a!r:>{w}}" "b"
else:
    print(*a, k=1, **b)
finally:
    while (n := g()): break
if a:
    pass
elif b:
    continue_ = ...
else:
    nonlocal_ = x.y.z(  # c
        1,
    )
match p:
    case [1, *rest] | {"k": v, **kw} if v: pass
    case A(x=1) as y: pass
    case -1 | None | a.b: pass
    case _: pass
try: pass
except* E as g: pass
x = (yield)
'''


def module(text: str = PROGRAM) -> cst.Module:
    found = parse("p.py", text)
    assert isinstance(found, cst.Module)
    return found


def spans(tree: cst.Module, wanted: Iterable[cst.CSTNode]) -> Mapping[cst.CSTNode, Span]:
    return spans_in("p.py", tree.code, tree, wanted)


def find(root: cst.CSTNode, test: Callable[[cst.CSTNode], bool]) -> Iterator[cst.CSTNode]:
    """Nodes at or below `root` that pass a test, in source order."""
    return (node for node in walk(root) if test(node))


def test_walk_meets_every_piece_of_code_once() -> None:
    met = list(walk(module()))
    assert len(met) == len(set(met))
    names = {node.value for node in met if isinstance(node, cst.Name)}
    assert names == {n.value for n in cst_names(module())}


def cst_names(tree: cst.Module) -> list[cst.Name]:
    found: list[cst.Name] = []

    class Visitor(cst.CSTVisitor):
        def visit_Name(self, node: cst.Name) -> None:
            found.append(node)

    tree.visit(Visitor())
    return found


def test_children_come_in_the_order_of_the_source() -> None:
    tree = module()
    where = spans(tree, walk(tree))
    for node in walk(tree):
        starts = [where[child].start for child in children(node)]
        assert starts == sorted(starts), type(node).__name__


@pytest.mark.parametrize("text", [PROGRAM, PROGRAM.replace("\n", "\r\n"), PROGRAM.rstrip("\n"), ""])
def test_spans_are_those_of_libcst(text: str) -> None:
    wrapper = MetadataWrapper(module(text), unsafe_skip_copy=True)
    expected = wrapper.resolve(ByteSpanPositionProvider)
    found = spans(wrapper.module, [n for n in walk(wrapper.module) if n is not wrapper.module])
    for node, span in found.items():
        assert (span.inner_start, span.inner_end - span.inner_start) == (expected[node].start, expected[node].length)


def test_spans_of_few_are_those_of_all() -> None:
    tree = module()
    everything = spans(tree, walk(tree))
    for node in find(tree, lambda n: isinstance(n, (cst.BaseCompoundStatement, cst.Attribute, cst.Arg, cst.If))):
        assert spans(tree, [node])[node] == everything[node]


def test_the_text_of_a_span_is_what_render_gives() -> None:
    tree = module()
    for statement, span in spans(tree, find(tree, lambda n: isinstance(n, cst.SimpleStatementLine))).items():
        assert render(tree, statement, span.indent) == PROGRAM[span.start : span.end]


def test_parents() -> None:
    tree = Tree("p.py", "f(a)\n")
    (name,) = find(tree.module, lambda n: isinstance(n, cst.Name) and n.value == "a")
    assert [type(n).__name__ for n in tree.ancestors(name)][:2] == ["Arg", "Call"]
    assert tree.parent(tree.module) is None and isinstance(tree.statement(name), cst.Expr)


def test_text_of_an_expression() -> None:
    assert text_of(cst.parse_expression("f( a )")) == "f( a )"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x = 1\ry = 2\r", SkipReason.NO_ROUND_TRIP),
        ("x" + ".a()" * 900, SkipReason.TOO_DEEP),
        ("x = (\n", SkipReason.UNPARSABLE),
    ],
)
def test_what_cannot_be_rewritten(text: str, reason: SkipReason) -> None:
    rule = Rule("TST001", "name", "a name", "none", Safety.SAFE)

    @rule.on(ast.Name)
    def name(node: ast.Name, ctx: PythonContext) -> Iterator[Draft]:
        yield rule.finding(node, fix=[replace(node, "y")])

    found, skips = look("p.py", text, Index(Memory({"p.py": text})), [rule], {})
    assert not found and [skip.reason for skip in skips] == [reason]
