"""The laws of edits on small literal texts; as properties they stand in `test_laws.py`."""

from __future__ import annotations

import pytest

from codemods.model.edits import (
    Edit,
    Finding,
    Fix,
    Place,
    Safety,
    SkipReason,
    map_back,
    select,
    splice,
    trim,
    whole_lines,
)


def edit(start: int, end: int, text: str, path: str = "p.py", *, shared: bool = False) -> Edit:
    return Edit(path, start, end, text, shared)


def finding(code: str, *edits: Edit, path: str = "p.py") -> Finding:
    place = Place(edits[0].start, edits[0].end, 1, 1, 1, 1) if edits else Place(0, 0, 1, 1, 1, 1)
    return Finding(code, code.lower(), path, place, "message", Safety.SAFE, Fix("title", edits) if edits else None)


def test_safety_is_ordered_and_reads_in_lower_case() -> None:
    assert [str(s) for s in sorted(Safety)] == ["display", "unsafe", "safe"]


def test_a_reason_reads_as_its_value() -> None:
    assert str(SkipReason.NEWER_SYNTAX) == "newer-syntax"


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        pytest.param(edit(0, 2, "x"), edit(3, 4, "y"), False, id="apart"),
        pytest.param(edit(0, 2, "x"), edit(0, 2, "x", "q.py"), False, id="other file"),
        pytest.param(edit(0, 0, "x", shared=True), edit(0, 0, "x", shared=True), False, id="the same shared edit"),
        pytest.param(edit(0, 0, "x"), edit(0, 0, "x"), True, id="equal but not shared"),
        pytest.param(edit(0, 0, "x", shared=True), edit(0, 0, "y", shared=True), True, id="two shared at one place"),
        pytest.param(edit(0, 2, "x"), edit(2, 3, "y"), True, id="adjacent"),
        pytest.param(edit(0, 3, "x"), edit(1, 2, "y"), True, id="one inside the other"),
        pytest.param(edit(1, 1, "x"), edit(0, 3, "y"), True, id="insertion inside"),
    ],
)
def test_touching(one: Edit, other: Edit, expected: bool) -> None:
    assert (one.touches(other), other.touches(one)) == (expected, expected)


@pytest.mark.parametrize(
    ("text", "given", "expected"),
    [
        pytest.param("abc", edit(0, 3, "xyz"), edit(0, 3, "xyz"), id="nothing shared"),
        pytest.param("abc", edit(0, 3, "abc"), edit(3, 3, ""), id="no change"),
        pytest.param("f(x)", edit(0, 4, "g(x)"), edit(0, 1, "g"), id="suffix"),
        pytest.param("f(x)", edit(0, 4, "f(y)"), edit(2, 3, "y"), id="both sides"),
        pytest.param("aa", edit(0, 2, "aaa"), edit(2, 2, "a"), id="prefix comes first"),
        pytest.param("a\r\nb", edit(0, 4, "a\rb"), edit(1, 3, "\r"), id="line end not torn before"),
        pytest.param("a\rb", edit(0, 3, "a\r\nb"), edit(1, 2, "\r\n"), id="nor where it is new"),
        pytest.param("x\r\n", edit(0, 3, "y\n"), edit(0, 3, "y\n"), id="line end not torn after"),
        pytest.param("x\n", edit(0, 2, "y\r\n"), edit(0, 2, "y\r\n"), id="nor after, where it is new"),
        pytest.param("x\r\n", edit(0, 3, "y\r\n"), edit(0, 1, "y"), id="whole line end is shared"),
    ],
)
def test_trim(text: str, given: Edit, expected: Edit) -> None:
    assert trim(given, text) == expected


def test_trim_keeps_the_mark_of_a_shared_edit() -> None:
    assert trim(edit(0, 1, "ab", shared=True), "a") == edit(1, 1, "b", shared=True)


@pytest.mark.parametrize(
    ("text", "given", "expected"),
    [
        pytest.param("a\nb\n", edit(0, 1, "x"), edit(0, 1, "x"), id="neither insertion nor deletion"),
        pytest.param("a b\n", edit(1, 1, " c"), edit(1, 1, " c"), id="inside a line"),
        pytest.param("f()\ng()\n", edit(5, 5, "x()\ng"), edit(4, 4, "gx()\n"), id="insertion slides to its line"),
        pytest.param("  f\n", edit(2, 2, "g\n  "), edit(0, 0, "  g\n"), id="to the start of the text"),
        pytest.param("  f\n  g\n", edit(2, 6, ""), edit(0, 4, ""), id="deletion slides to its line"),
        pytest.param("a\n f\n g\n", edit(3, 6, ""), edit(2, 5, ""), id="deletion in the middle of a text"),
        pytest.param("abab", edit(2, 3, ""), edit(2, 3, ""), id="deletion inside a line"),
        pytest.param("xa\nya\n", edit(1, 4, ""), edit(1, 4, ""), id="lines that differ"),
    ],
)
def test_whole_lines(text: str, given: Edit, expected: Edit) -> None:
    moved = whole_lines(given, text)
    assert moved == expected
    assert splice(text, [moved]) == splice(text, [given])


def test_select_takes_what_does_not_touch_and_leaves_out_what_has_no_fix() -> None:
    one, two, report = finding("B001", edit(0, 1, "x")), finding("A001", edit(3, 4, "y")), finding("A002")
    assert select([two, report, one]) == ([one, two], [])


@pytest.mark.parametrize(
    ("winner", "loser"),
    [
        pytest.param(finding("B001", edit(0, 2, "x")), finding("A001", edit(1, 3, "y")), id="earlier place"),
        pytest.param(finding("A001", edit(0, 2, "y")), finding("B001", edit(0, 2, "x")), id="then code"),
        pytest.param(
            finding("A001", edit(0, 1, "x"), edit(8, 9, "x")), finding("B001", edit(9, 9, "y")), id="any of its edits"
        ),
    ],
)
def test_select_defers_the_later_of_two_that_touch(winner: Finding, loser: Finding) -> None:
    assert select([loser, winner]) == select([winner, loser]) == ([winner], [loser])


def test_fixes_may_share_an_import() -> None:
    need = edit(0, 0, "import torch\n", shared=True)
    one, two = finding("A001", edit(5, 6, "x"), need), finding("A001", edit(8, 9, "y"), need)
    taken, deferred = select([one, two])
    assert (taken, deferred) == ([one, two], [])
    assert splice("0123456789", [e for f in taken if f.fix for e in f.fix.edits]) == "import torch\n01234x67y9"


def test_a_fix_knows_its_files() -> None:
    assert Fix("title", (edit(0, 1, ""), edit(0, 1, "", "q.py"))).paths == {"p.py", "q.py"}


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ([], "abcd"),
        ([edit(1, 2, "")], "acd"),
        ([edit(4, 4, "!"), edit(0, 0, "?")], "?abcd!"),
        ([edit(1, 1, "y"), edit(1, 1, "x")], "axybcd"),
        ([edit(0, 4, "z"), edit(0, 4, "z")], "z"),
    ],
)
def test_splice(edits: list[Edit], expected: str) -> None:
    assert splice("abcd", edits) == expected


@pytest.mark.parametrize(
    "edits",
    [
        pytest.param([edit(0, 2, "x"), edit(1, 3, "y")], id="overlap"),
        pytest.param([edit(3, 5, "x")], id="beyond the end"),
        pytest.param([edit(2, 1, "x")], id="end before start"),
        pytest.param([edit(-1, 1, "x")], id="before the start"),
    ],
)
def test_splice_refuses(edits: list[Edit]) -> None:
    with pytest.raises(ValueError, match=r"of p\.py overlaps another or lies outside the text"):
        splice("abcd", edits)


@pytest.mark.parametrize(
    ("edits", "offset", "expected"),
    [
        pytest.param([], 3, 3, id="no edits"),
        pytest.param([edit(5, 6, "xyz")], 2, 2, id="before"),
        pytest.param([edit(1, 2, "xyz")], 7, 5, id="after one that grew"),
        pytest.param([edit(1, 4, "")], 1, 4, id="after a deletion"),
        pytest.param([edit(1, 2, "xyz")], 2, 1, id="inside"),
        pytest.param([edit(0, 2, ""), edit(6, 7, "q")], 4, 6, id="between two"),
    ],
)
def test_map_back(edits: list[Edit], offset: int, expected: int) -> None:
    assert map_back(offset, edits) == expected


@pytest.mark.parametrize(
    ("edits", "offset", "expected"),
    [
        pytest.param([edit(5, 6, "xyz")], 5, 5, id="right before"),
        pytest.param([edit(1, 4, "")], 1, 1, id="right before a deletion"),
        pytest.param([edit(1, 2, "xyz")], 2, 2, id="inside"),
        pytest.param([edit(1, 2, "xyz")], 4, 2, id="at the end of what is new"),
        pytest.param([edit(1, 2, "xyz")], 5, 3, id="after"),
    ],
)
def test_map_back_the_end_of_a_span(edits: list[Edit], offset: int, expected: int) -> None:
    assert map_back(offset, edits, end=True) == expected


def test_a_finding_is_reported_where_it_was_in_the_file_as_read() -> None:
    first = finding("A001", edit(2, 3, "x"))
    later = Finding("A001", "a", "p.py", first.place, "m", Safety.SAFE, origin=Place(7, 8, 2, 1, 2, 2))
    assert (first.reported, later.reported) == (first.place, Place(7, 8, 2, 1, 2, 2))
