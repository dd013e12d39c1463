"""Faults that an inspection found in commit 7310f0b (F1 to F10 in docs/reliability.md), through the command line alone.

They can be tried on another version, which goes wrong where it is older:

    FIXER=/path/to/bin/fixer pytest tests/test_first_faults.py
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from cases import ROOT as EXAMPLES
from forges import TOKEN, Server
from test_push import served
from world import LONG, SURROUNDINGS, git, repository, write

FIXER = [found] if (found := os.environ.get("FIXER")) else [sys.executable, "-c", "from fixer.cli import main; main()"]
OLD = "import torch\n\nwith torch.cuda.amp.autocast():\n    pass\n"
PINNED = {"requirements.txt": "torch==2.6.0\n"}
FORM_FEED = re.compile(rb"(?m)^(?=(?:class|def) )")
TIED = EXAMPLES / "deprecated-amp-api/two_floors/before"
"""Files that are changed together or not at all."""
TAKING = "import os\nimport sys\n\n\ndef hook(name, arguments):\n    {0}\n\n\nsys.addaudithook(hook)\n"
"""A program that Python runs at its start, and that hears of everything."""


@pytest.fixture(autouse=True)
def place(tmp_path: Path) -> Iterator[Path]:
    """Where temporary files lie."""
    (tmp_path / "temporary").mkdir()
    yield tmp_path / "temporary"


def run(at: Path, *words: str, hook: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    """The command; `hook` is the body of a function that hears of audit events."""
    above = Path(os.environ["TMPDIR"])
    more = {}
    if hook:
        write(above / "hook", {"sitecustomize.py": TAKING.format(hook)})
        more = {"PYTHONPATH": str(above / "hook")}
    return subprocess.run(
        [*FIXER, *words],
        cwd=at,
        env={**os.environ, **SURROUNDINGS, **more, **environment},
        capture_output=True,
        text=True,
        errors="surrogateescape",
        timeout=LONG,
        check=False,
    )


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch, place: Path) -> None:
    monkeypatch.setenv("TMPDIR", str(place))
    monkeypatch.setenv("FIXER_CACHE_DIR", str(place / "cache"))


def contents(root: Path) -> Mapping[str, bytes]:
    return {path.name: path.read_bytes() for path in root.iterdir() if path.is_file()}


@pytest.fixture
def tied(tmp_path: Path) -> Path:
    return repository(tmp_path / "r", {path.name: path.read_bytes() for path in TIED.iterdir()})


SECOND = """\
if name == "os.rename" and str(arguments[1]).endswith((".py", ".cfg")):
        hook.count = getattr(hook, "count", 0) + 1
        if hook.count == 2:
            {0}"""


def test_f1_files_that_belong_together_are_written_all_or_none(tied: Path) -> None:
    before = contents(tied)
    done = run(tied, "apply", "--unsafe-fixes", hook=SECOND.format('raise OSError(16, "Device or resource busy")'))
    assert contents(tied) == before
    assert "Device or resource busy" in done.stdout + done.stderr


def test_f1_a_run_that_died_between_two_of_them_is_taken_back(tied: Path) -> None:
    before = contents(tied)
    run(tied, "apply", "--unsafe-fixes", hook=SECOND.format("os.kill(os.getpid(), 9)"))
    run(tied, "apply", "--select", "PL001")
    assert contents(tied) == before


@pytest.mark.parametrize("words", [("check",), ("apply", "--since", "HEAD"), ("apply", "--branch", "fix/amp")])
def test_f2_no_program_of_a_repository_is_run(tmp_path: Path, words: Sequence[str]) -> None:
    root = repository(tmp_path / "r", {"train.py": OLD, **PINNED, ".gitattributes": "* filter=theirs\n"})
    mark = tmp_path / "mark"
    for name in ("clean", "smudge", "process"):
        git("config", f"filter.theirs.{name}", f"touch {mark}; cat", at=root)
    git("config", "core.fsmonitor", f"touch {mark}; false", at=root)
    git("config", "gpg.program", f"touch {mark}; false", at=root)
    git("config", "commit.gpgsign", "true", at=root)
    write(root, {"train.py": OLD + "\n"})
    run(root, *words)
    assert not mark.exists()


def test_f3_a_repository_of_a_campaign_decides_nothing(tmp_path: Path) -> None:
    settings = """
include-vendored = true
[commit]
author = "Linus <torvalds@example.org>"
signoff = true
trailers = ["Reviewed-by=Boss <boss@example.org>"]
subject = "other words"
"""
    root = repository(tmp_path / "r", {"train.py": OLD, "vendor/v.py": OLD, **PINNED, "fixer.toml": settings})
    write(tmp_path, {"CAMPAIGN.toml": 'name = "amp"\nselect = ["AMP002"]\nrepositories = ["r"]\n'})
    run(tmp_path, "bulk", "run", "CAMPAIGN.toml")
    said = git("log", "-1", "--format=%an <%ae>%n%B", "fixer/amp", at=root)
    assert "Ada <ada@example.org>" in said
    assert not [words for words in ("torvalds", "Reviewed-by", "Signed-off-by", "other words") if words in said]
    assert git("diff", "--name-only", "main..fixer/amp", at=root) == "train.py"


@pytest.mark.parametrize("words", [("check",), ("apply",), ("apply", "--branch", "fix/amp")])
def test_f4_names_steer_no_terminal(tmp_path: Path, words: Sequence[str]) -> None:
    names = ("clear\x1b[2J.py", "turned\u202eyp.py", "line\n::error::taken.py")
    root = repository(tmp_path / "r", {**dict.fromkeys(names, OLD), **PINNED})
    done = run(root, *words)
    said = done.stdout + done.stderr
    assert "AMP002" in said
    assert "\x1b" not in said and "\u202e" not in said
    assert not [line for line in said.splitlines() if line.startswith("::")]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root gives files away")
def test_f5_a_file_keeps_its_owner_and_attributes(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"train.py": OLD, **PINNED})
    file = root / "train.py"
    os.chown(file, 1234, 1235)
    with contextlib.suppress(OSError):
        os.setxattr(file, "user.kept", b"1")
    before = {name: os.getxattr(file, name) for name in os.listxattr(file)}
    run(root, "apply")
    assert "torch.amp" in file.read_text()
    assert (file.stat().st_uid, file.stat().st_gid) == (1234, 1235)
    assert {name: os.getxattr(file, name) for name in os.listxattr(file)} == before


def test_f5_a_file_with_two_names_stays_one_file(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"train.py": OLD, **PINNED})
    (tmp_path / "other.py").hardlink_to(root / "train.py")
    run(root, "apply")
    assert (tmp_path / "other.py").samefile(root / "train.py")


ENDED = 'if name == "os.rename" and str(arguments[1]).endswith(".py"):\n        os.kill(os.getpid(), {0})'


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_f6_temporary_files_of_a_run_that_was_killed_go(tmp_path: Path, number: int) -> None:
    root = repository(tmp_path / "r", {"train.py": OLD, **PINNED})
    run(root, "apply", hook=ENDED.format(int(number)))
    if number == signal.SIGKILL:
        run(root, "apply")
    assert {path.name for path in root.iterdir()} == {".git", "train.py", "requirements.txt"}


def test_f7_outside_of_git_a_directory_costs_what_it_holds(tmp_path: Path) -> None:
    write(tmp_path / "all", {"named/train.py": OLD, "beside/deep/other.py": OLD})
    heard = tmp_path / "heard"
    hook = f"""\
if name in ("os.scandir", "os.listdir", "open") and "beside/" in f"{{arguments[0]}}/":
        os.close(os.open({str(heard)!r}, os.O_CREAT | os.O_WRONLY))"""
    done = run(tmp_path / "all", "check", "named", hook=hook)
    assert "AMP002" in done.stdout
    assert not heard.exists()


@pytest.fixture
def github(tmp_path: Path) -> Iterator[tuple[Path, Mapping[str, str], Server]]:
    with served(tmp_path, "github", {"train.py": OLD, **PINNED}) as situation:
        assert situation.server is not None
        yield situation.clone, situation.environment, situation.server


@pytest.mark.parametrize("status", [403, 422])
def test_f8_a_token_that_a_forge_says_back_is_not_shown(
    github: tuple[Path, Mapping[str, str], Server], status: int
) -> None:
    clone, environment, server = github
    server.next = [(status, {}, {"message": f"bad credentials {TOKEN}"})] * 9
    done = run(clone, "apply", "--branch", "fix/amp", "--pr", **environment)
    assert "bad credentials" in done.stdout + done.stderr
    assert TOKEN not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("example", "spelled"),
    [
        ("reentrant-without-input-grad/input_grads", lambda text: text.replace(b"\n", b"\r")),
        ("update-per-optimizer/example", lambda text: FORM_FEED.sub(b"\x0c", text)),
    ],
    ids=["carriage returns", "form feed"],
)
def test_f9_what_cannot_be_read_is_named(tmp_path: Path, example: str, spelled: Callable[[bytes], bytes]) -> None:
    text = (EXAMPLES / example / "before.py").read_bytes()
    root = repository(tmp_path / "r", {"train.py": spelled(text), **PINNED})
    done = run(root, "check", "--verbose")
    assert "train.py" in done.stdout + done.stderr


def test_f10_nobody_is_sent_to_an_option_that_is_not_there(tmp_path: Path) -> None:
    repository(tmp_path / "r", {"train.py": OLD, **PINNED, "pyproject.toml": "[tool.fixer\n"})
    write(tmp_path, {"CAMPAIGN.toml": 'name = "amp"\nselect = ["AMP002"]\nrepositories = ["r"]\n'})
    run(tmp_path, "bulk", "run", "CAMPAIGN.toml")
    done = run(tmp_path, "bulk", "status", "CAMPAIGN.toml")
    said = done.stdout + done.stderr
    assert "TOML" in said and "--isolated" not in said
