"""Files that are not Python, through the whole engine: rules on nodes, fixes that tie files, units of a notebook."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from memory import Memory

from codemods.analysis.python_context import PythonContext
from codemods.engine.rounds import Options, plan
from codemods.engine.steps import steps
from codemods.model.edits import Safety, SkipReason
from codemods.model.plan import Plan
from codemods.rules.file_context import FileContext
from codemods.rules.rule import Draft, Rule
from codemods.sources.config import Entry
from codemods.sources.config.values import plain
from codemods.sources.files import is_source
from codemods.sources.manifest import Requirement
from codemods.syntax.verbs import edit_call


def rule(code: str, **given: Any) -> Rule:
    return Rule(code=code, name=code.lower(), summary="bad", fix_title="Mend", safety=Safety.SAFE, **given)


BY_TWO = rule("DOC001", elsewhere=(b"size",))
"""A size of two becomes three."""
RAISE = rule("DOC002", elsewhere=(b"torch",))
"""Every torch is raised to 2.4."""
BOTH = rule("DOC003", triggers=(("old_one",),))
"""`old_one(…)` becomes `new_one(…)`, which needs torch 2.4."""


@BY_TWO.on(Entry)
def by_two(entry: Entry, ctx: FileContext) -> Iterator[Draft]:
    if entry.key.value == "size" and plain(entry.value) == 2:
        yield BY_TWO.finding(entry.value, fix={entry.value: 3}, bites={"torch": "<2.8"})


@RAISE.on(Requirement)
def raised(requirement: Requirement, ctx: FileContext) -> Iterator[Draft]:
    if requirement.package == "torch" and requirement.specs != (">=2.4",):
        yield RAISE.finding(requirement, fix={requirement: ">=2.4"})


@BOTH.on(ast.Call)
def both(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    if ctx.name(call.func) != "old_one":
        return
    floors: dict[str, Mapping[Any, Any]] = {}
    for path, requirement in ctx.requirements("torch"):
        if requirement.specs != (">=2.4",):
            floors[path] = {requirement: ">=2.4"}
    yield BOTH.finding(call, fix=[edit_call(call, function="new_one")], also=floors)


def run(
    files: Mapping[str, str | bytes], *rules: Rule, targets: Mapping[str, str] | None = None, unsafe: bool = False
) -> Plan:
    options = Options(rules=rules, targets=dict(targets or {}), unsafe=unsafe)
    return plan([path for path in files if is_source(path)], Memory(files), options, fix=True)


def after(found: Plan) -> dict[str, str]:
    return {file.path: file.after.decode() for file in found.changed}


def notebook(*cells: str) -> str:
    return json.dumps(
        {
            "cells": [
                {"cell_type": "code", "metadata": {}, "outputs": [], "source": source.splitlines(keepends=True)}
                for source in cells
            ],
            "metadata": {"kernelspec": {"language": "python", "name": "python3"}},
            "nbformat": 4,
            "nbformat_minor": 5,
        },
        indent=1,
    )


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.yaml", "# s\nsize: 2  # two\n", "# s\nsize: 3  # two\n"),
        ("a.yml", "model:\r\n  size: 2\r\n", "model:\r\n  size: 3\r\n"),
        ("a.json", '{\n\t"size": 2\n}\n', '{\n\t"size": 3\n}\n'),
        ("a.toml", "[model]\nsize = 2 # two\n", "[model]\nsize = 3 # two\n"),
    ],
)
def test_a_value_is_set_and_nothing_else(path: str, text: str, expected: str) -> None:
    found = run({path: text}, BY_TWO, unsafe=True)
    assert after(found) == {path: expected}
    assert [f.code for f in found.findings if f.applied] == ["DOC001"]
    assert run({path: expected}, BY_TWO).files == ()


def test_what_is_found_has_its_place_and_its_lasting_name() -> None:
    first = run({"a.yaml": "x: 1\nsize: 2\n"}, BY_TWO).findings[0]
    assert (first.reported.line, first.reported.column, first.reported.end_column) == (2, 7, 8)
    moved = run({"a.yaml": "# a line more\nx: 1\nsize: 2\n"}, BY_TWO).findings[0]
    assert first.fingerprint == moved.fingerprint
    assert run({"a.yaml": "m:\n  size: 2\n"}, BY_TWO).findings[0].fingerprint != first.fingerprint


def test_versions_count_in_every_kind_of_file() -> None:
    files = {"a.yaml": "size: 2\n", "requirements.txt": "torch==2.9\n"}
    assert run(files, BY_TWO).findings == ()
    assert run(files, BY_TWO, targets={"torch": "==2.4"}).findings != ()
    assert "(torch <2.8)" in run({"a.yaml": "size: 2\n"}, BY_TWO).findings[0].message


def test_a_comment_silences_a_finding() -> None:
    assert run({"a.yaml": "size: 2  # fixer: ignore[DOC001]\n"}, BY_TWO).findings == ()
    assert run({"a.yaml": "# fixer: ignore-file[DOC]\nx: 1\nsize: 2\n"}, BY_TWO).findings == ()
    unused = run({"a.yaml": "# fixer: ignore-file[DOC001]\nx: 1\n"}, BY_TWO).unused
    assert [(u.path, u.line, u.code) for u in unused] == [("a.yaml", 1, "DOC001")]
    assert run({"requirements.txt": "torch==2.0  # fixer: ignore[DOC002]\n"}, RAISE).findings == ()


@pytest.mark.parametrize(
    ("path", "data", "detail"),
    [
        ("a.yaml", b"size: [2\n", "line 2"),
        ("a.json", b'{"size": 2,}', "line 1"),
        ("a.toml", b"[t]\nsize = = 2\n", "line 2"),
        ("a.yaml", b"size: 2\nsize: 3\n", "line 2"),
        ("a.yaml", b"\xff\xfesize: 2", ""),
    ],
)
def test_what_cannot_be_read_is_skipped_with_its_line(path: str, data: bytes, detail: str) -> None:
    found = run({path: data}, BY_TWO)
    assert [skip.reason in (SkipReason.UNPARSABLE, SkipReason.UNDECODABLE) for skip in found.skips] == [True]
    assert detail in found.skips[0].detail
    assert found.changed == ()


def test_a_file_that_holds_no_trigger_is_not_read() -> None:
    found = run({"a.yaml": "x: [\n", "b.json": "{"}, BY_TWO)
    assert (found.skips, found.files_read, found.files_seen) == ((), 0, 2)


def test_a_fix_carries_its_floor() -> None:
    files = {
        "a.py": "old_one()\nx = old_one()\n",
        "b.py": "old_one(1)\n",
        "requirements.txt": "# gpu\ntorch>=2.0 # t\n",
    }
    found = run(files, BOTH)
    assert after(found) == {
        "a.py": "new_one()\nx = new_one()\n",
        "b.py": "new_one(1)\n",
        "requirements.txt": "# gpu\ntorch>=2.4 # t\n",
    }
    assert found.components == (frozenset(files),)
    assert run({**files, **after(found)}, BOTH).files == ()


def test_a_floor_that_cannot_be_raised_takes_the_fix_with_it() -> None:
    hashed = "torch==2.0.1 --hash=sha256:" + "0" * 64 + "\n"
    found = run({"a.py": "old_one()\n", "requirements.txt": hashed}, BOTH)
    assert found.changed == ()
    assert [f.fix for f in found.findings] == [None]


def test_one_commit_holds_a_fix_with_its_floor() -> None:
    files = {"a.py": "old_one()\n", "a.yaml": "size: 2\n", "requirements.txt": "torch>=2.0\n"}
    options = Options(rules=(BY_TWO, BOTH), unsafe=True)
    paths = [path for path in files if is_source(path)]
    whole = plan(paths, Memory(files), options, fix=True)
    found = steps(whole, Memory(files), options)
    assert [(step.codes, sorted(step.files)) for step in found] == [
        (("DOC001",), ["a.yaml"]),
        (("DOC003",), ["a.py", "requirements.txt"]),
    ]


def test_a_new_floor_counts_in_the_next_round() -> None:
    """The floor that one rule raises is the version that the others see, in the files that it ties together."""
    files = {"a.py": "old_one()\n", "requirements.txt": "torch>=2.0\n"}
    found = run(files, BOTH, RAISE)
    assert after(found)["requirements.txt"] == "torch>=2.4\n"
    assert run({**files, **after(found)}, BOTH, RAISE).files == ()


def test_a_notebook_is_one_program() -> None:
    text = notebook("%matplotlib inline\nimport lib", "x = 1\ny = old_one(x)  # ü\n", "!ls\nold_one()")
    found = run({"n.ipynb": text}, BOTH)
    expected = text.replace("old_one", "new_one")
    assert after(found) == {"n.ipynb": expected}
    assert [(f.path, f.cell, f.reported.line, f.reported.column) for f in found.findings] == [
        ("n.ipynb", 2, 2, 5),
        ("n.ipynb", 3, 2, 1),
    ]
    assert [f.location for f in found.findings] == ["n.ipynb:cell 2:2", "n.ipynb:cell 3:2"]


def test_a_file_that_a_cell_writes_is_a_program_of_its_own() -> None:
    text = notebook("x = old_one(1)", "%%writefile train.py\nimport lib\nold_one(2)\n", "y = old_one(3)")
    found = run({"n.ipynb": text}, BOTH)
    assert after(found) == {"n.ipynb": text.replace("old_one", "new_one")}
    assert [(f.path, f.cell, f.reported.line) for f in found.findings] == [
        ("n.ipynb", 1, 1),
        ("n.ipynb", 2, 3),
        ("n.ipynb", 3, 1),
    ]
    assert found.files_read == 1


def test_a_notebook_and_its_floor_change_together() -> None:
    files = {"n.ipynb": notebook("old_one()", "%%writefile t.py\nold_one()"), "requirements.txt": "torch>=2.0\n"}
    found = run(files, BOTH)
    assert sorted(after(found)) == ["n.ipynb", "requirements.txt"]
    assert found.components == (frozenset(files),)


def test_what_a_notebook_installs_comes_before_what_the_project_asks_for() -> None:
    """Rules hold, or not, by the version that the notebook itself installs."""
    narrow = rule("DOC004", triggers=(("old_one",),))

    @narrow.on(ast.Call)
    def check(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
        yield narrow.finding(call, bites={"torch": "<2.8"})

    files = {"n.ipynb": notebook("!pip install -q torch==2.9.0", "old_one()"), "requirements.txt": "torch==2.4\n"}
    assert run(files, narrow).findings == ()
    assert run({**files, "n.ipynb": notebook("%pip install torch==2.4.1", "old_one()")}, narrow).findings != ()
    assert run({**files, "n.ipynb": notebook("old_one()")}, narrow).findings != ()
    assert run(files, narrow, targets={"torch": "==2.4.1"}).findings != ()


def test_setup_py_is_python_and_a_packaging_file() -> None:
    text = "from setuptools import setup\nold_one()\nsetup(install_requires=['torch>=2.0'])\n"
    found = run({"setup.py": text}, BOTH, RAISE)
    assert after(found) == {"setup.py": text.replace("old_one", "new_one").replace(">=2.0", ">=2.4")}


def test_a_requirement_that_nobody_reads_is_told_with_its_line_and_costs_no_other() -> None:
    found = run({"requirements.txt": "peft\ntorch=>2\ntorch<2\n"}, RAISE)
    assert after(found) == {"requirements.txt": "peft\ntorch=>2\ntorch>=2.4\n"}
    told = [(skip.path, skip.reason, skip.detail) for skip in found.skips]
    assert told == [("requirements.txt", SkipReason.UNPARSABLE, "line 2: torch: nobody reads the constraint =>2")]
