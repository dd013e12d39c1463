"""Bad input: a sentence says what is wrong, nothing is written, and the other files are still handled."""

from __future__ import annotations

import sys

import pytest
from memory import Memory
from toy import renamed

from codemods.engine.rounds import Options, plan
from codemods.model.edits import SkipReason
from codemods.syntax import unsupported_syntax

GOOD = b"old()\n"


def skipped(data: bytes) -> list[tuple[SkipReason, str]]:
    """Why a file is skipped; a good one beside it is repaired all the same, and the bad one is left alone."""
    found = plan(["bad.py", "good.py"], Memory({"bad.py": data, "good.py": GOOD}), Options((renamed,)), fix=True)
    assert {f.path: f.after for f in found.changed} == {"good.py": b"new()\n"}
    assert {s.path for s in found.skips} == {"bad.py"}
    return [(s.reason, s.detail) for s in found.skips]


@pytest.mark.parametrize(
    ("data", "reason", "detail"),
    [
        pytest.param(b"old(\n", SkipReason.UNPARSABLE, "line 1: '(' was never closed", id="syntax error"),
        pytest.param(b"print 'old'\n", SkipReason.UNPARSABLE, "line 1: Missing parentheses", id="Python 2"),
        pytest.param(b"old()\n  x\n", SkipReason.UNPARSABLE, "line 2: unexpected indent", id="indentation"),
        pytest.param(
            b"if x:\n\told()\n        y\n", SkipReason.UNPARSABLE, "line 3: inconsistent use of tabs", id="tabs"
        ),
        pytest.param(b"\n\nold('\xff')\n", SkipReason.UNDECODABLE, "line 3: not valid utf-8", id="undecodable bytes"),
        pytest.param(b"old()\0\n", SkipReason.UNDECODABLE, "contains NUL bytes", id="NUL"),
        pytest.param(b"old()\n" + b"#" * 50_000_000, SkipReason.TOO_LARGE, "50,000,006 bytes", id="50 MB"),
        pytest.param(
            b"old" + b"(" * 5_000 + b")" * 5_000,
            SkipReason.UNPARSABLE,
            "line 1: too many nested",
            id="5,000 parentheses",
        ),
        pytest.param(b"old(" + b"-" * 5_000 + b"1)", SkipReason.TOO_DEEP, "nested too deeply", id="5,000 signs"),
        pytest.param(
            b"old()" + b".a" * 5_000, SkipReason.TOO_DEEP, "nested too deeply to be read", id="5,000 attributes"
        ),
        pytest.param(b"old()" + b".a()" * 700, SkipReason.TOO_DEEP, "nested too deeply to be rewr", id="700 calls"),
        pytest.param(
            b"if x: old()\n" + b"elif x: pass\n" * 5_000, SkipReason.TOO_DEEP, "nested too deeply", id="5,000 elif"
        ),
        pytest.param(
            b"a\rold()\r", SkipReason.NO_ROUND_TRIP, "a carriage return alone ends ", id="lone carriage return"
        ),
        pytest.param(
            b"if x:\n    a\n    \x0cold()\n", SkipReason.NO_ROUND_TRIP, "the parser", id="form feed after indentation"
        ),
        pytest.param(
            b"if x:\n \x0c  old()\n", SkipReason.NO_ROUND_TRIP, "its lines are", id="form feeds as indentation"
        ),
        pytest.param(b"x = 1\n\x0cold()\n", SkipReason.NO_ROUND_TRIP, "the parser", id="form feed before a statement"),
    ],
)
def test_a_bad_file_is_a_skip(data: bytes, reason: SkipReason, detail: str) -> None:
    ((found, why),) = skipped(data)
    assert (found, why[: len(detail)]) == (reason, detail)


# -- newer syntax

NEWER = [
    pytest.param("try:\n    pass\nexcept* E:\n    pass\n", (3, 11), id="exception groups"),
    pytest.param("type X = int\n", (3, 12), id="type statement"),
    pytest.param("def f[T](x: T): pass\n", (3, 12), id="generic function"),
    pytest.param("class A[T]: pass\n", (3, 12), id="generic class"),
    pytest.param('x = f"{d["a"]}"\n', (3, 12), id="quotes inside an f-string"),
    pytest.param('x = f"{\n    d}"\n', (3, 12), id="line ends inside an f-string"),
    pytest.param("class A[T = int]: pass\n", (3, 13), id="default of a type parameter"),
    pytest.param('x = t"{d}"\n', (3, 14), id="template string"),
    pytest.param("try:\n    pass\nexcept A, B:\n    pass\n", (3, 14), id="exceptions without parentheses"),
    pytest.param('type X = int\nx = t"{d}"\n', (3, 14), id="the newest counts"),
    pytest.param('try: x = f"{y}"\nexcept* E: pass\nx = t"{d}"\n', (3, 14), id="beside older syntax"),
]


@pytest.mark.parametrize(("text", "version"), NEWER)
def test_newer_syntax_names_the_python_that_reads_it(text: str, version: tuple[int, int]) -> None:
    if sys.version_info[:2] >= version:
        pytest.skip("not newer than this Python")
    name = "{}.{}".format(*version)
    ((reason, detail),) = skipped(f"old()\n{text}".encode())
    assert (reason, detail.partition("; ")[2]) == (
        SkipReason.NEWER_SYNTAX,
        f"Python {name} reads it: run fixer with that or a newer one",
    )


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("x = 1\n", id="nothing new"),
        pytest.param("def f(:\n", id="wrong everywhere"),
        pytest.param("try:\n    pass\nexcept IOError, e:\n    pass\n", id="Python 2"),
        pytest.param("'\\N{nobody}'\n", id="libcst is more lenient"),
        pytest.param('x = f"{lambda x: 1}"\ny = f"{a}"\n', id="an f-string that nobody reads"),
        pytest.param("type X = int\n" + "(" * 2_000 + ")" * 2_000, id="nested"),
        pytest.param("type X = int\n" + "-" * 20_000 + "1", id="a long line"),
        pytest.param('type X = int\nx = f"{' + "-" * 5_000 + 'd["a"]}"', id="a deep f-string"),
    ],
)
def test_what_is_newer_to_nobody(text: str) -> None:
    assert unsupported_syntax.needed(text) is None
