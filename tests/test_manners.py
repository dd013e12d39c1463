"""Terminal manners: what is said where nothing could be judged, outside of the repository, quietly, without colour."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from world import CHECKOUT, SURROUNDINGS, Result, fixer, process, repository, write

CALL = "old_one(1)\n"
BROKEN = "old_one(\n"


def on_a_terminal(*arguments: str, at: Path, environment: dict[str, str]) -> str:
    """What a command shows on a terminal of 80 columns."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-c", "from fixer.cli import main; main()", *arguments],
        cwd=at,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT), "TERM": "xterm", "COLUMNS": "80", **environment},
        stdin=theirs,
        stdout=theirs,
        stderr=subprocess.DEVNULL,
    )
    os.close(theirs)
    shown = b""
    try:
        while part := os.read(ours, 65536):
            shown += part
    except OSError:  # Linux says so when the other side is closed
        pass
    finally:
        child.wait()
        os.close(ours)
    return shown.decode().replace("\r\n", "\n")


@pytest.mark.parametrize(
    ("files", "summary"),
    [
        ({"a.py": "x = 1\n"}, "Nothing found (1 file looked at, 0 read closely)."),
        ({"a.py": BROKEN}, "Nothing could be judged: 1 file was skipped."),
        ({"a.py": BROKEN, "b.py": BROKEN}, "Nothing could be judged: 2 files were skipped."),
        ({"a.py": BROKEN, "b.py": ""}, "Nothing found, but 1 file was skipped (2 files looked at, 1 read closely)."),
    ],
)
def test_a_file_that_was_skipped_is_not_a_file_without_findings(
    tmp_path: Path, files: dict[str, str | bytes], summary: str
) -> None:
    write(tmp_path, files)
    result = fixer("check", at=tmp_path)
    assert (result.code, result.err.splitlines()[0]) == (0, summary)
    strict = [fixer(*command, "--strict", at=tmp_path).code for command in (("check",), ("apply",))]
    assert strict == ([2, 2] if "skipped" in summary else [0, 0])


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("check", "gone.py"), "fixer: gone.py: no such file or directory\n"),
        (("apply", "gone.py"), "fixer: gone.py: no such file or directory\n"),
        (("check", "bad"), "fixer: bad/fixer.toml: unknown key `selct`: did you mean `select`?\n"),
    ],
)
def test_a_wrong_path_is_all_that_is_said(tmp_path: Path, arguments: tuple[str, ...], problem: str) -> None:
    write(tmp_path, {"bad/fixer.toml": 'selct = ["OLD"]\n', "bad/a.py": CALL})
    result = fixer(*arguments, at=tmp_path)
    assert (result.code, result.err) == (2, problem)


@pytest.mark.parametrize(
    ("here", "named", "shown"),
    [
        ("r", ("../s/a.py",), "../s/a.py:1:1: OLD001"),
        ("r", ("../s",), "../s/a.py:1:1: OLD001"),
        ("r/sub", ("../../plain/x/a.py",), "../../plain/x/a.py:1:1: OLD001"),
        ("r", ("../plain/x/a.py", "../plain/y.py"), "../plain/y.py:1:1: OLD001"),
        ("plain/x", ("../y.py",), "../y.py:1:1: OLD001"),
        ("plain/x", ("../../r/sub/a.py",), "../../r/sub/a.py:1:1: OLD001"),
    ],
)
def test_what_lies_elsewhere_can_be_checked(tmp_path: Path, here: str, named: tuple[str, ...], shown: str) -> None:
    elsewhere(tmp_path)
    result = fixer("check", *named, at=tmp_path / here)
    assert result.code == 1 and shown in result.text, result.err


@pytest.mark.parametrize(
    ("here", "named", "refused"),
    [
        ("r", ("sub/a.py", "../s/a.py"), "../s/a.py"),
        ("r", ("../plain/y.py", "../s/a.py"), "../plain/y.py"),
        ("plain/x", ("a.py", "../y.py"), "../y.py"),
        ("r", ("..",), ".."),
        ("r", ("/",), "/"),
    ],
)
def test_two_places_are_given_to_two_commands(tmp_path: Path, here: str, named: tuple[str, ...], refused: str) -> None:
    elsewhere(tmp_path)
    result = fixer("check", *named, at=tmp_path / here)
    assert result.code == 2 and f"fixer: {refused}: lies outside {tmp_path / here}; give it to a command" in result.err


def test_a_fix_elsewhere_is_written_there_with_the_settings_from_there(tmp_path: Path) -> None:
    elsewhere(tmp_path)
    (tmp_path / "s/fixer.toml").write_text('ignore = ["OLD002"]\n')
    (tmp_path / "s/a.py").write_text("old_one(1)\nold_two(2)\n")
    assert fixer("apply", "../s/a.py", at=tmp_path / "r").text == "../s/a.py: fixed OLD001\n"
    assert (tmp_path / "s/a.py").read_text() == "new_one(1)\nold_two(2)\n"


def elsewhere(root: Path) -> None:
    """Two repositories, and directories that are in none."""
    repository(root / "r", {"sub/a.py": CALL})
    repository(root / "s", {"a.py": CALL})
    write(root / "plain", {"x/a.py": CALL, "y.py": CALL})


@pytest.mark.parametrize("arguments", [("apply", "--quiet"), ("apply", "--quiet", "--branch", "fix")])
def test_apply_quietly_says_nothing(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    root = repository(tmp_path / "r", {"a.py": CALL})
    assert fixer(*arguments, at=root) == Result(0, b"", "")
    assert b"new_one" in fixer("apply", "--quiet", "--dry-run", at=repository(tmp_path / "s", {"a.py": CALL})).out


def test_a_read_only_file_is_told_of_even_quietly(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": CALL})
    (tmp_path / "a.py").chmod(0o444)
    result = fixer("apply", at=tmp_path)
    assert result.code == 2 and "1 could not be fixed, because files could not be written." in result.err
    assert "run fixer again" not in result.err
    assert fixer("apply", "-q", at=tmp_path) == Result(
        2, b"", "fixer: a.py: cannot be written: the file is read-only\n"
    )


@pytest.mark.parametrize(
    ("environment", "options"),
    [({"NO_COLOR": "1"}, ()), ({"TERM": "dumb"}, ()), ({"NO_COLOR": ""}, ("--color", "never"))],
)
def test_without_colour_the_code_is_still_shown(
    tmp_path: Path, environment: dict[str, str], options: tuple[str, ...]
) -> None:
    write(tmp_path, {"a.py": "import torch\n\nwith torch.no_grad:\n    pass\n"})
    shown = on_a_terminal("check", *options, at=tmp_path, environment=environment)
    assert "\x1b" not in shown
    assert "\n3 | with torch.no_grad:\n  |      ^^^^^^^^^^^^^\n  = fix: Call the context manager\n" in shown


def test_a_dry_run_ends_with_what_to_do_next(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": CALL})
    assert (
        "Nothing was written: the same command without --dry-run does that."
        in fixer("apply", "--dry-run", at=tmp_path).err
    )
    assert "Nothing was written" not in fixer("apply", at=tmp_path).err


def test_alone_it_says_how_to_begin(tmp_path: Path) -> None:
    result = fixer(at=tmp_path)
    assert (result.code, result.out) == (2, b"")
    assert "\n  fixer check " in result.err and max(map(len, result.err.splitlines())) < 80


@pytest.mark.parametrize(
    ("command", "title", "example"),
    [
        ("check", "Rules and files:", "  fixer check --since origin/main "),
        ("apply", "Pull request:", "  fixer apply --branch fix/amp --pr "),
        ("verify", "Runs of your code:", "  fixer verify --module model.py:make "),
        ("diagnose", "Options:", "  python train.py 2>&1 | fixer diagnose - "),
        ("explain", "Options:", "  fixer explain train.py:12 "),
    ],
)
def test_help_has_groups_and_examples(tmp_path: Path, command: str, title: str, example: str) -> None:
    shown = fixer(command, "--help", at=tmp_path, environment={"COLUMNS": "80"}).text
    assert f"\n{title}\n" in shown and f"\n{example}" in shown.partition("\nExamples:\n")[2].join("\n\n")
    assert max(map(len, shown.splitlines())) <= 80


def test_the_help_of_a_campaign_has_examples(tmp_path: Path) -> None:
    assert "\n    fixer bulk run CAMPAIGN.toml " in fixer("bulk", "--help", at=tmp_path).text


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("fixer che", "check"),
        ("fixer check --fail", "--fail-on"),
        ("fixer check --select OLD00", "OLD001 OLD002 OLD003 OLD004"),
        ("fixer check --select OLD001,OL", "OLD001,OLD OLD001,OLD001 OLD001,OLD002 OLD001,OLD003 OLD001,OLD004"),
        ("fixer check --ignore st", "style"),
        ("fixer apply --strategy OLD", "OLD001=rename OLD001=remove"),
        ("fixer apply --strategy OLD001=rem", "OLD001=remove"),
        ("fixer explain OL", "OLD OLD001 OLD002 OLD003 OLD004"),
        ("fixer explain train", ""),
    ],
)
def test_a_shell_completes(tmp_path: Path, typed: str, completed: str) -> None:
    words = typed.split()
    environment = {
        "_FIXER_COMPLETE": "complete_bash",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(len(words) - 1),
    }
    assert fixer(at=tmp_path, environment=environment).text.split() == completed.split()


def test_completion_is_installed_on_request_and_costs_nothing_otherwise() -> None:
    from fixer.cli.application import application

    options = [parameter.name for parameter in typer.main.get_command(application(["--help"])).params]
    assert {"install_completion", "show_completion"} <= set(options)
    for words in (["check"], ["--version"]):
        options = [parameter.name for parameter in typer.main.get_command(application(words)).params]
        assert "install_completion" not in options


def test_it_runs_as_a_module(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "x = 1\n", "platformdirs.py": "raise SystemExit('the directory was imported')\n"})
    command = [sys.executable, "-m", "fixer", "check"]
    environment = {**os.environ, **SURROUNDINGS, "PYTHONPATH": str(CHECKOUT)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "Nothing found (2 files looked at, 0 read closely).\n")
    assert process("--version", at=tmp_path).text.startswith("fixer ")
