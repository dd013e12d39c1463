"""`apply --add-ignore`, and what a run says of comments that silence findings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from memory import Memory
from toy import doubled, renamed
from world import fixer, write

from codemods.engine.rounds import Options, plan

OPTIONS = Options((renamed, doubled), silence=True)


def silenced(text: str) -> str:
    """The file with comments; nothing is found in it any more."""
    whole = plan(["p.py"], Memory({"p.py": text}), OPTIONS, fix=True)
    after = next((file.after.decode() for file in whole.files), text)
    assert plan(["p.py"], Memory({"p.py": after}), Options((renamed, doubled)), fix=False).findings == ()
    assert plan(["p.py"], Memory({"p.py": after}), OPTIONS, fix=True).changed == ()
    compile(after, "p.py", "exec")
    return after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = 1\n", "x = 1\n"),
        ("old()\n", "old()  # fixer: ignore[TOY001]\n"),
        ("old()", "old()  # fixer: ignore[TOY001]"),
        ("old()   \n", "old()  # fixer: ignore[TOY001]\n"),
        ("x = 1\r\nold()\r\n", "x = 1\r\nold()  # fixer: ignore[TOY001]\r\n"),
        ("old()  # why\n", "old()  # why  # fixer: ignore[TOY001]\n"),
        ("old()  # why \n", "old()  # why  # fixer: ignore[TOY001]\n"),
        ("old()  # type: ignore\n", "old()  # type: ignore  # fixer: ignore[TOY001]\n"),
        ("old()  # noqa: E501\n", "old()  # noqa: E501  # fixer: ignore[TOY001]\n"),
        ("old()  # fixer: ignore[AMP001] why\n", "old()  # fixer: ignore[AMP001, TOY001] why\n"),
        ("old()  # fixer: ignore[]\n", "old()  # fixer: ignore[TOY001]\n"),
        ("old()  # fixer: ignore\n", "old()  # fixer: ignore[TOY001]\n"),
        ("old()  # fixer: ignore-file[AMP]\n", "old()  # fixer: ignore-file[AMP]  # fixer: ignore[TOY001]\n"),
        ("twice(old())\n", "twice(old())  # fixer: ignore[TOY002, TOY001]\n"),
        ("old(), old()\n", "old(), old()  # fixer: ignore[TOY001]\n"),
        ("x = f(\n    old(),\n)\n", "x = f(\n    old(),  # fixer: ignore[TOY001]\n)\n"),
        ("if old():\n    pass\n", "if old():  # fixer: ignore[TOY001]\n    pass\n"),
        ("x = f(1, \\\n    old(), \\\n    2)\n", "x = f(1, \\\n    old(), \\\n    2)  # fixer: ignore[TOY001]\n"),
        ('x = old() + """\n"""\n', 'x = old() + """\n"""  # fixer: ignore[TOY001]\n'),
        ('x = f("""\n""" + old() + """\n""", 1)\n', 'x = f("""\n""" + old() + """\n""", 1)  # fixer: ignore[TOY001]\n'),
        (
            'x = f(\n    """\n""", old(), """\n""")\n',
            'x = f(  # fixer: ignore[TOY001]\n    """\n""", old(), """\n""")\n',
        ),
        ('x = f"""{\nold()\n}"""\n', 'x = f"""{\nold()\n}"""  # fixer: ignore[TOY001]\n'),
        ("x = 1\n\x0c\nif x:\n\told()\n", "x = 1\n\x0c\nif x:\n\told()  # fixer: ignore[TOY001]\n"),
        ("s = '\u00fc'; old()\n", "s = '\u00fc'; old()  # fixer: ignore[TOY001]\n"),
    ],
)
def test_a_comment_is_put_where_it_counts(before: str, after: str) -> None:
    assert silenced(before) == after


@pytest.mark.parametrize("text", ['old(); s = """\n"""\n', "old(); x = \\\n    1\n"])
def test_where_no_comment_can_stand_nothing_is_written(text: str) -> None:
    whole = plan(["p.py"], Memory({"p.py": text}), OPTIONS, fix=True)
    assert (whole.changed, [(f.code, f.fix, f.applied) for f in whole.findings]) == ((), [("TOY001", None, False)])


PROJECT = {"a.py": "old_one(1)\nold_three(3)\nold_four(4)\n", "b.py": "# -*- coding: latin-1 -*-\r\nold_four(1)\r\n"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write(tmp_path / "project", PROJECT)


def test_only_the_rules_that_are_named(project: Path) -> None:
    shown = fixer("apply", "--add-ignore", "OLD001,old004", "--dry-run", at=project)
    assert shown.code == 1 and b"+old_one(1)  # fixer: ignore[OLD001]\n" in shown.out
    result = fixer("apply", "--add-ignore", "OLD001,old004", at=project)
    assert (result.code, result.text) == (0, "a.py: silenced OLD001, OLD004\nb.py: silenced OLD004\n")
    assert "3 of 3 findings silenced, in 2 files" in result.err
    text = "old_one(1)  # fixer: ignore[OLD001]\nold_three(3)\nold_four(4)  # fixer: ignore[OLD004]\n"
    assert (project / "a.py").read_text() == text
    assert (project / "b.py").read_bytes().endswith(b"\r\nold_four(1)  # fixer: ignore[OLD004]\r\n")
    after = fixer("check", "--select", "OLD001,OLD004", at=project)
    assert (after.code, after.out) == (0, b"") and "3 findings suppressed by comments.\n" in after.err
    assert fixer("apply", "--add-ignore", "OLD001,old004", at=project).out == b""
    fixer("undo", at=project)
    assert (project / "a.py").read_text() == PROJECT["a.py"]


def test_a_single_finding(project: Path) -> None:
    told = json.loads(fixer("check", "--format", "json", "--select", "OLD004", "b.py", at=project).out)
    result = fixer("apply", "--add-ignore", "OLD", "--only", told["findings"][0]["fingerprint"], at=project)
    assert (result.code, result.text) == (0, "b.py: silenced OLD004\n")
    assert (project / "a.py").read_text() == PROJECT["a.py"]


def test_cells_of_a_notebook(tmp_path: Path) -> None:
    cell = '{"cell_type": "code", "metadata": {}, "outputs": [], "source": ["%time y\\n", "old_one(1)"]}'
    write(tmp_path, {"n.ipynb": f'{{"cells": [{cell}],\n "metadata": {{}}, "nbformat": 4}}'})
    assert fixer("apply", "--add-ignore", "OLD001", at=tmp_path).code == 0
    text = (tmp_path / "n.ipynb").read_text()
    assert text == f'{{"cells": [{cell}],\n "metadata": {{}}, "nbformat": 4}}'.replace(
        "old_one(1)", "old_one(1)  # fixer: ignore[OLD001]"
    )
    assert fixer("check", at=tmp_path).code == 0


def test_what_cannot_be_silenced_is_told(project: Path) -> None:
    write(project, {"a.py": 'old_one(1); s = """\n"""\n'})
    result = fixer("apply", "--add-ignore", "OLD001", at=project)
    assert (result.code, result.out) == (1, b"")
    assert "1 cannot be silenced by a comment (no line there can end with one): use `per-file-ignores`" in result.err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--add-ignore", "OLD01"), "--add-ignore: there is no rule 'OLD01'; did you mean OLD00"),
        (("--add-ignore", "OLD001", "--select", "OLD"), "--add-ignore writes comments into files: leave --select out"),
        (("--add-ignore", "OLD001", "--branch", "b"), "leave --branch out"),
        (("--add-ignore", "OLD001", "--plan", "p"), "leave --plan out"),
        (("--add-ignore", "OLD001", "--verify", "true"), "leave --verify out"),
    ],
)
def test_what_is_refused(project: Path, arguments: tuple[str, ...], sentence: str) -> None:
    result = fixer("apply", *arguments, at=project)
    assert result.code == 2 and sentence in result.err


@pytest.mark.parametrize("cached", [(), ("--no-cache",)])
@pytest.mark.parametrize(
    ("comment", "sentence"),
    [
        (
            "# fixer: ignore[OLD01]",
            "a.py:1: this suppression silences nothing: there is no rule OLD01; did you mean OLD001?",
        ),
        ("# fixer: ignore[XYZ9]", "a.py:1: this suppression silences nothing: there is no rule XYZ9\n"),
        (
            "# fixer: ignore",
            "a.py:1: this suppression names no rule and silences nothing: write `# fixer: ignore[CODE]`",
        ),
        ("# fixer: ignore[]", "a.py:1: this suppression names no rule and silences nothing"),
        ("# fixer: ignore-file", "a.py:1: this suppression names no rule and silences nothing"),
        ("# fixer: ignore[OLD002]", "a.py:1: the suppression of OLD002 silences nothing\n"),
    ],
)
def test_comments_that_silence_nothing(tmp_path: Path, comment: str, sentence: str, cached: tuple[str, ...]) -> None:
    root = write(tmp_path, {"a.py": f"x = 1  {comment}\n"})
    for _ in range(2):
        result = fixer("check", *cached, at=root)
        assert result.code == 0 and sentence in result.err
    stale = "OLD002" in comment  # a new version of fixer may have learned that the line is right
    assert fixer("check", *cached, "--strict", at=root).code == (0 if stale else 1)
    assert fixer("check", *cached, "--strict", "--exit-zero", at=root).code == 0
    assert "OLD002 silences" not in fixer("check", "--select", "OLD001", at=root).err


@pytest.mark.parametrize(
    ("files", "code"),
    [
        ({"a.py": "x = 1\n"}, 0),
        ({"a.py": "old_one(1)  # fixer: ignore[OLD001]\n"}, 0),
        ({"a.py": "old_one(1)\n"}, 1),
        ({"a.py": "old_one(\n"}, 2),
    ],
)
def test_a_strict_check(tmp_path: Path, files: dict[str, str], code: int) -> None:
    assert fixer("check", "--strict", at=write(tmp_path, files)).code == code


def test_suppressed_findings_are_counted(tmp_path: Path) -> None:
    text = "old_one(1)  # fixer: ignore[OLD001]\nold_one(2)  # noqa: OLD001\nold_four(1)  # fixer: ignore[OLD]\n"
    root = write(tmp_path, {"a.py": text})
    for _ in range(2):
        result = fixer("check", at=root)
        assert result.err.endswith(
            "Nothing found (1 file looked at, 1 read closely).\n3 findings suppressed by comments.\n"
        )
        told = json.loads(fixer("check", "--format", "json", at=root).out)
        assert told["summary"]["suppressed"] == 3
    assert "2 findings suppressed" in fixer("check", "--select", "deprecated", at=root).err
    assert "suppressed" not in fixer("check", "--select", "OLD003", at=root).err
