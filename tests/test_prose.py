"""Comments and strings in three quotes are found in bytes as the tokenizer finds them."""

from __future__ import annotations

import ast
import io
import random
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import codemods
from codemods.syntax.prose import prose


def _prose(source: str) -> list[str]:
    data = source.encode()
    return [data[start:end].decode() for start, end in prose(data)]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("x = 1  # note\ny = 2\n", ["# note"]),
        ("# a\r\n# b\rx = 1", ["# a", "# b"]),
        ("x = '# no'\n# yes", ["# yes"]),
        ('x = "a\\"# no"  # yes', ["# yes"]),
        ('x = r"a\\"  # no"\n', []),
        ("x = 'a\\\n# no'  # yes", ["# yes"]),
        ("x = 'a\\\r\n# no'  # yes", ["# yes"]),
        ('"""One line."""\n', ['"""One line."""']),
        ("'''It's\n\\''' # still\n'''\nx = 1", ["'''It's\n\\''' # still\n'''"]),
        ('x = """a""b"""', ['"""a""b"""']),
        ('x = ""  # empty', ["# empty"]),
        ("x = r\"\"\"a\"\"\"\ny = b'''c'''", ['"""a"""', "'''c'''"]),
        ('getattr(x, "step")', []),
        ('x = f"{a}#{b}"  # c', ["# c"]),
        ('x = f"""\n# {step}\n"""  # c', ["# c"]),
        ('x = Rf"""{step}"""', []),
        ("x = rF'''{step}'''", []),
        ('x = t"""{step}"""', []),
        ('x = f"{{step"  # {', ["# {"]),
        ('y = 1 if"""a"""else step', []),  # taken for a formatted one, which costs nothing but time
        # nested in the same quotes (Python 3.12): nothing is sure
        ('x = f"{a["# no"]}"  # yes', []),
        ('x = f"{ {"a": 1} }"  # yes', []),
        ("x = f'''{f'''{step}'''}'''  # yes", []),
        # not a program
        ("x = 'a\n# b\n", []),
        ('"""a\n# b\n', []),
        ("it's # b", []),
        # encodings in which a byte of a letter may be a backslash
        ("# -*- coding: utf-8 -*-\nx = 1", ["# -*- coding: utf-8 -*-"]),
        (
            "#!/bin/env python\n# vim: set fileencoding=latin-1 :",
            ["#!/bin/env python", "# vim: set fileencoding=latin-1 :"],
        ),
        ("# coding=shift_jis\nx = 1  # b", []),
    ],
)
def test_what_is_prose(source: str, found: list[str]) -> None:
    assert _prose(source) == found


def _tokenized(source: str) -> Iterator[str]:
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        quoted = token.type == tokenize.STRING and re.match(r"[bBrRuU]*(\"\"\"|''')", token.string)
        if token.type == tokenize.COMMENT or quoted:
            yield token.string.lstrip("bBrRuU") if quoted else token.string


def _programs() -> list[Path]:
    here = sorted(path for root in codemods.__path__ for path in Path(root).rglob("*.py"))
    library = sorted(Path(ast.__file__).parent.glob("*.py"))
    return [*here, *random.Random(16).sample(library, 60)]


@pytest.mark.parametrize("path", _programs(), ids=lambda path: path.name)
def test_real_programs(path: Path) -> None:
    source = path.read_bytes().decode("utf-8", errors="ignore")
    found = _prose(source)
    if found:  # else it says nothing, which is always right
        expected = [*_tokenized(source)]
        ours = iter(found)
        assert [each for each in expected if each not in found] == []
        assert all(each in ours for each in expected), "in order"
        assert len(found) == len(expected)


def test_most_programs_are_told() -> None:
    told = [path for path in _programs() if _prose(path.read_bytes().decode("utf-8", errors="ignore"))]
    assert len(told) > 0.9 * len(_programs())


@given(
    st.lists(
        st.sampled_from(
            [
                '"a # b"',
                "'''c\nstep'''",
                'f"{step}"',
                "0 # step\n",
                'r"\\\\"',
                "f'''# {loss}\n'''",
                "'it\\'s'",
                '"""q"""',
            ]
        )
    )
)
def test_no_name_is_prose(pieces: list[str]) -> None:
    """Whatever strings and comments stand between them."""
    data = "".join(f"v{number} = ({piece}\n, w{number})\n" for number, piece in enumerate(pieces)).encode()
    names = {node.id for node in ast.walk(ast.parse(data)) if isinstance(node, ast.Name)}
    left, place = b"", 0
    for start, end in prose(data):
        left, place = left + data[place:start], end
    assert names <= set(re.findall(r"\w+", (left + data[place:]).decode()))
