"""The commands as people meet them: what is printed where, exit codes, bad input."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from world import CHECKOUT, fixer, git, process, repository, write

from fixer.cli.habits import check_words

PROJECT = {
    "train.py": "import torch\n\nx = old_one(1)\ny = old_two(2)\n",
    "sub/unsafe.py": "z = old_three(3)\n",
    "sub/report.py": "w = old_four(4)\n",
    "sub/clean.py": "import os\n",
}
LONG = '"""' + "\n" * 2_000 + '"""\n'
"""Enough lines for worker processes, quick to parse."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return repository(tmp_path / "project", PROJECT)


def test_nothing_to_find_is_silent_on_standard_output(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "import os\n"})
    result = fixer("check", at=tmp_path)
    assert (result.code, result.out) == (0, b"")
    assert "Nothing found (1 file looked at" in result.err


def test_check_prints_place_code_and_message(project: Path) -> None:
    result = fixer("check", at=project)
    assert result.text == (
        "sub/unsafe.py:1:5: OLD003 [silent] `old_three()` is old\n"
        "sub/report.py:1:5: OLD004 [warns] `old_four()` is old\n"
        "train.py:3:5: OLD001 [deprecated] `old_one()` is old\n"
        "train.py:4:5: OLD002 [deprecated] `old_two()` is old\n"
    )
    assert result.code == 1
    assert "1 bug: 1 trains wrong silently; 1 warning; 2 deprecated uses in 3 files" in result.err
    assert "2 can be fixed" in result.err
    assert "1 more with --unsafe-fixes" in result.err
    assert "1 to decide by hand: see `fixer explain OLD004`" in result.err


@pytest.mark.parametrize(
    ("place", "fail_on", "code"),
    [
        ("sub/report.py", (), 1),
        ("sub/report.py", ("--fail-on", "warns"), 1),
        ("sub/report.py", ("--fail-on", "raises"), 0),
        ("sub/report.py", ("--fail-on", "fixable"), 0),
        ("train.py", ("--fail-on", "fixable"), 1),
        ("train.py", ("--fail-on", "warns"), 0),
        ("sub/unsafe.py", ("--fail-on", "silent"), 1),
        ("sub/unsafe.py", ("--fail-on", "never"), 0),
        ("sub/unsafe.py", ("--fail-on", "sometimes"), 2),
    ],
)
def test_what_fails_a_check(project: Path, place: str, fail_on: tuple[str, ...], code: int) -> None:
    assert fixer("check", place, *fail_on, at=project).code == code


@pytest.mark.parametrize(
    ("arguments", "codes"),
    [
        (("--select", "silent"), "OLD003"),
        (("--select", "silent,warns"), "OLD003 OLD004"),
        (("--select", "silent,OLD001"), "OLD001 OLD003"),
        (("--select", "OLD", "--ignore", "deprecated"), "OLD003 OLD004"),
        (("--select", "deprecated", "--ignore", "OLD002"), "OLD001"),
    ],
)
def test_findings_are_selected_by_what_they_cost(project: Path, arguments: tuple[str, ...], codes: str) -> None:
    found = json.loads(fixer("check", "--format", "json", *arguments, at=project).out)["findings"]
    assert " ".join(sorted(finding["code"] for finding in found)) == codes


def test_only_what_is_selected_is_applied(project: Path) -> None:
    fixer("apply", "--unsafe-fixes", "--select", "silent", at=project)
    assert (project / "sub/unsafe.py").read_text() == "z = new_three(3)\n"
    assert (project / "train.py").read_text() == PROJECT["train.py"]


def test_consequences_are_selected_in_the_configuration(project: Path) -> None:
    (project / "pyproject.toml").write_text('[tool.fixer]\nignore = ["deprecated", "warns"]\n')
    found = json.loads(fixer("check", "--format", "json", at=project).out)["findings"]
    assert [finding["code"] for finding in found] == ["OLD003"]


def test_a_mistyped_consequence_is_refused(project: Path) -> None:
    result = fixer("check", "--select", "silend", at=project)
    assert result.code == 2 and "did you mean silent?" in result.err


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("check",), 1),
        (("check", "--exit-zero"), 0),
        (("check", "sub/unsafe.py"), 1),
        (("check", "sub/clean.py"), 0),
        (("apply", "--dry-run"), 1),
        (("apply", "--dry-run", "--exit-zero"), 0),
        (("apply", "--dry-run", "sub/clean.py"), 0),
        (("apply", "--dry-run", "sub/unsafe.py"), 0),
        (("apply", "--dry-run", "sub/unsafe.py", "--unsafe-fixes"), 1),
        (("apply",), 0),
        (("apply", "sub/unsafe.py"), 0),
        (("check", "missing.py"), 2),
        (("check", "missing.py", "--exit-zero"), 2),
        (("apply", "--dry-run", "missing.py", "train.py"), 2),
        (("check", "--nonsense"), 2),
        (("check", "--jobs", "many"), 2),
        (("check", "--format", "xml"), 2),
        (("nonsense",), 2),
    ],
)
def test_exit_codes(project: Path, arguments: tuple[str, ...], code: int) -> None:
    result = fixer(*arguments, at=project)
    assert result.code == code, result.err
    assert "Traceback" not in result.err


def test_apply_writes_and_a_second_run_finds_nothing(project: Path) -> None:
    result = fixer("apply", at=project)
    assert (project / "train.py").read_text() == "import torch\n\nx = new_one(1)\ny = new_one(2)\n"
    assert (project / "sub/unsafe.py").read_text() == PROJECT["sub/unsafe.py"]
    assert result.text == "train.py: fixed OLD001, OLD002\n"
    again = fixer("apply", at=project)
    assert (again.code, again.out) == (0, b"")
    assert git("status", "--short", at=project).strip() == "M train.py"


def test_unsafe_fixes_are_taken_when_asked_for(project: Path) -> None:
    fixer("apply", "--unsafe-fixes", at=project)
    assert (project / "sub/unsafe.py").read_text() == "z = new_three(3)\n"


@pytest.mark.parametrize("place", [".", "sub"])
def test_a_dry_run_is_a_patch_that_git_takes(tmp_path: Path, place: str) -> None:
    files = {
        "sub/ü b.py": "# -*- coding: latin-1 -*-\r\n# ü\r\nx = old_one(1)\r\n".encode("latin-1"),
        "sub/no end.py": b"x = old_one(1)",
        "sub/bom.py": b"\xef\xbb\xbfx = old_one(1)\n\x0c\ndef f():\n\told_two(2)\n",
        'sub/quote".py': b"x = old_one(1)\n",
    }
    root = repository(tmp_path / "r", files)
    patch = fixer("apply", "--dry-run", at=root / place)
    assert patch.code == 1
    assert {name: (root / name).read_bytes() for name in files} == files
    git("apply", "-", at=root / place, data=patch.out)
    applied = {name: (root / name).read_bytes() for name in files}
    git("checkout", "-q", ".", at=root)
    fixer("apply", at=root / place)
    assert {name: (root / name).read_bytes() for name in files} == applied
    assert applied["sub/ü b.py"].endswith("# ü\r\nx = new_one(1)\r\n".encode("latin-1"))
    assert applied["sub/no end.py"] == b"x = new_one(1)"


def test_a_dry_run_in_a_directory_without_git(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "old_one(1)\n"})
    patch = fixer("apply", "--dry-run", at=tmp_path).out
    assert patch == (
        b"diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n"
        b"@@ -1,1 +1,1 @@ OLD001: `old_one()` is old\n-old_one(1)\n+new_one(1)\n"
    )
    git("apply", "-", at=tmp_path, data=patch)
    assert (tmp_path / "a.py").read_text() == "new_one(1)\n"


def test_a_file_is_judged_alike_alone_and_with_its_project(project: Path) -> None:
    everything = json.loads(fixer("check", "--format", "json", at=project).out)
    alone = json.loads(fixer("check", "--format", "json", "train.py", at=project).out)
    assert alone["findings"] == [found for found in everything["findings"] if found["path"] == "train.py"]


def test_colours_only_where_somebody_looks(project: Path) -> None:
    assert b"\x1b[" not in fixer("apply", "--dry-run", at=project).out
    coloured = fixer("apply", "--dry-run", "--color", "always", at=project, environment={"NO_COLOR": ""})
    assert b"\x1b[" in coloured.out
    plain = re.sub(rb"\x1b\[[0-9;]*m", b"", coloured.out)
    assert plain == fixer("apply", "--dry-run", at=project).out


def test_code_cannot_steer_the_terminal(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "x = old_one('\x1b]0;title\x07')\n"})
    shown = fixer("check", "--color", "always", at=tmp_path).out
    assert b"\x1b]" not in shown and b"\\x1b]0;title" in shown


def test_output_goes_to_a_file(project: Path) -> None:
    direct = fixer("apply", "--dry-run", at=project)
    result = fixer("apply", "--dry-run", "--output", "fix.patch", at=project)
    assert (result.out, (project / "fix.patch").read_bytes()) == (b"", direct.out)
    result = fixer("check", "--output", "no/such/folder", at=project)
    assert result.err.splitlines()[-1] == "fixer: --output no/such/folder: No such file or directory"
    assert result.code == 2


def test_quiet_leaves_only_the_result_and_errors(project: Path) -> None:
    result = fixer("check", "--quiet", "train.py", "missing.py", at=project)
    assert result.err == "fixer: missing.py: no such file or directory\n"


LOCK = 'version = 1\n\n[[package]]\nname = "torch"\nversion = "2.4.1"\n'


def test_statistics_count_by_rule(project: Path) -> None:
    lines = fixer("check", "--statistics", at=project).text.splitlines()
    assert lines[0].split() == ["1", "OLD001", "old-one", "(1", "with", "a", "fix)"]
    assert lines[4:] == [".: no file names a version of torch or its friends"]
    write(project, {"requirements.txt": "lightning>=2.0,<3\n", "uv.lock": LOCK})
    again = fixer("check", "--statistics", at=project).text.splitlines()
    assert again[4:] == [".: lightning >=2.0,<3 from requirements.txt, torch 2.4.1 from uv.lock"]
    counts = json.loads(fixer("check", "--statistics", "--format", "json", at=project).out)["statistics"]
    assert counts["OLD003"] == {"findings": 1, "fixable": 1, "fixed": 0}


@pytest.mark.parametrize(
    ("options", "codes"),
    [
        ((), "OLD001 OLD002 OLD003 OLD004"),
        (("--select", "OLD001"), "OLD001"),
        (("--select", "OLD001,OLD003"), "OLD001 OLD003"),
        (("--select", "OLD"), "OLD001 OLD002 OLD003 OLD004"),
        (("--select", "OLD", "--ignore", "OLD004"), "OLD001 OLD002 OLD003"),
        (("--ignore", "OLD00"), ""),
        (("--select", "OLD001", "--ignore", "OLD"), "OLD001"),
    ],
)
def test_choosing_rules(project: Path, options: tuple[str, ...], codes: str) -> None:
    found = json.loads(fixer("check", "--format", "json", *options, at=project).out)["findings"]
    assert " ".join(sorted(finding["code"] for finding in found)) == codes


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("check", "--select", "OLD01"), "--select: there is no rule 'OLD01'; did you mean OLD00"),
        (("check", "--ignore", "zzz"), "--ignore: there is no rule 'ZZZ'; `fixer rules` lists all"),
        (("check", "--select", "old-two"), "did you mean OLD002?"),
        (("check", "--strategy", "OLD001"), "--strategy 'OLD001': write CODE=NAME"),
        (("check", "--strategy", "OLD001=burn"), "OLD001 has no strategy 'burn'; choose one of rename, remove"),
        (
            ("check", "--strategy", "OLD001=renam"),
            "no strategy 'renam'; did you mean rename? choose one of rename, remove",
        ),
        (("check", "--strategy", "OLD002=burn"), "OLD002 has no strategy 'burn'; it has a single way to repair"),
        (("check", "--target", "torch"), "--target 'torch': write PACKAGE=VERSION"),
        (("check", "--target", "torch=two"), "--target 'torch=two': 'two' is no version; write PACKAGE=VERSION"),
        (("check", "--target", "pytorch=2.4"), "did you mean torch=2.4?"),
        (("apply", "--target", "troch=2.4"), "did you mean torch=2.4?"),
        (("verify", "--run", "true", "--target", "torch2.4"), "did you mean torch=2.4?"),
        (("check", "--exclude", "[z-a]"), "--exclude: '**/[z-a]' is not a path pattern"),
        (("check", "missing"), "missing: no such file or directory"),
        (("check", "/"), "/: lies outside"),
        (("check", "notes.txt"), "notes.txt: not a kind of file that is read"),
        (("check", "--config", "gone.toml"), "--config gone.toml: No such file or directory"),
        (("check", "--config", "x", "--isolated"), "--config and --isolated contradict each other"),
        (("apply", "--base", "main"), "--base requires --branch"),
        (("apply", "--signoff"), "--signoff requires --branch"),
        (("chekc",), "No such command 'chekc'. Did you mean 'check'"),
        (("check", "--strateg", "x"), "No such option: --strateg (Possible options: --isolated, --strategy"),
        (("explain", "OLD01"), "there is no rule 'OLD01'; did you mean OLD00"),
        (("explain", "nothing", "like", "it"), "no rule and no cause is known of this message"),
        (("version",), "'version' is no command; `fixer --version` is what you mean"),
        (("a.py",), "'a.py' is no command; `fixer check a.py` is what you mean"),
        (("check", "--fix"), "there is no option --fix: `fixer apply` writes the fixes"),
        (("check", "--output-format=json"), "there is no option --output-format: `--format` names the format"),
        (("check", "-"), "`fixer check` reads files, not standard input: name them; `fixer diagnose -` reads a log"),
        (("rules", "new", "X", "y"), "'X' is not a code"),
        (("rules", "new", "OLD001", "y"), "OLD001 old-one exists"),
        (("rules", "new", "OLD009", "No Name"), "'No Name' is not a name"),
        (("rules", "new", "OLD009", "new-name"), "is not in a checkout of fixer"),
    ],
)
def test_bad_input_is_answered_with_a_sentence(project: Path, arguments: tuple[str, ...], sentence: str) -> None:
    write(project, {"notes.txt": "old_one(1)\n"})
    result = fixer(*arguments, at=project)
    assert sentence in result.err
    assert result.code == 2
    assert "Traceback" not in result.err


def test_bad_files_are_skipped_with_the_reason_and_the_others_handled(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "nul.py": b"old_one(1)\0\n",
            "syntax.py": "def f(:\n    old_one(1)\n",
            "encoding.py": b"# \xff\nold_one(1)\n",
            "deep.py": "x = " + "(" * 5000 + "old_one(1)" + ")" * 5000,
            "big.py": b"old_one(1)\n" * 4_600_000,
            "good.py": "old_one(1)\n",
        },
    )
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    result = fixer("apply", at=tmp_path)
    assert "5 files skipped" in result.err
    for reason in (
        "big.py: too-large",
        "deep.py: unparsable",
        "encoding.py: undecodable",
        "nul.py: undecodable: contains NUL bytes",
        "syntax.py: unparsable: line 1",
    ):
        assert reason in result.err
    changed = [name for name, data in before.items() if (tmp_path / name).read_bytes() != data]
    assert changed == ["good.py"]
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted(before)


def test_unused_suppressions_are_reported(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "old_one(1)  # fixer: ignore[OLD001]\nold_two(1)\nx = 1  # fixer: ignore[OLD002]\n"})
    result = fixer("check", at=tmp_path)
    assert result.text == "a.py:2:1: OLD002 [deprecated] `old_two()` is old\n"
    assert "a.py:3: the suppression of OLD002 silences nothing" in result.err


def test_rules_are_listed(tmp_path: Path) -> None:
    assert "OLD002" in fixer("rules", at=tmp_path).text
    listed = json.loads(fixer("rules", "--format", "json", at=tmp_path).out)
    assert [rule["code"] for rule in listed] == ["OLD001", "OLD002", "OLD003", "OLD004"]
    assert listed[2]["safety"] == "unsafe"


def test_a_rule_is_explained(tmp_path: Path) -> None:
    page = fixer("explain", "OLD001", at=tmp_path).text
    assert page.startswith("# OLD001 old-one\n")
    assert "## Why is this bad?\nOld calls are old." in page
    assert "Strategies: `rename`, `remove`" in page


MESSAGE = "None of the inputs have requires_grad=True"


def test_what_people_type_from_habit(tmp_path: Path) -> None:
    """Several rules, a family, lower case, a message without quotes."""
    pages = fixer("explain", "old001", "old-two", at=tmp_path).text
    assert "# OLD001 old-one\n" in pages and "# OLD002 old-two\n" in pages
    family = fixer("explain", "old", at=tmp_path)
    assert family.text.count("OLD00") == 4 and "`fixer explain OLD001` shows the page of one" in family.err
    assert "CKP001" in fixer("explain", *MESSAGE.split(), at=tmp_path).text
    write(tmp_path, {"a.py": "old_one(1)\nold_two(1)\n"})
    assert fixer("check", "--select", "old002", "--strategy", "old001=remove", "--exit-zero", at=tmp_path).text == (
        "a.py:2:1: OLD002 [deprecated] `old_two()` is old\n"
    )
    assert fixer("-V", at=tmp_path).text == fixer("--version", at=tmp_path).text
    check_words(["probe", "--to", "seen", "python", "train.py", "--fix", "-"])  # options of the command that is run


@pytest.mark.parametrize("code", ["PL201", "CKP005"])
def test_an_explanation_ends_with_the_first_fixture_as_a_diff(code: str, tmp_path: Path) -> None:
    page = process("explain", code, at=tmp_path).text
    assert "```diff\ndiff --git a/" in page and page.endswith("```\n")


def test_a_new_rule_is_started_in_a_checkout(tmp_path: Path) -> None:
    write(tmp_path, {"codemods/transforms/x": "", "tests/before_after/x": ""})
    result = fixer("rules", "new", "OLD009", "older-call", at=tmp_path)
    assert result.code == 0
    made = (tmp_path / "codemods/transforms/old/older_call.py").read_text()
    assert 'code="OLD009"' in made and 'name="older-call"' in made
    assert (tmp_path / "tests/before_after/older-call/example/before.py").exists()
    compile(made, "older_call.py", "exec")
    assert fixer("rules", "new", "OLD009", "older-call", at=tmp_path).code == 2


@pytest.mark.parametrize(
    ("arguments", "unwanted"),
    [
        (("--help",), "libcst git rich torch codemods.engine.rounds"),
        (("--version",), "libcst git rich torch codemods.engine.rounds"),
        (("check", "--help"), "libcst git rich torch codemods.engine.rounds"),
        (("rules",), "git torch libcst"),
        (("check", "--quiet"), "git torch"),
        (("apply", "--dry-run"), "git torch"),
        (("apply", "--branch", "x"), "torch libcst.matchers libcst.codemod"),
    ],
)
def test_commands_import_only_what_they_need(project: Path, arguments: tuple[str, ...], unwanted: str) -> None:
    script = (
        "import sys; sys.path.pop(0); sys.argv = ['fixer', *sys.argv[1:]]\n"
        "from fixer.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print('LOADED', *sys.modules, file=sys.stderr)"
    )
    environment = {"PYTHONPATH": str(CHECKOUT), "PATH": "/usr/bin:/bin"}
    command = [sys.executable, "-c", script, *arguments]
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, check=False)
    loaded = set(done.stderr.decode().rpartition("LOADED")[2].split())
    assert "fixer.cli" in loaded
    assert loaded.isdisjoint(unwanted.split())


def test_a_repository_runs_nothing_of_its_own(tmp_path: Path) -> None:
    trap = "raise SystemExit('the repository was imported')\n"
    files = {f"{name}.py": trap for name in ("typing", "libcst", "pickle", "subprocess", "old_calls", "git", "rich")}
    files |= {f"{name}/__init__.py": trap for name in ("codemods", "fixer", "packaging")}
    files |= {f"m{number}.py": "old_one(1)\n" + LONG for number in range(11)}
    root = write(tmp_path / "r", files)
    result = process("check", "--jobs", "2", "--statistics", at=root)
    assert result.text.split()[:2] == ["11", "OLD001"], result.err
    assert result.code == 1


def test_the_outcome_does_not_depend_on_the_number_of_processes(tmp_path: Path) -> None:
    files = {f"m{number}.py": "old_one(1)\nold_two(2)\n" + LONG for number in range(12)}
    root = write(tmp_path, files)
    alone = process("apply", "--dry-run", "--jobs", "1", at=root)
    assert alone.code == 1 and alone.out.count(b"diff --git") == 12
    assert process("apply", "--dry-run", "--jobs", "2", at=root).out == alone.out


def test_what_a_reader_learns_meanwhile_does_not_disturb_the_workers(tmp_path: Path) -> None:
    """Tasks are sent to workers while this process reads in other directories, and remembers them."""
    write(tmp_path, {f"d{number}/a.py": "x = old_one(1)\n" for number in range(2_200)})
    result = fixer("check", "--jobs", "3", at=tmp_path)
    assert result.code == 1
    assert "2,200 deprecated uses in 2,200 files" in result.err
