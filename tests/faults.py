"""`fixer` in a forked process in which something goes wrong at a chosen event.

Python tells an audit hook of every file that is opened, renamed or removed, every program that is started, every
database that is opened and every text that is compiled. A fault happens at one of these events: an exception in its
place, a signal, or a change of the world. Imports are done before the fork, so that one run costs a tenth of a second.
"""

from __future__ import annotations

import errno
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

from world import LONG, SURROUNDINGS

WRITING = {
    *("os.chmod", "os.chown", "os.link", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.setxattr", "os.utime"),
    *("shutil.rmtree", "subprocess.Popen", "sqlite3.connect", "tempfile.mkdtemp", "tempfile.mkstemp", "os.symlink"),
}
READING = {"compile", "os.listdir", "os.scandir", "os.getxattr", "os.listxattr"}
LOOKING = {"open", "os.listdir", "os.scandir"}
"""Those that count below the place of a trial only: Python itself looks for modules."""
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
Event = tuple[str, bool]
"""Its name, and whether something is about to be written or started."""
Act = Callable[[str, tuple[Any, ...]], None]


@dataclass(frozen=True)
class Ended:
    """What a command answered, and what happened in it."""

    code: int
    """Negative: the signal that ended it."""
    out: bytes
    err: str
    events: Sequence[Event]
    hit: bool
    """Whether the fault happened."""


@dataclass(frozen=True)
class Fault:
    """What goes wrong while a command runs."""

    when: int | None = None
    """The number of the event at which it `act`s, from 0."""
    act: Act | None = None
    lasting: bool = False
    """Whether it acts at every event that follows, too."""
    prepare: Callable[[], None] = lambda: None
    """Is called in the fork, before the command."""
    meanwhile: Callable[[int], None] = lambda pid: None
    """Is called in this process, with the id of the fork, while it runs."""


UNHARMED = Fault()
"""Nothing goes wrong."""


@dataclass
class Hook:
    """Counts events, and lets a fault act."""

    place: str
    note: int
    """The end of a pipe that hears when something happens."""
    fault: Fault
    asleep: bool = True
    seen: list[str] = field(default_factory=list)

    def __call__(self, name: str, arguments: tuple[Any, ...]) -> None:
        if self.asleep or (writes := self._concerned(name, arguments)) is None:
            return
        self.asleep = True
        try:
            number, when, act = len(self.seen), self.fault.when, self.fault.act
            self.seen.append(f"{name} {writes}\n")
            if act is not None and when is not None and (number == when or (self.fault.lasting and number > when)):
                os.write(self.note, b"." if number == when else b"")
                act(name, arguments)
        finally:
            self.asleep = False

    def _concerned(self, name: str, arguments: tuple[Any, ...]) -> bool | None:
        """Whether something is about to be written or started; None if this is no event."""
        if name in LOOKING:
            path = arguments[0]
            if not isinstance(path, (str, bytes, os.PathLike)) or not os.fsdecode(path).startswith(self.place):
                return None
        if name == "open":
            return isinstance(arguments[2], int) and bool(arguments[2] & WRITES)
        return True if name in WRITING else False if name in READING else None


def run(words: Sequence[str], at: Path, environment: Mapping[str, str], place: Path, fault: Fault) -> Ended:
    """Run the command in a fork of this process. Only files below `place` are events."""
    outputs = [tempfile.TemporaryFile() for _ in range(3)]  # noqa: SIM115
    hears, told_to = os.pipe()
    hook = Hook(str(place), told_to, fault)
    pid = os.fork()
    if pid == 0:
        _child(words, at, environment, [each.fileno() for each in outputs], hook)
    fault.meanwhile(pid)
    code = os.waitstatus_to_exitcode(_waited(pid))
    texts = []
    for each in outputs:
        each.seek(0)
        texts.append(each.read())
        each.close()
    events = [
        (name, how == "True") for name, _, how in (line.partition(" ") for line in texts[2].decode().splitlines())
    ]
    os.close(told_to)
    hit = bool(os.read(hears, 1))
    os.close(hears)
    return Ended(code, texts[0], texts[1].decode(errors="replace"), events, hit)


def _waited(pid: int) -> int:
    end = time.monotonic() + LONG
    while time.monotonic() < end:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return status
        time.sleep(0.002)
    os.kill(pid, signal.SIGKILL)
    raise AssertionError(f"a command hung (process {pid})")


def _child(
    words: Sequence[str],
    at: Path,
    environment: Mapping[str, str],
    outputs: Sequence[int],
    hook: Hook,
) -> None:
    code = 70
    try:
        from fixer import cli
        from fixer.run import rule_index

        for number, output in enumerate(outputs[:2], 1):
            os.dup2(output, number)
        sys.stdin = Path(os.devnull).open()  # noqa: SIM115
        sys.stdout, sys.stderr = (open(number, "w", encoding="utf-8", closefd=False) for number in (1, 2))  # noqa: SIM115
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        os.environ.update({**SURROUNDINGS, **environment})
        os.chdir(at)
        tempfile.tempdir = None
        rule_index.rule_infos.cache_clear()
        sys.addaudithook(hook)
        hook.fault.prepare()
        with mock.patch.object(sys, "argv", ["fixer", *words]):
            try:
                hook.asleep = False
                cli.main()
                code = 0
            except SystemExit as end:
                code = end.code if isinstance(end.code, int) else 1 if end.code else 0
            finally:
                hook.asleep = True
        sys.stdout.flush()
        sys.stderr.flush()
        if hook.fault.act is None:
            os.write(outputs[2], "".join(hook.seen).encode())
    except KeyboardInterrupt:
        code = 130
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)


def failing(number: int) -> Act:
    """An error of the operating system in place of what was asked for; reading goes on where only writing can fail."""
    only_writing = number in (errno.ENOSPC, errno.EROFS, errno.EBUSY, errno.EDQUOT)

    def act(name: str, arguments: tuple[Any, ...]) -> None:
        writes = name in WRITING or (name == "open" and isinstance(arguments[2], int) and arguments[2] & WRITES)
        if name == "compile" or (only_writing and not writes):
            return
        raise OSError(number, os.strerror(number), arguments[0] if isinstance(arguments[0], str) else None)

    return act


def out_of_memory(name: str, arguments: tuple[Any, ...]) -> None:
    """No memory is left."""
    raise MemoryError


def told(number: int) -> Act:
    """A signal to the process itself."""
    return lambda name, arguments: os.kill(os.getpid(), number)


def limited(what: int, value: int) -> Callable[[], None]:
    """A limit for the process and all that it starts."""

    def prepare() -> None:
        resource.setrlimit(what, (value, resource.getrlimit(what)[1]))

    return prepare


def another_clock(seconds: float) -> Act:
    """The clock is put forward or back."""
    real = time.time, time.time_ns

    def act(name: str, arguments: tuple[Any, ...]) -> None:
        time.time = lambda: real[0]() + seconds
        time.time_ns = lambda: real[1]() + int(seconds * 1e9)

    return act
