"""`fixer check --watch`: checked at once and after each change, until the person ends it."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from world import begun, fixer, in_the_background, in_the_foreground, repository, wait_until, write

from fixer.cli.watch import _said_first

pytest.importorskip("watchfiles")
OLD = "import torch\n\n\ndef f(m, x):\n    with torch.cuda.amp.autocast():\n        return m(x)\n"


class Watched:
    """A watch on its way, and what it has said."""

    def __init__(self, running: subprocess.Popen[bytes]) -> None:
        self.running = running
        self.out: list[str] = []
        self.err: list[str] = []
        for stream, said in ((running.stdout, self.out), (running.stderr, self.err)):
            assert stream is not None
            threading.Thread(target=lambda s, to: to.extend(map(bytes.decode, s)), args=(stream, said)).start()

    def checks(self) -> int:
        """How often it has checked."""
        return sum("checked in" in line for line in list(self.err))

    def checked(self, times: int) -> None:
        """Wait until it has checked so often."""
        wait_until(lambda: self.checks() >= times or self.running.poll() is not None)
        assert self.running.poll() is None, "".join(self.err)


@contextmanager
def watching(at: Path, *options: str) -> Iterator[Watched]:
    running = begun("check", "--watch", "--jobs", "1", *options, at=at)
    try:
        yield Watched(running)
    finally:
        running.kill()
        running.wait()


def test_each_change_is_checked(tmp_path: Path) -> None:
    root = repository(tmp_path / "project", {"train.py": "x = 1\n", "more/layer.py": ""})
    with in_the_foreground(), watching(root) as watch:
        watch.checked(1)
        assert watch.out == []
        write(root, {"more/net.py": OLD})
        watch.checked(2)
        assert any(line.startswith("more/net.py:5:10: AMP002") for line in watch.out)
        assert any("more/net.py changed" in line for line in watch.err)
        watch.out.clear()
        write(root, {"fixer.toml": "select = ["})
        watch.checked(3)
        assert any(line.startswith("fixer: fixer.toml") for line in watch.err), "told, and the watch goes on"
        write(root, {"fixer.toml": 'ignore = ["AMP"]\n'})
        watch.checked(4)
        (root / "more" / "net.py").write_text("x = 2\n")
        watch.checked(5)
        assert watch.out == []
        watch.running.send_signal(signal.SIGINT)
        assert watch.running.wait() == 0


def test_what_is_no_source_wakes_nobody(tmp_path: Path) -> None:
    root = repository(tmp_path / "project", {"train.py": "x = 1\n", ".gitignore": "logs\n"})
    with watching(root) as watch:
        watch.checked(1)
        write(root, {"logs/run.txt": "loss 1.0\n", "model.pt": b"\0", ".git/some.py": OLD})
        write(root, {"train.py": OLD})
        watch.checked(2)
        assert watch.checks() == 2 and any("train.py changed" in line for line in watch.err)


def test_directories_come_and_go(tmp_path: Path) -> None:
    root = repository(tmp_path / "project", {"train.py": "x = 1\n"})
    write(tmp_path / "beside", {"new/net.py": OLD, "logs/run.txt": "loss 1.0\n"})
    with watching(root) as watch:
        watch.checked(1)
        (tmp_path / "beside" / "logs").rename(root / "logs")
        (tmp_path / "beside" / "new").rename(root / "new")
        watch.checked(2)
        assert any(line.startswith("new/net.py:5:10: AMP002") for line in watch.out)
        watch.out.clear()
        (root / "new").rename(tmp_path / "beside" / "new")
        watch.checked(3)
        assert watch.out == [] and not any("logs" in line for line in watch.err)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_is_ended_from_outside(number: signal.Signals, tmp_path: Path) -> None:
    root = repository(tmp_path / "project", {"train.py": "x = 1\n"})
    with in_the_background(), watching(root) as watch:
        watch.checked(1)
        watch.running.send_signal(number)
        assert watch.running.wait() == 0


@pytest.mark.parametrize("option", [("--format", "json"), ("--output", "x"), ("--profile",)])
def test_what_it_cannot_be_combined_with(option: tuple[str, ...], tmp_path: Path) -> None:
    answer = fixer("check", "--watch", *option, at=tmp_path)
    assert answer.code == 2 and "--watch shows findings on the terminal" in answer.err


def test_without_watchfiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    answer = fixer("check", "--watch", at=tmp_path)
    assert answer.code == 2 and "pip install 'ampfix[watch]'" in answer.err


def test_a_saved_source_is_said_before_what_an_editor_wrote_beside_it(tmp_path: Path) -> None:
    write(tmp_path, {"train.py": OLD, "data/x.txt": ""})
    changed = [str(tmp_path / name) for name in ("data", "sed7TKICR", "train.py")]
    assert min(changed, key=_said_first) == str(tmp_path / "train.py")
