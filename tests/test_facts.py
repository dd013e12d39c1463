"""What one file says; what follows from it across files stands in `test_index.py`."""

from __future__ import annotations

import ast
import pickle

import pytest

from codemods.model.edits import Skip, SkipReason
from codemods.syntax.facts import MISSING, Facts, Value, gather, value_of


def facts(text: str) -> Facts:
    found = gather("p.py", text)
    assert isinstance(found, Facts)
    return found


def test_an_empty_file_says_nothing() -> None:
    found = facts("")
    assert (found.imports, found.classes, found.functions, found.settings, found.header) == ((), {}, {}, (), 0)


def test_facts_cross_processes() -> None:
    found = facts("import torch\nclass A(B):\n    x = 1\nTrainer(precision=16)\n")
    assert pickle.loads(pickle.dumps(found)) == found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import a", [("a", "a", False, "a")]),
        ("import a.b", [("a", "a", True, "a.b")]),
        ("import a.b as c", [("c", "a.b", False, "")]),
        ("from a import b, c as d", [("b", "a.b", False, ""), ("d", "a.c", False, "")]),
        ("from . import a", [("a", ".a", False, "")]),
        ("from ..a import b", [("b", "..a.b", False, "")]),
        ("from a import *", [("*", "a", False, "")]),
        ("from . import *", [("*", ".", False, "")]),
    ],
)
def test_imports(text: str, expected: list[tuple[str, str, bool, str]]) -> None:
    assert [(i.name, i.target, i.dotted, i.path) for i in facts(text).imports] == expected


@pytest.mark.parametrize(
    ("text", "scope", "conditional", "checking"),
    [
        ("import a", "", False, False),
        ("def f():\n    import a", "f", False, False),
        ("class A:\n    def f(self):\n        import a", "A.f", False, False),
        ("if x:\n    import a", "", True, False),
        ("try:\n    import a\nexcept E: pass", "", True, False),
        ("with x:\n    import a", "", False, False),
        ("match x:\n    case 1:\n        import a", "", True, False),
        ("while x: import a", "", True, False),
        ("if TYPE_CHECKING:\n    import a", "", True, True),
        ("if typing.TYPE_CHECKING:\n    import a", "", True, True),
        ("if TYPE_CHECKING: pass\nelse:\n    import a", "", True, False),
        ("if not TYPE_CHECKING:\n    import a", "", True, False),
    ],
)
def test_where_an_import_stands(text: str, scope: str, conditional: bool, checking: bool) -> None:
    (found,) = facts(text).imports
    assert (found.scope, found.conditional, found.type_checking) == (scope, conditional, checking)


@pytest.mark.parametrize(
    "text",
    [
        "x = 1",
        "x: int",
        "x += 1",
        "(x := 1)",
        "del x",
        "def x(): pass",
        "class x: pass",
        "def f(x): pass",
        "def f(*x): pass",
        "def f(**x): pass",
        "lambda x: 1",
        "for x in y: pass",
        "[1 for x in y]",
        "with y as x: pass",
        "try: pass\nexcept E as x: pass",
        "match y:\n    case x: pass",
        "match y:\n    case [*x]: pass",
        "match y:\n    case 1 as x if y: pass",
        "def f():\n    global x",
        "class A:\n    def f(self):\n        x = 1",
        "a, (b, *x) = y",
    ],
)
def test_a_name_is_bound_once(text: str) -> None:
    assert facts(text).rebound.get("x") == 1


@pytest.mark.parametrize("text", ["y = x", "import x", "class A:\n    x = 1", "y.x = 1", "f(x=1)", "'x'"])
def test_a_name_is_not_bound(text: str) -> None:
    assert "x" not in facts(text).rebound


@pytest.mark.parametrize(
    ("text", "loads"),
    [
        ("f(x, x)", 2),
        ("x = 1", 0),
        ("def f(a: x = x, *b: x, c=x) -> x: pass", 5),
        ("@x\nclass A(x, y=x): pass", 3),
        ("x.y.z", 1),
        ("match x:\n    case x.y if x: pass", 3),
        ("try: x\nexcept x: x\nelse: x\nfinally: x", 5),
    ],
)
def test_how_often_a_name_is_read(text: str, loads: int) -> None:
    assert facts(text).loads.get("x", 0) == loads


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", Value(1)),
        ("'a'", Value("a")),
        ("-1", Value(-1)),
        ("-'a'", Value()),
        ("-x", Value()),
        ("1j", Value()),
        ("...", Value()),
        ("None", Value(None)),
        ("a.b", Value(dotted="a.b")),
        ("f().b", Value()),
        ("a + b", Value()),
        (
            "f(1, *a, x=b)",
            Value(dotted="f", call=True, args=(Value(1),), keywords={"x": Value(dotted="b")}, splat=True),
        ),
        ("f(**a)", Value(dotted="f", call=True, splat=True)),
    ],
)
def test_values(text: str, expected: Value) -> None:
    assert value_of(ast.parse(text, mode="eval").body) == expected


def test_values_end_at_some_depth() -> None:
    value = value_of(ast.parse("a(b(c(d(e))))", mode="eval").body)
    assert value.args[0].args[0].args == (Value(),)
    assert not MISSING


def test_settings() -> None:
    text = "t = pl.Trainer(precision='16')\ndef f():\n    with autocast(): g(Accelerator(mixed_precision='fp16'))\n"
    found = [(s.call.dotted, s.line, s.scope) for s in facts(text).settings]
    assert sorted(found, key=lambda s: (s[1], str(s[0]))) == [
        ("pl.Trainer", 1, ""),
        ("Accelerator", 3, "f"),
        ("autocast", 3, "f"),
    ]


@pytest.mark.parametrize(
    ("text", "splats"),
    [
        ("L.Trainer(**config.trainer)", [("L.Trainer", ("trainer",))]),
        ("f(1, *a, **c['a'].b['d'], **c.e)", [("f", ("a", "b", "d")), ("f", ("e",))]),
        ("def g():\n    with f(**self.kwargs): pass", [("f", ("kwargs",))]),
        ("f(**config)", []),
        ("f(**config[0].a)", []),
        ("f(**config[key].a)", []),
        ("f(**load().a)", []),
        ("f(a=config.a)", []),
        ("f()(**config.a)", []),
    ],
)
def test_tables_that_calls_are_handed(text: str, splats: list[tuple[str, tuple[str, ...]]]) -> None:
    assert [(splat.called, splat.keys) for splat in facts(text).splats] == splats


@pytest.mark.parametrize(
    ("text", "exports"),
    [
        ("__all__ = ['a', 'b']", {"a", "b"}),
        ("__all__ = ('a',)\n__all__ += ['b']", {"a", "b"}),
        ("__all__ = ['a', *b]", {"a"}),
        ("__all__ = x", set()),
        ("def f():\n    __all__ = ['a']", set()),
    ],
)
def test_exports(text: str, exports: set[str]) -> None:
    assert facts(text).exports == exports


@pytest.mark.parametrize(
    ("text", "header", "future"),
    [
        ("import a", 0, False),
        ('"""Doc.\n"""\nimport a', 2, False),
        ("from __future__ import annotations\nimport a", 1, True),
        ('"""Doc."""\n\nfrom __future__ import (\n    annotations,\n)\nx = 1', 5, True),
        ("x = 1\n'no docstring'", 0, False),
    ],
)
def test_header(text: str, header: int, future: bool) -> None:
    found = facts(text)
    assert (found.header, found.future) == (header, future)


def test_assignments() -> None:
    found = facts("x = 1\nx: int = 2\nx: int\nif x:\n    x += 3\nclass A:\n    y: int = 4\n")
    assert [(a.value, a.conditional, a.line) for a in found.assignments["x"]] == [
        (Value(1), False, 1),
        (Value(2), False, 2),
        (Value(), True, 5),
    ]
    assert [a.value for a in found.classes["A"].attributes["y"]] == [Value(4)]


def test_classes() -> None:
    found = facts("class A(B, c.D[T], f(), metaclass=M):\n    class E: pass\ndef g():\n    class H: pass\n").classes
    assert {name: (c.bases, c.conditional) for name, c in found.items()} == {
        "A": (("B", "c.D", None), False),
        "A.E": ((), False),
        "g.H": ((), False),
    }


def test_a_class_defined_twice_is_unsure() -> None:
    assert facts("class A: pass\nclass A: x = 1\n").classes["A"].conditional


def test_a_method_with_an_overload_is_the_one_that_runs() -> None:
    text = "class A:\n    @overload\n    def f(self): ...\n    def f(self, x): return 1\n"
    assert facts(text).classes["A"].methods["f"].parameters == ("self", "x")


def test_a_text_that_no_source_may_be_has_no_facts() -> None:
    skip = gather("p.py", "x = '\udce9'\n")
    assert isinstance(skip, Skip)
    assert skip.reason is SkipReason.UNPARSABLE


def test_warnings_of_the_parser_stay_silent(recwarn: pytest.WarningsRecorder) -> None:
    assert facts("x = '\\d' is 1\n").assignments["x"][0].value == Value()
    assert list(recwarn) == []
