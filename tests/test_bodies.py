"""Trees whose classes and functions are parsed on demand are the trees of the whole text."""

from __future__ import annotations

import dataclasses
import sysconfig
import textwrap
from pathlib import Path
from typing import Any

import libcst as cst
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memory import Memory

from codemods.engine.rounds import Options, plan
from codemods.model.edits import Skip, Unreadable
from codemods.syntax.facts import Facts, gather
from codemods.syntax.lazy_parse import Deferred, _About, outside, parents, parse_outside
from codemods.syntax.tree import parse, spans, walk
from codemods.transforms import load

LIBRARY = Path(sysconfig.get_paths()["stdlib"])
REAL = sorted((LIBRARY / "asyncio").glob("*.py")) + sorted((LIBRARY / "email").glob("*.py"))


def lazily(text: str) -> cst.Module:
    facts = gather("a.py", text)
    assert isinstance(facts, Facts)
    module = parse_outside("a.py", text, facts.bodies)
    assert isinstance(module, cst.Module)
    return module


def difference(lazy: Any, whole: Any) -> tuple[Any, Any] | None:
    """Two places at which the trees differ, bodies on demand being taken for the blocks they are."""
    stack = [(lazy, whole)]
    while stack:
        a, b = stack.pop()
        a = a.with_changes() if isinstance(a, Deferred) else a
        if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)) and len(a) == len(b):
            stack += zip(a, b, strict=True)
        elif isinstance(a, cst.CSTNode) and type(a) is type(b):
            stack += [(getattr(a, f.name), getattr(b, f.name)) for f in dataclasses.fields(a)]
        elif a != b:
            return a, b
    return None


def check(text: str) -> int:
    """Compare, before and after looking inside; how many bodies were left for later."""
    module, whole = lazily(text), parse("a.py", text)
    assert isinstance(whole, cst.Module)
    assert module.code == text
    left = [node for node in outside(module) if isinstance(node, Deferred)]
    assert not any(each.opened for each in left)
    found = parents(module)
    assert difference(module, whole) is None
    assert module.code == text
    assert all(each.opened for each in left)
    kinds = [type(node).__name__ for node in walk(whole)]
    assert [type(node).__name__.replace("Deferred", "IndentedBlock") for node in walk(module)] == kinds
    assert len(found) == len(kinds) - 1
    assert all(child in found for child in list(walk(module))[1:])
    return sum(isinstance(node, Deferred) for node in walk(module))


LONG = """\
class A:
    x = 1

    # above
    @decorated(
        1,
    )
    def f(self, y=(
        2
    )):

        # first
        '''Says
little.
'''
        if y:
            a = 1
            # inner
          # odd

        # last

    async def g(self): # why
        async with self.f() as z:
            await z
        for x in z: pass
        return 1; 2

    def short(self): return 1


def h():
\tif x:
\t\treturn [
  1,
]
\tdef inner():
\t\tpass
\treturn inner
# behind
z = h()
"""


class TestSame:
    def test_nothing_to_leave_for_later(self) -> None:
        assert check("") == 0
        assert check("x = 1\n") == 0
        assert check("def f():\n    return 1\n") == 0

    def test_all_that_stands_around_a_body(self) -> None:
        assert check(LONG) == 4

    def test_line_ends(self) -> None:
        assert check(LONG.replace("\n", "\r\n")) == 4
        assert check("def f():\n    a\n    b\n    c\n    d") == 0  # without a last line end it is parsed at once

    def test_blank_lines_that_belong_to_an_inner_block(self) -> None:
        assert check("def f():\n    if x:\n        a\n        b\n        c\n        \n    \n\nd = 1\n") == 1

    def test_what_libcst_counts_otherwise_is_parsed_at_once(self) -> None:
        assert check("def f():\n    a\n\f    b\n    c\n    d\n".replace("\f    b", "    b  # \f")) == 0

    @pytest.mark.parametrize("path", REAL, ids=lambda path: path.stem)
    def test_real_files(self, path: Path) -> None:
        check(path.read_text(encoding="utf-8"))

    @given(st.data())
    @settings(max_examples=200)
    def test_made_up_files(self, data: st.DataObject) -> None:
        lines = st.sampled_from(
            ["a = 1", "", "# note", "if a:\n    b()\n    # in\n", "x = '''\n y\n'''", "with a: pass"]
        )
        body = "\n".join(data.draw(st.lists(lines, min_size=3, max_size=8))) + "\npass"
        header = data.draw(
            st.sampled_from(["def f():", "async def f(a,\n  b):  # c", "@d\ndef f(): \\\n" + "  pass\ndef g():"])
        )
        indent = data.draw(st.sampled_from(["  ", "    ", "\t", "   "]))
        function = f"{header}\n{textwrap.indent(body, indent)}"
        around = data.draw(
            st.sampled_from(["{}\n", "class A:\n{}\n# end\n", "if a:\n{}\nelse:\n  pass\n", "{}\n\n  # odd\nb\n"])
        )
        inside = textwrap.indent(function, indent) if not around.startswith("{}") else function
        text = around.format(inside)
        for name in data.draw(st.lists(st.sampled_from(["@d\nclass B(\n A):  # c\n", "class C:\n"]), max_size=2)):
            before = data.draw(st.sampled_from(["", "x = 1", "# a", "# a\n\n"]))
            text = name + textwrap.indent(f"{before}\n{text}", indent)
        try:
            compile(text, "a.py", "exec", dont_inherit=True)
        except SyntaxError:
            return
        check(text)


class TestDeferred:
    def test_a_function_that_moves_is_parsed(self) -> None:
        module = lazily(LONG)
        h = next(node for node in outside(module) if isinstance(node, cst.FunctionDef) and node.name.value == "h")
        moved = module.with_changes(body=[cst.If(cst.Name("x"), cst.IndentedBlock([h]))])
        assert "    \tif x:\n    \t\treturn [" in moved.code

    def test_one_that_stays_is_not(self) -> None:
        module = lazily(LONG)
        a = next(node for node in outside(module) if isinstance(node, cst.ClassDef))
        changed = a.with_changes(bases=[cst.Arg(cst.Name("B"))])
        assert changed.body is a.body and "little" in module.code_for_node(changed)
        assert isinstance(a.body, Deferred) and not a.body.opened

    def test_the_functions_of_a_class_wait_until_they_are_asked(self) -> None:
        module = lazily(LONG)
        a = module.body[0]
        assert isinstance(a, cst.ClassDef)
        _, f, g, short = a.body.body
        for each, later in ((f, True), (g, True), (short, False)):
            assert isinstance(each, cst.FunctionDef) and isinstance(each.body, Deferred) is later
        assert module.code == LONG
        assert isinstance(f.body, Deferred) and not f.body.opened  # type: ignore[attr-defined]

    def test_spans_of_unparsed_and_parsed(self) -> None:
        module = lazily(LONG)
        last = module.body[-1]
        before = spans("a.py", LONG, module, [last])[last]
        for _ in walk(module):
            pass
        assert spans("a.py", LONG, module, [last])[last] == before
        assert LONG[before.inner_start : before.inner_end] == "z = h()"

    def test_what_libcst_refuses_is_told_when_it_is_looked_at(self) -> None:
        text = (
            "def f():\n    a\n    b\n    c\n    x = "
            + "(" * 150
            + "1"
            + ")" * 150
            + "\n"
            + "    y"
            + ".y()" * 3000
            + "\n"
        )
        facts = gather("a.py", text)
        module = parse_outside("a.py", text, facts.bodies) if isinstance(facts, Facts) else facts
        if isinstance(module, cst.Module):
            with pytest.raises(Unreadable) as caught:
                list(walk(module))
            assert isinstance(caught.value.skip, Skip)


MODEL = """\
import torch
from torch.utils.checkpoint import checkpoint

class Innocent(torch.nn.Module):
    def forward(self, x):
        a = 1
        b = 2
        c = 3
        return x

class Stack(torch.nn.Module):
    def forward(self, x):
        a = 1
        b = 2
        x = checkpoint(self.block, x)
        return x

    def other(self, x):
        a = 1
        b = 2
        c = 3
        return x
"""


def test_a_class_without_the_bug_is_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    found: set[str] = set()
    parse = _About.parse

    def seen(self: _About) -> Any:
        found.add(self.definition.partition("(")[0])
        return parse(self)

    def parsed(text: str) -> set[str]:
        found.clear()
        plan(["a.py"], Memory({"a.py": text}), Options(rules=rules), fix=False)
        return {name for name in found if name.startswith("class")}

    monkeypatch.setattr(_About, "parse", seen)
    rules = tuple(rule for rule in load() if rule.code == "CKP001")
    assert parsed(MODEL) == {"class Stack"}
    outside_functions = MODEL.replace("class Stack", "y = checkpoint(f, 1)\nclass Stack")
    assert parsed(outside_functions) == {"class Innocent", "class Stack"}
