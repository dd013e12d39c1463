"""Rules for tests of the engine, and programs for them. No real bug looks like this."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hypothesis import strategies as st

from codemods.analysis.python_context import PythonContext
from codemods.model.edits import Safety
from codemods.rules.rule import Draft, Rule
from codemods.syntax.verbs import edit_call, enclose, insert_after, rename, replace


def _rule(code: str, name: str, *triggers: str) -> Rule:
    return Rule(code, name, f"summary of {name}", f"fix of {name}", Safety.SAFE, (triggers,))


renamed = _rule("TOY001", "renamed", "old")
doubled = _rule("TOY002", "doubled", "twice")
followed = _rule("TOY003", "followed", "mark")
wrapping = _rule("TOY004", "wrapping", "bare")
torched = _rule("TOY005", "torched", "legacy")
shared = _rule("TOY006", "shared", "shared")
inherited = _rule("TOY007", "inherited", "flagged")
RULES = (renamed, doubled, followed, wrapping, torched, shared, inherited)


def _is(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name


@renamed.on(ast.Call)
def _renamed(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    if _is(call, "old"):
        yield renamed.finding(call, fix=[edit_call(call, function="new")])


@doubled.on(ast.Call)
def _doubled(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    """`twice(x)` → `x + x`: copies what stands inside, so that a neighbour's fix inside is deferred."""
    if _is(call, "twice") and len(call.args) == 1 and not isinstance(call.args[0], ast.Starred):
        value = ctx.operand(call.args[0])
        yield doubled.finding(call, fix=[replace(call, f"({value} + {value})")])


@followed.on(ast.Call)
def _followed(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    """`mark()` as a statement gets `after()` behind it, once."""
    statement = ctx.parent(call)
    if not _is(call, "mark") or not isinstance(statement, ast.Expr):
        return
    owner, name = ctx.module.block(statement)
    body: list[ast.stmt] = getattr(owner, name)
    following = body[body.index(statement) + 1 :]
    if not following or "after()" not in ctx.source(following[0]):
        yield followed.finding(call, fix=[insert_after(call, "after()")])


@wrapping.on(ast.Expr)
def _wrapping(statement: ast.Expr, ctx: PythonContext) -> Iterator[Draft]:
    """`bare(…)` as a statement goes into `with held:`."""
    if _is(statement.value, "bare") and not isinstance(ctx.parent(statement), ast.With):
        yield wrapping.finding(statement.value, fix=[enclose(statement, "with held:")])


@torched.on(ast.Call)
def _torched(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    """`legacy(…)`, imported from `lib`, becomes `torch.modern(…)`."""
    if ctx.means(call.func, "lib.legacy") and (spelled := ctx.spell("torch.modern", at=call)):
        yield torched.finding(call, fix=[edit_call(call, function=spelled.code)], needs=[spelled.need])


@shared.on(ast.Call)
def _shared(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    """`shared()` of another module loses its name there and here: one fix over two files."""
    target = ctx.callee(call)
    if target is None or target[1].name != "shared" or target[0] is ctx:
        return
    other, function = target
    aliases = [a for a in ctx.all(ast.alias) if a.name == "shared"]
    if len(aliases) == 1 and len([c for c in ctx.all(ast.Call) if _is(c, "shared")]) == 1:
        yield shared.finding(
            call,
            fix=[edit_call(call, function="common"), rename(aliases[0], "common")],
            also={other.path: [rename(function, "common")]},
        )


@inherited.on(ast.Call)
def _inherited(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    """`self.flagged()` where the class, or an ancestor in any file, sets `flag = True`."""
    method = ctx.method(call)
    if method and ctx.name(call.func) == f"{method.self}.flagged" and ctx.index.constant(method.owner, "flag") is True:
        yield inherited.finding(call, fix=[edit_call(call, drop=call.args)] if call.args else None)


# -- programs

_ATOMS = st.sampled_from(["x", "y", "1", "old()", "legacy(x)", "old", '"s"', "old(1,\n        2)"])
_EXPRESSIONS = st.recursive(
    _ATOMS,
    lambda inner: st.one_of(
        inner.map(lambda e: f"old({e})"),
        inner.map(lambda e: f"twice({e})"),
        inner.map(lambda e: f"legacy({e}, *z)"),
        inner.map(lambda e: f"({e} + 1)"),
        st.tuples(inner, inner).map(lambda p: f"f({p[0]}, {p[1]})"),
    ),
    max_leaves=4,
)
_SMALL = st.one_of(
    _EXPRESSIONS.map(lambda e: f"a = {e}"),
    _EXPRESSIONS.map(lambda e: f"bare({e})"),
    st.just("mark()"),
    st.just("mark(); b = old(2)"),
    _EXPRESSIONS.map(lambda e: f"return_ = {e}  # note"),
)


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for text in lines for line in text.split("\n")]


_BLOCKS = st.recursive(
    st.lists(_SMALL, min_size=1, max_size=3),
    lambda inner: st.one_of(
        st.tuples(_EXPRESSIONS, inner).map(lambda p: [f"if {p[0]}:", *_indented(p[1])]),
        inner.map(lambda b: ["for i in z:", *_indented(b)]),
        inner.map(lambda b: ["def g(k):", *_indented(b)]),
        st.just(["if x: mark()"]),
        st.tuples(inner, inner).map(lambda p: [*p[0], "", "# between", *p[1]]),
    ),
    max_leaves=3,
)
_HEADS = st.sampled_from(
    [
        "from lib import legacy\n",
        '"""Doc."""\nfrom __future__ import annotations\n\nfrom lib import legacy, other\n',
        "import torch\nfrom lib import (\n    legacy,\n    other,\n)\n",
        "#!/usr/bin/env python\nimport lib\nfrom lib import legacy\nlegacy = lib.legacy\n",
    ]
)
PROGRAMS = st.builds(
    lambda head, blocks, newline, end: (head + "\n".join("\n".join(b) for b in blocks) + end).replace("\n", newline),
    _HEADS,
    st.lists(_BLOCKS, min_size=1, max_size=2),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["\n", ""]),
)
_USER = st.sampled_from(
    [
        "from {m} import shared\nv = shared()\n",
        "from {m} import shared\nv = old(shared())\nw = old(3)\n",
        "from {m} import Base\nclass K(Base):\n    def f(self):\n        self.flagged(1)\n",
        "import {m}\nclass K({m}.Base):\n    def f(self):\n        mark()\n        self.flagged(old(1))\n",
    ]
)
_BASE = st.sampled_from(
    [
        "def shared():\n    return old(1)\nclass Base:\n    flag = True\n",
        "class Base:\n    def __init__(self):\n        self.flag = True\n\n\ndef shared(): return 1\n",
        "class Base:\n    flag = False\ndef shared():\n    mark()\n    return 2\n",
        "if x:\n    def shared():\n        return 3\nclass Base: pass\n",
    ]
)
PROJECTS = st.builds(
    lambda base, users, program: {
        "m.py": base,
        "p.py": program,
        **{f"u{i}.py": user.format(m="m") for i, user in enumerate(users)},
    },
    _BASE,
    st.lists(_USER, min_size=1, max_size=2),
    PROGRAMS,
)
