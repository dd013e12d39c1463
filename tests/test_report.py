"""Patches, hunks, JSON and summaries as renderings of a plan."""

from __future__ import annotations

import io
import json
import random
import re
from pathlib import Path

import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console
from world import fixer, git, write

from codemods.model.edits import Consequence, Edit, Evidence, Finding, Place, Safety
from codemods.model.plan import Change, FilePlan
from fixer.git.message import why
from fixer.report.diff import Hunk, differences, hunks
from fixer.report.patch import patch, quoted
from fixer.report.tally import headline, plural, worst_first
from fixer.report.terminal import notes, show_finding, show_patch


def test_no_change_no_patch() -> None:
    assert patch([FilePlan("a.py", b"x\n", b"x\n")]) == b""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"a\n", b"b\n"),
        (b"a", b"b"),
        (b"a", b"a\n"),
        (b"a\n", b"a"),
        (b"", b"a\n"),
        (b"a\n", b""),
        (b"a\r\nb\r\n", b"a\r\nc\r\n"),
        (b"a\rb\rc\n", b"a\rb\rd\n"),
        (b"\xff\xfe\n", b"\xff\n"),
        (b"1\n" * 50, b"1\n" * 20 + b"2\n" + b"1\n" * 30),
        (b"\n" * 50, b"\n" * 48),
        (b"x\n\x0cy\n", b"x\n\x0cz\n"),
    ],
)
def test_git_applies_what_is_printed(tmp_path: Path, before: bytes, after: bytes) -> None:
    write(tmp_path, {"a.py": before})
    git("apply", "--allow-empty", "-", at=tmp_path, data=patch([FilePlan("a.py", before, after)]))
    assert (tmp_path / "a.py").read_bytes() == after if after else not (tmp_path / "a.py").read_bytes()


@pytest.mark.parametrize("name", ["a b.py", "ü.py", 'q"q.py', "back\\slash.py", "t\tb.py", "n\nl.py", " x ", "é è.py"])
def test_git_understands_every_name(tmp_path: Path, name: str) -> None:
    write(tmp_path, {name: b"old\n"})
    git("apply", "-", at=tmp_path, data=patch([FilePlan(name, b"old\n", b"new\n")]))
    assert (tmp_path / name).read_bytes() == b"new\n"


def test_names_are_quoted_as_git_does() -> None:
    assert quoted("a/x.py") == b"a/x.py"
    assert quoted("a/x y.py") == b"a/x y.py"
    assert quoted('a/ü".py') == b'"a/\\303\\274\\".py"'


LINES = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\n", b"\n", b"x = 1\n"]), max_size=40)


@given(LINES, LINES)
@settings(max_examples=examples(500))
def test_differences_turn_the_old_lines_into_the_new(old: list[bytes], new: list[bytes]) -> None:
    made: list[bytes] = []
    position = 0
    for a0, a1, b0, b1 in differences(old, new):
        assert a0 >= position and (a1 > a0 or b1 > b0)
        made += old[position:a0] + new[b0:b1]
        position = a1
    assert made + old[position:] == new


@given(LINES, LINES)
@settings(max_examples=examples(300))
def test_hunks_turn_the_old_file_into_the_new(old: list[bytes], new: list[bytes]) -> None:
    made: list[bytes] = []
    position = 0
    for hunk in hunks(FilePlan("a.py", b"".join(old), b"".join(new))):
        made += old[position : hunk.old_start]
        assert hunk.new_start == len(made)
        assert [line for sign, line in hunk.lines if sign != "+"] == old[
            hunk.old_start : hunk.old_start + hunk.old_count
        ]
        mine = [line for sign, line in hunk.lines if sign != "-"]
        assert len(mine) == hunk.new_count
        made += mine
        position = hunk.old_start + hunk.old_count
    assert made + old[position:] == new


def test_long_files_of_equal_lines_are_compared_quickly() -> None:
    random.seed(1)
    old = [random.choice([b"\n", b"    x = 1\n", b"    y = 2\n", b"%d\n" % n]) for n in range(20_000)]
    new = [line.replace(b"777", b"seven") for line in old]
    assert sum(b1 - b0 for _, _, b0, b1 in differences(old, new)) == sum(b"777" in line for line in old)


def test_each_hunk_names_its_rules() -> None:
    before = b"".join(b"line %d\n" % n for n in range(30))
    text = before.decode()
    edits = {"AMP001": text.index("line 3"), "PL001": text.index("line 4\n"), "GRD001": text.index("line 25")}
    after = before.replace(b"line 3\n", b"three\n").replace(b"line 4\n", b"four\n").replace(b"line 25", b"twentyfive")
    changes = tuple(
        Change(code, Edit("a.py", at, at + 6, "new"), f"reason\nof {code}", Safety.SAFE) for code, at in edits.items()
    )
    shown = hunks(FilePlan("a.py", before, after, changes=changes))
    first, second = (hunk.heading for hunk in shown)
    assert first == "AMP001: reason of AMP001; PL001: reason of PL001"
    assert second == "GRD001: reason of GRD001"


def test_positions_of_empty_sides() -> None:
    assert Hunk(0, 0, 0, 2, ()).position == "-0,0 +1,2"
    assert Hunk(4, 2, 4, 0, ()).position == "-5,2 +4,0"


def test_json_holds_what_the_contract_says(tmp_path: Path) -> None:
    write(tmp_path, {"pkg/a.py": "# ü\nx = [\n    old_one(1),\n]\n", "bad.py": "old_one(\n"})
    write(tmp_path, {"requirements.txt": "torch==2.4.1\n"})
    result = fixer("check", "--format", "json", at=tmp_path)
    content = json.loads(result.out)
    assert list(content) == ["version", "root", "files_seen", "files_read", "projects", "findings", "skips", "summary"]
    assert (content["root"], content["files_seen"], content["files_read"]) == (".", 3, 2)
    assert content["summary"] == {
        "findings": 1,
        "fixable": 1,
        "files": 1,
        "skipped": 1,
        "suppressed": 0,
        "consequences": {"deprecated": 1},
        "possible": 0,
        "headline": "1 deprecated use",
        "other_versions": [],
    }
    assert content["skips"][0] | {"detail": ""} == {"path": "bad.py", "reason": "unparsable", "detail": ""}
    finding = content["findings"][0]
    fingerprint = finding.pop("fingerprint")
    copy = finding.pop("copy")
    assert len(fingerprint) >= 8 and len(copy) >= 8
    assert finding == {
        "code": "OLD001",
        "name": "old-one",
        "path": "pkg/a.py",
        "line": 3,
        "column": 5,
        "end_line": 3,
        "end_column": 15,
        "cell": None,
        "project": ".",
        "message": "`old_one()` is old",
        "consequence": "deprecated",
        "certainty": "certain",
        "evidence": [],
        "safety": "safe",
        "strategy": None,
        "strategies": [],
        "bites": {},
        "fix": {
            "title": "Call `new_one()`",
            "edits": [{"path": "pkg/a.py", "start": [3, 5], "end": [3, 8], "text": "new"}],
        },
        "applied": False,
        "url": "https://example.org/old_one",
    }


def test_the_headline_says_what_the_findings_cost() -> None:
    place = Place(0, 1, 1, 1, 1, 2)

    def found(*consequences: Consequence) -> list[Finding]:
        return [Finding("A001", "a", "p.py", place, "m", Safety.SAFE, consequence=each) for each in consequences]

    silent, raises, warns, deprecated, style = sorted(Consequence, reverse=True)
    assert headline([]) == ""
    assert headline(found(silent)) == "1 bug: 1 trains wrong silently"
    assert headline(found(silent, silent, raises, deprecated)) == (
        "3 bugs: 2 train wrong silently, 1 raises; 1 deprecated use"
    )
    assert headline(found(warns, style, style)) == "1 warning; 2 matters of style"
    assert [f.consequence for f in worst_first(found(style, silent, warns))] == [silent, warns, style]


def test_evidence_is_shown_with_its_place() -> None:
    shown = Finding(
        "A001", "a", "a.py", Place(0, 1, 1, 1, 1, 2), "m", Safety.SAFE, evidence=(Evidence("b.py", 3, "frozen"),)
    )
    assert "shown by: b.py:3: frozen" in "".join(map(str, notes(shown)))


class Terminal(io.StringIO):
    """Standard output before which a person sits."""

    def isatty(self) -> bool:
        return True


LONG = "the message of the finding is longer than a line of the terminal"
CALL = "call(with_an_argument, and_another_one, and_another_one_still)"
CHANGED = FilePlan(
    "a.py",
    f"{CALL}\n".encode(),
    f"    {CALL}\n".encode(),
    (Finding("A001", "a", "a.py", Place(0, 1, 1, 1, 1, 5), LONG, Safety.SAFE),),
    (Change("A001", Edit("a.py", 0, 0, "    "), LONG, Safety.SAFE),),
)


def test_a_terminal_wraps_sentences_but_no_code(tmp_path: Path) -> None:
    def shown(file: io.StringIO) -> str:
        show_finding(Console(file=file, width=40, color_system=None), CHANGED.findings[0], tmp_path, tmp_path, [CALL])
        return file.getvalue()

    framed = f"  |\n1 | {CALL}\n  | ^^^^\n"
    assert shown(io.StringIO()) == f"a.py:1:1: A001 [style] {LONG}\n{framed}"
    assert shown(Terminal()) == (
        "a.py:1:1: A001 [style] the message of \nthe finding is longer than a line of the\nterminal\n" + framed
    )


def test_what_a_terminal_shows_of_a_patch_is_a_patch() -> None:
    screen = Terminal()
    show_patch(Console(file=screen, width=40, color_system=None), [CHANGED])
    assert screen.getvalue().encode() == patch([CHANGED]) and f"@@ A001: {LONG}\n" in screen.getvalue()


def test_json_says_what_was_applied(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "old_one(1)\nold_three(3)\n"})
    dry = json.loads(fixer("apply", "--dry-run", "--format", "json", at=tmp_path).out)
    done = json.loads(fixer("apply", "--format", "json", at=tmp_path).out)
    assert [finding["applied"] for finding in dry["findings"]] == [False, False]
    assert {f["code"]: f["applied"] for f in done["findings"]} == {"OLD001": True, "OLD003": False}


def test_a_frame_shows_the_code(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "if x:\n\tn = old_three(3)\n"})
    shown = fixer("check", "--color", "always", at=tmp_path, environment={"NO_COLOR": ""}).text
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert plain == (
        "a.py:2:6: OLD003 [silent] `old_three()` is old\n"
        "  |\n"
        "2 |     n = old_three(3)\n"
        "  |         ^^^^^^^^^^^^\n"
        "  = fix (unsafe): Call `new_three()`\n"
        "\n"
    )


def test_numbers_and_nouns_agree() -> None:
    assert [plural(n, "file") for n in (0, 1, 1000)] == ["0 files", "1 file", "1,000 files"]
    assert plural(2, "entry", "entries") == "2 entries"


@pytest.mark.parametrize(
    ("doc", "expected"),
    [
        ("Title.\n\n## Why is this bad?\nOne\ntwo.\n\nThree.\n", "One two."),
        (
            "Title.\n\n## Why is this bad?\nIt says:\n\n    RuntimeError: no\n\nMore.",
            "It says:\n\n    RuntimeError: no",
        ),
        ("Title.\n\n## Why is this bad?\n\n## Fix safety\nSafe.", ""),
        ("Title.", ""),
    ],
)
def test_the_reason_in_a_commit_comes_from_the_page_of_the_rule(doc: str, expected: str) -> None:
    assert why(doc) == expected
