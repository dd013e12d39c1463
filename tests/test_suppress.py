"""Comments that silence findings."""

from __future__ import annotations

import pytest
from memory import Memory
from toy import doubled, renamed

from codemods.engine.rounds import Options, plan
from codemods.model.edits import Finding
from codemods.model.plan import Plan
from codemods.syntax.suppress import read


def check(text: str) -> Plan:
    return plan(["p.py"], Memory({"p.py": text}), Options((renamed, doubled)), fix=False)


def found(text: str) -> list[str]:
    return [f.code for f in check(text).findings]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("old()  # fixer: ignore[TOY001]\n", id="the line itself"),
        pytest.param("old()  #fixer:ignore[ TOY001 ] because\n", id="spacing and a reason"),
        pytest.param("old()  # fixer: ignore[toy001]\n", id="lower case"),
        pytest.param("old()  # fixer: ignore[AMP001, TOY001]\n", id="several codes"),
        pytest.param("old()  # fixer: ignore[TOY]\n", id="a prefix"),
        pytest.param("old()  # why  # fixer: ignore[TOY001]\n", id="after another comment"),
        pytest.param("old()  # noqa: TOY001\n", id="noqa with the code"),
        pytest.param("old()  # NoQA:E501,TOY001\n", id="noqa with several codes"),
        pytest.param("old()  # noqa: E501 TOY001\n", id="noqa with codes apart"),
        pytest.param("x = f(  # fixer: ignore[TOY001]\n    old(),\n)\n", id="first line of the statement"),
        pytest.param("x = f(\n    old(),\n)  # fixer: ignore[TOY001]\n", id="last line of the statement"),
        pytest.param("x = f(\n    old(),  # fixer: ignore[TOY001]\n)\n", id="line of the finding"),
        pytest.param("if old():  # fixer: ignore[TOY001]\n    pass\n", id="block header"),
        pytest.param("if (\n    old()\n):  # fixer: ignore[TOY001]\n    pass\n", id="last line of a header"),
        pytest.param("match old():  # fixer: ignore[TOY001]\n    case 1: pass\n", id="header of a match"),
        pytest.param("@old()  # fixer: ignore[TOY001]\ndef f(): pass\n", id="decorator"),
        pytest.param("old()\n\n# fixer: ignore-file[TOY001]\n", id="the file"),
        pytest.param("x = 1\r\nold()  # fixer: ignore[TOY001]\r\n", id="CRLF"),
        pytest.param('s = """\n\x0c\u2028"""\nold()  # fixer: ignore[TOY001]\n', id="odd line breaks in a string"),
    ],
)
def test_silenced(text: str) -> None:
    assert (found(text), check(text).unused) == ([], ())


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("old()\n", id="no comment"),
        pytest.param("old()  # noqa\n", id="bare noqa"),
        pytest.param("old()  # noqa: E501\n", id="noqa of another code"),
        pytest.param("old()  # noqa: E501 to be mended\n", id="noqa with words behind the code"),
        pytest.param("old()  # noqa: E501, t\n", id="a word that is a prefix"),
        pytest.param("old()  # fixer: ignore\n", id="without codes"),
        pytest.param("old()  # fixer: ignore[]\n", id="with empty codes"),
        pytest.param("old()  # fixer: ignore[AMP001]\n", id="another code"),
        pytest.param("old('# fixer: ignore[TOY001]')\n", id="in a string"),
        pytest.param('"""\n# fixer: ignore-file[TOY001]\n"""\nold()\n', id="in a docstring"),
        pytest.param("# fixer: ignore[TOY001]\nold()\n", id="line above"),
        pytest.param("if x:  # fixer: ignore[TOY001]\n    old()\n", id="header of the block around it"),
        pytest.param("match x:  # fixer: ignore[TOY001]\n    case 1: old()\n", id="header of the match around it"),
        pytest.param("if old():\n    pass  # fixer: ignore[TOY001]\n", id="body of the block"),
    ],
)
def test_not_silenced(text: str) -> None:
    assert found(text) == ["TOY001"]


def test_a_comment_of_a_broken_file_is_not_called_unused() -> None:
    broken = check("x = old(\n# fixer: ignore[TOY001]\n")
    assert ([u.code for u in broken.unused], len(broken.skips)) == ([], 1)


def test_only_what_the_comment_names_is_silenced() -> None:
    assert found("twice(old())  # fixer: ignore[TOY002]\nold()\n") == ["TOY001", "TOY001"]


@pytest.mark.parametrize(
    ("text", "unused"),
    [
        ("x = 1  # fixer: ignore[TOY001]\n", [(1, "TOY001")]),
        ("old()  # fixer: ignore[TOY001, TOY002]\n", [(1, "TOY002")]),
        ("\n# fixer: ignore-file[TOY002]\nold()\n", [(2, "TOY002")]),
        ("old()  # fixer: ignore[AMP001]\n", []),
        ("x = 1  # noqa: TOY001\n", []),
        ("old()  # fixer: ignore[TOY]\n", []),
    ],
)
def test_comments_that_silence_nothing_are_told(text: str, unused: list[tuple[int, str]]) -> None:
    assert [(u.line, u.code) for u in check(text).unused] == unused


def test_a_silenced_finding_is_not_repaired_and_its_comment_stays_used() -> None:
    text = "old()  # fixer: ignore[TOY001]\nold()\n"
    whole = plan(["p.py"], Memory({"p.py": text}), Options((renamed,)), fix=True)
    assert [f.after.decode() for f in whole.changed] == ["old()  # fixer: ignore[TOY001]\nnew()\n"]
    assert (whole.unused, [f.applied for f in whole.findings]) == ((), [True])


def test_a_comment_on_a_line_that_changes_is_kept() -> None:
    text = "x = old(  # why\n    1)  # fixer: ignore[TOY002]\n"
    whole = plan(["p.py"], Memory({"p.py": text}), Options((renamed,)), fix=True)
    assert [f.after.decode() for f in whole.changed] == [text.replace("old", "new")]


def test_lines_of_a_finding_are_those_of_its_statement() -> None:
    (finding,) = check("x = f(\n    old(),\n)\n").findings
    assert isinstance(finding, Finding)
    assert (finding.place.line, finding.lines) == (2, (1, 3))


def test_where_nothing_was_found_foreign_comments_are_not_read() -> None:
    text = "x = 1  # noqa: E501\n"
    assert read(text) and not read(text, foreign=False)
    assert len(read(text + "y  # fixer: ignore[TOY]\n", foreign=False)) == 2
