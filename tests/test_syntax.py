"""The syntax tree of a file: parents, scopes, positions; and verbs, written into files of every layout."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

import libcst as cst
import pytest
from memory import Memory

from codemods.analysis.python_context import PythonContext
from codemods.engine.rounds import Options, plan
from codemods.model.edits import Safety, SkipReason, splice
from codemods.rules.rule import Draft, Rule
from codemods.syntax import rewriting
from codemods.syntax import verbs as all_verbs
from codemods.syntax.module import Module, dotted, own
from codemods.syntax.verbs import Verb

TEXT = '''\
import torch


@decorate(outside())
def f(x=default()):
    """ä"""
    y = "äö" + inner(x)
    return [z for z in y if (lambda: deep())()]


class C(base()):
    value = made()
'''


def call(module: Module, name: str) -> ast.Call:
    (found,) = [c for c in module.all(ast.Call) if dotted(c.func) == name]
    return found


@pytest.mark.parametrize(
    ("name", "scope"),
    [
        ("outside", "Module"),
        ("default", "Module"),
        ("inner", "f"),
        ("deep", "Lambda"),
        ("base", "Module"),
        ("made", "C"),
    ],
)
def test_the_scope_is_what_runs_a_node(name: str, scope: str) -> None:
    module = Module(TEXT)
    found = module.scope(call(module, name))
    assert getattr(found, "name", type(found).__name__) == scope


def test_positions_count_characters() -> None:
    module = Module(TEXT)
    for node in module.all(ast.Call, ast.Constant, ast.ListComp):
        assert isinstance(node, ast.expr)
        assert ast.dump(ast.parse(f"({module.source(node)})", mode="eval").body) == ast.dump(node)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_positions_count_line_ends_as_they_are(newline: str) -> None:
    module = Module("a(\n  b)\nc()\n".replace("\n", newline))
    assert [module.source(each) for each in module.all(ast.Call)] == [f"a({newline}  b)", "c()"]


def test_what_a_body_runs_is_not_what_its_functions_run() -> None:
    module = Module(
        "def f():\n    a()\n    def g(x=b()):\n        c()\n    lambda: d()\n    class C(e()):\n        g()\n"
    )
    (function, _) = module.all(ast.FunctionDef)
    assert {dotted(n.func) for n in own(function) if isinstance(n, ast.Call)} == {"a", "b", "e"}


@pytest.mark.parametrize("word", ["a", "b", "c"])
def test_a_block_is_what_a_statement_stands_among(word: str) -> None:
    module = Module("if x:\n    a\nelif y:\n    b\nelse:\n    try: z\n    finally:\n        c\n        c\n")
    (found, *_) = (s for s in module.all(ast.Expr) if ast.unparse(s) == word)
    assert {ast.unparse(s) for s in getattr(*module.block(found))} == {word}


# -- verbs


def written(code: str, *verbs: str) -> str:
    """What verbs make of a program; each is said of the call `here()`, and evaluated with it."""

    def check(module: ast.Module, ctx: PythonContext) -> list[Draft]:
        calls = [n for n in ast.walk(module) if isinstance(n, ast.Call) and dotted(n.func) == "here"]
        names = {**vars(all_verbs), "up": ctx.parent}
        made: list[Verb] = [eval(verb, {**names, "here": here}) for here in calls for verb in verbs]
        return [rule.finding(calls[0], fix=made)] if calls else []

    rule = Rule("TST001", "test", "a test", "Test", Safety.SAFE, triggers=(("here",),))
    rule.on(ast.Module)(check)  # type: ignore[arg-type]
    files = {"p.py": textwrap.dedent(code).lstrip("\n").encode()}
    found = plan(["p.py"], Memory(files), Options(rules=(rule,)), fix=False)
    assert found.skips == ()
    (finding,) = found.files[0].findings
    return splice(files["p.py"].decode(), finding.fix.edits) if finding.fix is not None else ""


@pytest.mark.parametrize(
    ("before", "verb", "after"),
    [
        ("x = here()\n", "replace(here, 'there(1)')", "x = there(1)\n"),
        ("x = (here())\n", "replace(here, 'there(1)')", "x = there(1)\n"),
        ("x = here(( a  + b ))\n", "replace(here, here.args[0])", "x = ( a  + b )\n"),
        ("x = (here()) + 1\n", "replace(here, 'a if b else c')", "x = (a if b else c) + 1\n"),
        ("a\nhere()  # why\nb\n", "insert_before(here, 'new()')", "a\nnew()\nhere()  # why\nb\n"),
        ("a\nhere()  # why\nb\n", "insert_after(here, 'new()')", "a\nhere()  # why\nnew()\nb\n"),
        ("a; here(); b\n", "insert_before(here, 'new()')", "a; new(); here(); b\n"),
        ("if x: here()\n", "insert_after(here, 'new()')", "if x: here(); new()\n"),
        (
            "if x:\n\ty = here()\n",
            "insert_before(here, 'for a in b:\\n    new()')",
            "if x:\n\tfor a in b:\n\t\tnew()\n\ty = here()\n",
        ),
        ("if x: here()\n", "insert_before(here, 'if y:\\n    new()')", "if x:\n    if y:\n        new()\n    here()\n"),
        ("while here():\n    pass\n", "insert_before(here, 'new()')", "new()\nwhile here():\n    pass\n"),
        (
            "if x:\n    a\nelif here():\n    b\n",
            "insert_before(here, 'new()')",
            "new()\nif x:\n    a\nelif here():\n    b\n",
        ),
        ("a\nhere()\nb\n", "delete(here)", "a\nb\n"),
        ("a; here(); b\n", "delete(here)", "a; b\n"),
        ("if x:\n    here()\n", "delete(here)", "if x:\n    pass\n"),
        ("f(a, here(), b)\n", "drop(here)", "f(a, b)\n"),
        ("f(\n    a,\n    here(),\n)\n", "drop(here)", "f(\n    a,\n)\n"),
        ("x = [here()]\n", "drop(here)", "x = []\n"),
        ("@a\n@here()\ndef f(): pass\n", "drop(here)", "@a\ndef f(): pass\n"),
        ("with here(), a: pass\n", "drop(here)", "with a: pass\n"),
        ("with here(), a, x: pass\n", "drop(here, up(up(here)).items[1].context_expr)", "with x: pass\n"),
        ("if x:\n    # why\n    if y: here()\n", "delete(up(up(here)))", "if x:\n    # why\n    pass\n"),
        ("# why\nhere()  # how\nb\n", "enclose(here, 'with a:')", "# why\nwith a:\n    here()  # how\nb\n"),
        ("a; here(); b\n", "enclose(here, 'with c:')", "a\nwith c:\n    here()\nb\n"),
        (
            "# why\nx = here(1)  # how\n",
            "enclose(here, 'try:', before=['b()'], after='finally:\\n    c()', values={here.args[0]: '2'})",
            "# why\nb()\ntry:\n    x = here(2)  # how\nfinally:\n    c()\n",
        ),
        (
            "if x:\n  here()\n",
            "enclose(here, 'try:', after='finally:\\n    c()')",
            "if x:\n  try:\n    here()\n  finally:\n    c()\n",
        ),
        (
            "a; here(1)\n",
            "enclose(here, 'with b:', before=['c'], values={here.args[0]: '2'})",
            "a\nc\nwith b:\n    here(2)\n",
        ),
        ("if x: here()\n", "enclose(here, 'with a:')", "if x:\n    with a:\n        here()\n"),
        ("# why\nwith here():\n    # how\n    a\n    b\n", "unwrap(up(up(here)))", "# why\n# how\na\nb\n"),
        ("with here(): a; b\n", "unwrap(up(up(here)))", "a\nb\n"),
        ("here(1)\n", "edit_call(here, function='a.b', first=[(None, 'c')])", "a.b(c, 1)\n"),
        ("here()\n", "edit_call(here, last=[('c', 'True')])", "here(c=True)\n"),
        (
            "here(\n    1,  # one\n    k=2,\n)\n",
            "edit_call(here, last=[('c', '3')])",
            "here(\n    1,  # one\n    k=2,\n    c=3,\n)\n",
        ),
        (
            "here(1, k=2)\n",
            "edit_call(here, values={here.args[0]: '(yield)', here.keywords[0]: '4'})",
            "here((yield), k=4)\n",
        ),
        ("here(k=2, *a)\n", "edit_call(here, values={here.keywords[0]: '4'}, named={})", "here(k=4, *a)\n"),
        (
            "x = here(1)\n",
            "choose('a.b', edit_call(here, function='there'))",
            "x = (\n    there(1)\n    if a.b\n    else here(1)\n)\n",
        ),
        ("f(k=here())\n", "choose('a', edit_call(here, function='b'))", "f(k=b() if a else here())\n"),
        ("x = here().y\n", "choose('a', edit_call(here, function='b'))", "x = (b() if a else here()).y\n"),
        ("here(1, 2)\n", "edit_call(here, named={here.args[1]: 'k'}, drop=[here.args[0]])", "here(k=2)\n"),
    ],
)
def test_a_verb_keeps_the_layout(before: str, verb: str, after: str) -> None:
    assert written(before, verb) == after


def test_verbs_of_one_fix_are_written_beside_each_other() -> None:
    done = written(
        "a; here(); b\n", "insert_before(here, 'new()')", "replace(here, 'there()')", "insert_after(here, 'end()')"
    )
    assert done == "a; new(); there(); end(); b\n"
    moved = written("if x:\n    a\n    here()", "delete(here)", "insert_after(up(up(here)), 'here()')")
    assert moved == "if x:\n    a\nhere()"


@pytest.mark.parametrize(
    ("names", "gone", "left"),
    [
        ("b, c as d, e", "bc", "e"),
        ("b, c as d, e", "e", "b, c as d"),
        ("(\n    b,  # one\n    c,\n    e,\n)", "ce", "(\n    b,  # one\n)"),
    ],
)
def test_names_of_an_import_are_dropped(names: str, gone: str, left: str) -> None:
    def check(given: ast.ImportFrom, ctx: object) -> Iterator[Draft]:
        yield rule.finding(given, fix=[all_verbs.drop(*(each for each in given.names if each.name in gone))])

    rule = Rule("TST001", "test", "a test", "Test", Safety.SAFE, triggers=(("a",),))
    rule.on(ast.ImportFrom)(check)
    found = plan(["p.py"], Memory({"p.py": f"from a import {names}\n".encode()}), Options(rules=(rule,)), fix=False)
    (finding,) = found.files[0].findings
    assert finding.fix is not None
    assert splice(f"from a import {names}\n", finding.fix.edits) == f"from a import {left}\n"


@pytest.mark.parametrize(
    ("before", "verb", "after"),
    [
        ("with a as b: # c\n    here()\n", "add_item(block, 'd()')", "with a as b, d(): # c\n    here()\n"),
        (
            "# a\nwith a:\n    # b\n    b\n    c; here()  # d\n    # e\nd\n",
            "divide(block, (False, body[:1]), (True, body[1:]))",
            "# a\n# b\nb\nwith a:\n    c; here()  # d\n    # e\nd\n",
        ),
        (
            "with a:  # why\n    b\n    c; here()  # d\n",
            "divide(block, (True, body[:2]), (True, body[2:]))",
            "with a:  # why\n    b\n    c\nwith a:  # why\n    here()  # d\n",
        ),
        ("with a: b; here()\n", "divide(block, (True, body[:1]), (False, body[1:]))", "with a:\n    b\nhere()\n"),
        (
            "with a:\n    # each\n    for b in c:\n        d\n        here()\n",
            "divide(block, (True, body[0].body[:1]), (False, body[0].body[1:]))",
            "# each\nfor b in c:\n    with a:\n        d\n    here()\n",
        ),
    ],
)
def test_a_with_is_divided_or_enters_more(before: str, verb: str, after: str) -> None:
    def check(block: ast.With, ctx: object) -> Iterator[Draft]:
        yield rule.finding(block.body[0], fix=[eval(verb, {**vars(all_verbs), "block": block, "body": block.body})])

    rule = Rule("TST001", "test", "a test", "Test", Safety.SAFE, triggers=(("here",),))
    rule.on(ast.With)(check)
    found = plan(["p.py"], Memory({"p.py": before.encode()}), Options(rules=(rule,)), fix=False)
    (finding,) = found.files[0].findings
    assert finding.fix is not None
    assert splice(before, finding.fix.edits) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def f():\n    return here()  # why\n", "def f():\n    x = here()  # why\n    b()\n    return x\n"),
        ("def f(): a; return here(\n    1)\n", "def f(): a; x = here(\n    1); b(); return x\n"),
        (
            "def f():\n    return (here()\n        .a)\n",
            "def f():\n    x = (here()\n        .a)\n    b()\n    return x\n",
        ),
        ("def f():\n    return 1, *here()\n", "def f():\n    x = (1, *here())\n    b()\n    return x\n"),
    ],
)
def test_a_result_is_named(before: str, after: str) -> None:
    def check(node: ast.Return, ctx: object) -> Iterator[Draft]:
        yield rule.finding(node, fix=[all_verbs.name_result(node, "x", "b()")])

    rule = Rule("TST001", "test", "a test", "Test", Safety.SAFE, triggers=(("here",),))
    rule.on(ast.Return)(check)
    found = plan(["p.py"], Memory({"p.py": before.encode()}), Options(rules=(rule,)), fix=False)
    (finding,) = found.files[0].findings
    assert finding.fix is not None
    assert splice(before, finding.fix.edits) == after


def test_verbs_that_meet_are_no_fix() -> None:
    assert written("x = here()\n", "replace(here, 'a()')", "replace(here, 'b()')") == ""


def test_the_rest_of_a_file_stays_as_it_is() -> None:
    before = "x = 1   # odd\n\n\n\nif y :\n  here( )\n  z = [1,\n     2]\n"
    assert written(before, "insert_before(here, 'new()')") == before.replace("  here( )", "  new()\n  here( )")


def test_a_place_that_libcst_does_not_have_costs_its_own_rule_only(monkeypatch: pytest.MonkeyPatch) -> None:
    def at(name: str, code: str) -> Rule:
        def check(call: ast.Call, ctx: object) -> Iterator[Draft]:
            if dotted(call.func) == name:
                yield rule.finding(call, fix=[all_verbs.replace(call, "done()")])

        rule = Rule(code, name, "a test", "Test", Safety.SAFE, triggers=((name,),))
        rule.on(ast.Call)(check)  # type: ignore[arg-type]
        return rule

    def without_lost(*given: Any) -> Mapping[ast.AST, cst.CSTNode]:
        return {node: there for node, there in everything(*given).items() if ast.unparse(node) != "lost()"}

    everything = rewriting.located
    monkeypatch.setattr(rewriting, "located", without_lost)
    rules = (at("lost", "TST001"), at("kept", "TST002"))
    found = plan(["p.py"], Memory({"p.py": b"lost()\nkept()\n"}), Options(rules=rules), fix=False)
    assert [finding.code for finding in found.files[0].findings] == ["TST002"]
    assert [(skip.path, skip.reason) for skip in found.skips] == [("p.py", SkipReason.NO_ROUND_TRIP)]


def test_a_fix_reaches_into_another_file() -> None:
    def check(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
        other = ctx.other("q.py")
        if other is not None and ctx.path == "p.py":
            yield rule.finding(call, also={"q.py": [all_verbs.replace(there, "g(2)") for there in other.all(ast.Call)]})

    rule = Rule("TST001", "test", "a test", "Test", Safety.SAFE, triggers=(("here",),))
    rule.on(ast.Call)(check)
    files = {"p.py": b"import q\nhere()\n", "q.py": b"f(1)\nx = f(3)\n"}
    found = plan(["p.py"], Memory(files), Options(rules=(rule,)), fix=False)
    (finding,) = found.files[0].findings
    assert finding.fix is not None
    assert splice(files["q.py"].decode(), finding.fix.edits) == "g(2)\nx = g(2)\n"
