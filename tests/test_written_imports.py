"""`codemods.syntax.written_imports`: nothing that is imported is missing, however the statement is written."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codemods.syntax.written_imports import written_imports

PLAIN = "import torch.nn as nn\n"


def named(source: str) -> set[str]:
    """The modules that a program imports, and the names that it takes from them, by its syntax tree."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                found |= {alias.name for alias in names}
            case ast.ImportFrom(module=module, names=names, level=level):
                base = "." * level + (module or "")
                dot = "" if base.endswith(".") else "."
                found |= {base} | {base + dot + alias.name for alias in names if alias.name != "*"}
    found |= {name.rpartition(".")[0] for name in found}
    return {name for name in found if name.strip(".")}


@pytest.mark.parametrize(
    "source",
    [
        PLAIN,
        "from a.b import (c,\n  d as e,  # not ) the end\n  f,\n)\n",
        "from a \\\n  .b import \\\n  c, \\\n  d\n",
        "from a \\\r\n  import c, \\\r\n  d\r\n",
        "from a import \\\n (b,\n c)\n",
        "if x: import a; from b import c\n",
        "try: import a\nexcept ImportError: pass\n",
        "from . import a\nfrom .b import *\nfrom ..c.d import e\n",
        "def f():\n\timport a,b . c\n",
        "x = 1;import a\n",
        "\x0cimport a\n",
        "from a import(b)\n",
        "import größe.maß\n",
        "from a import (\n # import x)\n b)\n",
        "from _lazy_import import a\n",
        "from _lazy_import import (a,\n b)\n",
        "x = 'import ('; from a import (b,\n c)\n",
    ],
)
def test_forms(source: str) -> None:
    assert named(source) and named(source) <= written_imports(source.encode())


def test_what_is_no_import() -> None:
    assert written_imports(b"reimport = important\nfrom_x = 1\nmodel(trainer)\nimport_(x)\n") == frozenset()
    assert written_imports(f"{PLAIN}def model(): pass\n".encode()) == {"torch.nn", "torch", "as", "nn"}


@pytest.mark.parametrize(
    "text",
    [
        "import ",
        "import (",
        "from a import (b, ",
        "# import (\n",
        "import \\\n",
        "from ",
        "# import (\n",
        "'#'  # import (\n",
    ],
)
def test_whatever_is_repeated_takes_no_longer_than_it_is(text: str) -> None:
    """Would run for hours if each keyword were followed to the end of the file."""
    assert len(written_imports(text.encode() * 200_000)) < 10


NAME = st.sampled_from(("a", "importer", "b_import", "_from", "ünder"))
DOTTED = st.lists(NAME, min_size=1, max_size=3).map(" . ".join) | st.lists(NAME, min_size=1, max_size=3).map(".".join)
SPACE = st.sampled_from((" ", "  ", "\t", " \\\n ", "\\\r\n"))
INNER = st.sampled_from((" ", "\n", "  # a ) comment\n", "\r\n\t", " \\\n"))
LEVEL = st.sampled_from(("", ".", "..", ". . "))


@st.composite
def statements(draw: st.DrawFn) -> str:
    alias = st.builds("{}{}".format, NAME, st.just("") | NAME.map(" as {}".format))
    if draw(st.booleans()):
        named_there = draw(st.lists(alias, min_size=1, max_size=3))
        between = draw(INNER)
        inside = f"({between}{f',{between}'.join(named_there)}{draw(st.sampled_from(('', ',')))}{draw(INNER)})"
        plain = f"{draw(SPACE)}{f',{draw(SPACE)}'.join(named_there)}"
        what = draw(st.sampled_from((inside, plain)))
        module = draw(LEVEL) + draw(DOTTED)
        return f"from{draw(SPACE)}{module}{draw(SPACE)}import{what}"
    aliased = st.builds("{}{}".format, DOTTED, st.just("") | NAME.map(" as {}".format))
    return f"import{draw(SPACE)}{f',{draw(SPACE)}'.join(draw(st.lists(aliased, min_size=1, max_size=3)))}"


@pytest.mark.law
@given(st.lists(statements(), min_size=1, max_size=4), st.sampled_from(("\n", "; ", "\r\n")))
def test_no_word_is_missing(program: list[str], end: str) -> None:
    source = f"x = 1\n{end.join(program)}\n"
    assert named(source) <= written_imports(source.encode())
