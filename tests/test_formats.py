"""The formats of `check` that CI systems read: SARIF, commands of GitHub Actions, GitLab's code quality, JUnit."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from world import fixer, write

from codemods import __version__
from codemods.model.edits import Consequence, Edit, Evidence, Finding, Fix, Place, Safety, Skip, SkipReason
from codemods.model.plan import FilePlan, Plan
from codemods.sources.notebook import decode, line_in_file
from fixer.project.configuration import Settings
from fixer.report import findings_markdown, github_annotations, gitlab_quality, junit, sarif
from fixer.run.request import Outcome

FILES = {"a b%/ä.py": "x = 1\nold_three()\n", "c.py": "if x:\n    old_four(\n    )\n"}
"""A silent finding with an unsafe fix, and a warning without a fix, over two lines."""
NOTEBOOK = """{
 "cells": [
  {"cell_type": "markdown", "metadata": {}, "source": ["text"]},
  {"cell_type": "code", "execution_count": null, "metadata": {}, "outputs": [], "source": [
    "x = 1\\n",
    "old_one()"
  ]}
 ],
 "metadata": {}, "nbformat": 4, "nbformat_minor": 5
}
"""
ODD = "bad::error file=x::\r\n100%, \x1b[31m\x00\u202e\ufffe]]>\udcff"
"""A message that would end a command, a line, an attribute, or the document."""


def found(path: str = "a.py", message: str = "`old` is old", **values: object) -> Finding:
    made = Finding("OLD001", "old-call", path, Place(0, 5, 1, 1, 1, 6), message, Safety.DISPLAY, fingerprint="f1")
    return replace(made, **values)  # type: ignore[arg-type]


def plan(*findings: Finding, before: bytes = b"old()\n", **values: Any) -> Plan:
    files = {each.path: FilePlan(each.path, before, before, (each,)) for each in findings}
    return Plan(tuple(files.values()), **values)


def run_of(outcome: Outcome) -> dict[str, Any]:
    """The only run of a SARIF document."""
    content = json.loads(sarif.render(outcome, {}))
    (run,) = content["runs"]
    assert isinstance(run, dict)
    return run


def outcome(of: Plan, **values: Any) -> Outcome:
    return Outcome(Path(), of, Settings(), **values)


def test_github(tmp_path: Path) -> None:
    done = fixer("check", "--format", "github", at=write(tmp_path, FILES))
    assert done.code == 1
    assert done.text == (
        "::error file=a b%25/ä.py,line=2,endLine=2,col=1,endColumn=12,title=OLD003 old-three (silent)"
        "::`old_three()` is old\n"
        "::warning file=c.py,line=2,endLine=3,col=5,endColumn=6,title=OLD004 old-four (warns)::`old_four()` is old\n"
    )
    assert "2 files looked at" in done.err


def test_gitlab(tmp_path: Path) -> None:
    done = fixer("check", "--format", "gitlab", at=write(tmp_path, FILES))
    entries = json.loads(done.out)
    fingerprints = [entry.pop("fingerprint") for entry in entries]
    assert done.code == 1 and all(fingerprints) and len(set(fingerprints)) == 2
    assert entries == [
        {
            "description": "OLD003: `old_three()` is old",
            "check_name": "OLD003",
            "severity": "critical",
            "location": {"path": "a b%/ä.py", "lines": {"begin": 2, "end": 2}},
        },
        {
            "description": "OLD004: `old_four()` is old",
            "check_name": "OLD004",
            "severity": "minor",
            "location": {"path": "c.py", "lines": {"begin": 2, "end": 3}},
        },
    ]


def test_markdown(tmp_path: Path) -> None:
    done = fixer("check", "--format", "markdown", at=write(tmp_path, {**FILES, "d.py": "old_one(1 | 2)\nx = (\n"}))
    assert done.code == 1
    assert done.text == (
        "### fixer\n\n"
        "**1 bug: 1 trains wrong silently; 1 warning** in 2 files (3 files looked at, 3 read closely).\n\n"
        "| place | rule | what | fix |\n|---|---|---|---|\n"
        "| `a b%/ä.py:2` | OLD003 [silent] | `old_three()` is old | Call `new_three()` (unsafe) |\n"
        "| `c.py:2` | OLD004 [warns] | `old_four()` is old | by hand |\n"
        "\n1 more with `--unsafe-fixes`, which change more than the bug.\n"
        "\n1 file skipped:\n\n- `d.py`: unparsable\n"
    )


def test_markdown_of_nothing_and_of_much(tmp_path: Path) -> None:
    assert fixer("check", "--format", "markdown", at=write(tmp_path, {"a.py": "x = 1\n"})).text == (
        "### fixer\n\nNothing found (1 file looked at, 0 read closely).\n"
    )
    done = fixer("check", "--format", "markdown", at=write(tmp_path, {"a.py": "old_one(1)\n" * 103}))
    assert done.text.count("\n| `a.py:") == 100 and "\n… and 3 more findings.\n" in done.text
    assert "\n`fixer apply` repairs 103 of them; `fixer apply --dry-run` shows how.\n" in done.text


def test_cells_of_markdown_stay_cells() -> None:
    text = findings_markdown.render(plan(found("a|b`.py", f"a | b {ODD}")), frozenset()).decode()
    (row,) = (line for line in text.split("\n") if line.startswith("| `` a"))
    assert row.startswith("| `` a\\|b`.py:1 `` | OLD001 [") and "| a \\| b bad::error" in row
    assert row.count(" | ") == 3 and not set(row) & set("\x1b\x00\u202e\r")


def test_equal_calls_have_fingerprints_of_their_own(tmp_path: Path) -> None:
    done = fixer("check", "--format", "gitlab", at=write(tmp_path, {"a.py": "old_one()\n" * 3, "b.py": "old_one()\n"}))
    assert len({entry["fingerprint"] for entry in json.loads(done.out)}) == 4


def test_junit(tmp_path: Path) -> None:
    done = fixer("check", "--format", "junit", at=write(tmp_path, FILES))
    assert done.code == 1
    assert (
        done.text
        == """<?xml version='1.0' encoding='utf-8'?>
<testsuites tests="2" failures="2" errors="0" skipped="0">
  <testsuite name="fixer" tests="2" failures="2" errors="0" skipped="0">
    <testcase classname="a b%/ä.py" name="OLD003 old-three, line 2" file="a b%/ä.py" line="2">
      <failure type="silent" message="`old_three()` is old">a b%/ä.py:2: OLD003 [silent] `old_three()` is old
fix (unsafe): Call `new_three()`</failure>
    </testcase>
    <testcase classname="c.py" name="OLD004 old-four, line 2" file="c.py" line="2">
      <failure type="warns" message="`old_four()` is old">c.py:2: OLD004 [warns] `old_four()` is old</failure>
    </testcase>
  </testsuite>
</testsuites>
"""
    )


def test_sarif(tmp_path: Path) -> None:
    done = fixer("check", "--format", "sarif", "--output", "x.sarif", at=write(tmp_path, FILES))
    assert done.code == 1 and done.out == b""
    content = json.loads((tmp_path / "x.sarif").read_bytes())
    run = content["runs"][0]
    pages = [rule["help"].pop("markdown") for rule in run["tool"]["driver"]["rules"]]
    assert [page.partition("\n")[0] for page in pages] == ["# OLD003 old-three", "# OLD004 old-four"]
    prints = [result.pop("partialFingerprints") for result in run["results"]]
    assert [list(each) for each in prints] == [["fixer/v1"]] * 2 and prints[0] != prints[1]
    first = {"uri": "a%20b%25/%C3%A4.py", "uriBaseId": "%SRCROOT%"}
    assert content == {
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "fixer",
                        "version": __version__,
                        "rules": [
                            {
                                "id": "OLD003",
                                "name": "old-three",
                                "shortDescription": {"text": "`old_three()` is old"},
                                "help": {"text": "`old_three()` is old. See `fixer explain OLD003`."},
                                "defaultConfiguration": {"level": "error"},
                                "helpUri": "https://example.org/old_three",
                            },
                            {
                                "id": "OLD004",
                                "name": "old-four",
                                "shortDescription": {"text": "`old_four()` is old"},
                                "help": {"text": "`old_four()` is old. See `fixer explain OLD004`."},
                                "defaultConfiguration": {"level": "warning"},
                                "helpUri": "https://example.org/old_four",
                            },
                        ],
                    }
                },
                "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": []}],
                "columnKind": "unicodeCodePoints",
                "newlineSequences": ["\r\n", "\n", "\r"],
                "results": [
                    {
                        "ruleId": "OLD003",
                        "ruleIndex": 0,
                        "level": "error",
                        "message": {"text": "`old_three()` is old"},
                        "locations": [
                            {
                                "physicalLocation": {
                                    "artifactLocation": first,
                                    "region": {"startLine": 2, "startColumn": 1, "endLine": 2, "endColumn": 12},
                                }
                            }
                        ],
                        "properties": {"consequence": "silent", "certainty": "certain", "safety": "unsafe"},
                        "fixes": [
                            {
                                "description": {"text": "Call `new_three()` (unsafe)"},
                                "artifactChanges": [
                                    {
                                        "artifactLocation": first,
                                        "replacements": [
                                            {
                                                "deletedRegion": {
                                                    "startLine": 2,
                                                    "startColumn": 1,
                                                    "endLine": 2,
                                                    "endColumn": 4,
                                                },
                                                "insertedContent": {"text": "new"},
                                            }
                                        ],
                                    }
                                ],
                            }
                        ],
                    },
                    {
                        "ruleId": "OLD004",
                        "ruleIndex": 1,
                        "level": "warning",
                        "message": {"text": "`old_four()` is old"},
                        "locations": [
                            {
                                "physicalLocation": {
                                    "artifactLocation": {"uri": "c.py", "uriBaseId": "%SRCROOT%"},
                                    "region": {"startLine": 2, "startColumn": 5, "endLine": 3, "endColumn": 6},
                                }
                            }
                        ],
                        "properties": {"consequence": "warns", "certainty": "certain", "safety": "display"},
                    },
                ],
            }
        ],
    }


def test_a_fix_in_several_files_and_what_shows_the_bug() -> None:
    edits = (Edit("a.py", 0, 3, "new"), Edit("b:c.txt", 3, 3, "é"))
    here = found(fix=Fix("Both", edits), safety=Safety.SAFE, evidence=(Evidence("d/e.py", 7, "frozen"),))
    (result,) = run_of(outcome(plan(here), read={"b:c.txt": b"a\nbc\n"}.get))["results"]
    changes = result["fixes"][0]["artifactChanges"]
    assert [each["artifactLocation"]["uri"] for each in changes] == ["a.py", "b%3Ac.txt"]
    assert changes[1]["replacements"] == [
        {
            "deletedRegion": {"startLine": 2, "startColumn": 2, "endLine": 2, "endColumn": 2},
            "insertedContent": {"text": "é"},
        }
    ]
    assert result["relatedLocations"] == [
        {
            "id": 0,
            "physicalLocation": {
                "artifactLocation": {"uri": "d/e.py", "uriBaseId": "%SRCROOT%"},
                "region": {"startLine": 7},
            },
            "message": {"text": "frozen"},
        }
    ]
    assert b"shown by d/e.py:7: frozen\nfix: Both</failure>" in junit.render(outcome(plan(here)))


@pytest.mark.parametrize(
    ("consequence", "level", "command", "severity"),
    [
        (Consequence.SILENT, "error", "error", "critical"),
        (Consequence.RAISES, "error", "error", "major"),
        (Consequence.WARNS, "warning", "warning", "minor"),
        (Consequence.DEPRECATED, "warning", "warning", "minor"),
        (Consequence.STYLE, "note", "notice", "info"),
    ],
)
def test_what_a_finding_costs(consequence: Consequence, level: str, command: str, severity: str) -> None:
    shown = plan(found(consequence=consequence))
    assert run_of(outcome(shown))["results"][0]["level"] == level
    assert github_annotations.render(shown).startswith(f"::{command} file=a.py,".encode())
    assert json.loads(gitlab_quality.render(shown))[0]["severity"] == severity
    (failure,) = ElementTree.fromstring(junit.render(outcome(shown))).iter("failure")
    assert failure.get("type") == str(consequence)


def test_nothing_a_message_or_a_path_holds_leaves_its_place() -> None:
    shown = plan(found("a\n::error,b: é\udcff.py", ODD))
    assert github_annotations.render(shown).decode() == (
        "::notice file=a%0A%3A%3Aerror%2Cb%3A é?.py,line=1,endLine=1,col=1,endColumn=6,title=OLD001 old-call (style)"
        "::bad::error file=x::%0D%0A100%25, \\x1b[31m\\x00\\u202e\ufffe]]>?\n"
    )
    (case,) = ElementTree.fromstring(junit.render(outcome(shown))).iter("testcase")
    assert case.get("file") == "a\n::error,b: é?.py"
    (failure,) = case
    assert failure.get("message") == "bad::error file=x::\\x0d\n100%, \\x1b[31m\\x00\\u202e\ufffd]]>?"
    (entry,) = json.loads(gitlab_quality.render(shown))
    assert entry["location"]["path"] == "a\n::error,b: é?.py" and "\x1b" not in entry["description"]
    (result,) = run_of(outcome(shown))["results"]
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == "a%0A%3A%3Aerror%2Cb%3A%20%C3%A9%FF.py"
    assert result["message"]["text"] == "bad::error file=x::\\x0d\n100%, \\x1b[31m\\x00\\u202e\ufffe]]>?"


def test_nothing_found(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "x = 1\n"})
    out = {}
    for format in ("sarif", "github", "gitlab", "junit"):
        done = fixer("check", "--format", format, at=tmp_path)
        assert done.code == 0 and done.err.startswith("Nothing found (1 file looked at"), format
        out[format] = done.text
    assert out["github"] == "" and json.loads(out["gitlab"]) == []
    run = json.loads(out["sarif"])["runs"][0]
    assert run["results"] == [] and run["tool"]["driver"]["rules"] == []
    assert out["junit"].endswith(
        '<testsuite name="fixer" tests="1" failures="0" errors="0" skipped="0">\n'
        '    <testcase classname="fixer" name="nothing found (1 file looked at, 0 read closely)" />\n'
        "  </testsuite>\n</testsuites>\n"
    )


def test_a_notebook_is_a_file_with_lines(tmp_path: Path) -> None:
    write(tmp_path, {"n.ipynb": NOTEBOOK})
    done = {
        format: fixer("check", "--format", format, at=tmp_path) for format in ("sarif", "github", "gitlab", "junit")
    }
    assert done["github"].text == (
        "::warning file=n.ipynb,line=6,endLine=6,title=OLD001 old-one (deprecated)::`old_one()` is old "
        "(cell 2, line 2)\n"
    )
    assert json.loads(done["gitlab"].out)[0]["location"] == {"path": "n.ipynb", "lines": {"begin": 6, "end": 6}}
    assert 'name="OLD001 old-one, line 6"' in done["junit"].text
    (result,) = json.loads(done["sarif"].out)["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": 6, "endLine": 6}
    assert result["message"] == {"text": "`old_one()` is old (cell 2, line 2)"}
    assert result["properties"] == {
        "consequence": "deprecated",
        "certainty": "certain",
        "safety": "safe",
        "cell": 2,
    }
    assert "fixes" not in result


def test_evidence_in_a_notebook_names_the_file() -> None:
    (result,) = run_of(outcome(plan(found(evidence=(Evidence("n.ipynb", 3, "frozen"),)))))["results"]
    assert list(result["relatedLocations"][0]["physicalLocation"]) == ["artifactLocation"]


@pytest.mark.parametrize(("cell", "line", "expected"), [(2, 1, 5), (2, 2, 6), (2, 9, 6), (7, 1, 1)])
def test_lines_of_a_cell_in_the_file(cell: int, line: int, expected: int) -> None:
    assert not isinstance(decode("n.ipynb", NOTEBOOK.encode()), Skip)
    assert line_in_file(NOTEBOOK.encode(), cell, line) == expected


@pytest.mark.parametrize("format", ["sarif", "github", "gitlab", "junit"])
def test_a_path_that_is_missing(tmp_path: Path, format: str) -> None:
    done = fixer("check", "x.py", "--format", format, at=tmp_path)
    assert done.code == 2 and done.err.endswith("fixer: x.py: no such file or directory\n")
    assert (b"x.py: no such file or directory" in done.out) is (format in ("sarif", "junit"))


def test_junit_passes_nothing_where_something_could_not_be_done() -> None:
    skips = (Skip("b\0.py", SkipReason.UNREADABLE), Skip("c.py", SkipReason.UNPARSABLE))
    assert junit.render(outcome(Plan(skips=skips), problems=("x.py: no such file",))).decode().splitlines()[2:] == [
        '  <testsuite name="fixer" tests="2" failures="0" errors="2" skipped="0">',
        '    <testcase classname="fixer" name="x.py: no such file">',
        '      <error message="x.py: no such file" />',
        "    </testcase>",
        '    <testcase classname="fixer" name="b\\x00.py: unreadable">',
        '      <error message="b\\x00.py: unreadable" />',
        "    </testcase>",
        "  </testsuite>",
        "</testsuites>",
    ]


def test_sarif_tells_what_could_not_be_done() -> None:
    skips = (
        Skip("a b.py", SkipReason.UNPARSABLE, "line 1: no"),
        Skip("n.ipynb::x.py", SkipReason.UNREADABLE),
    )
    (invocation,) = run_of(outcome(Plan(skips=skips), problems=("x.py: no such file",)))["invocations"]
    assert invocation == {
        "executionSuccessful": False,
        "toolExecutionNotifications": [
            {
                "descriptor": {"id": "unparsable"},
                "level": "warning",
                "message": {"text": "skipped: unparsable: line 1: no"},
                "locations": [
                    {"physicalLocation": {"artifactLocation": {"uri": "a%20b.py", "uriBaseId": "%SRCROOT%"}}}
                ],
            },
            {
                "descriptor": {"id": "unreadable"},
                "level": "error",
                "message": {"text": "skipped: unreadable"},
                "locations": [{"physicalLocation": {"artifactLocation": {"uri": "n.ipynb", "uriBaseId": "%SRCROOT%"}}}],
            },
            {"level": "error", "message": {"text": "x.py: no such file"}},
        ],
    }
