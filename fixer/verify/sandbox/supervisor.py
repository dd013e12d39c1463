"""Runs one command and ends everything that it started. Started as `python -I /absolute/supervisor.py`.

The order arrives as one line of JSON on standard input, which then stays open: when it ends, whoever asked is gone, and
the supervisor also removes the directories that it was told of. The answer is JSON on standard output. On Linux the
children of children that end come to the supervisor (`PR_SET_CHILD_SUBREAPER`), so that no daemon, new session or
double fork escapes; elsewhere parents are followed as long as they live.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HEAD, TAIL = 64_000, 400_000
"""Bytes of the output that are kept, from its beginning and from its end."""
PROCESSES = 2_000
"""More at once than any training needs; a fork bomb ends here."""
BETWEEN = 0.2
"""Seconds from one look at memory and processes to the next."""
PR_SET_CHILD_SUBREAPER = 36
PROC = Path("/proc")


class Output:
    """The first and the last of what was printed."""

    def __init__(self) -> None:
        self.head = bytearray()
        self.tail = bytearray()
        self.total = 0

    def add(self, data: bytes) -> None:
        self.total += len(data)
        room = HEAD - len(self.head)
        self.head += data[:room] if room > 0 else b""
        self.tail += data[max(room, 0) :]
        if len(self.tail) > 2 * TAIL:
            del self.tail[:-TAIL]

    def text(self) -> str:
        tail = bytes(self.tail[-TAIL:])
        left_out = self.total - len(self.head) - len(tail)
        middle = f"\n[… {left_out:,} bytes left out …]\n".encode() if left_out else b""
        return (bytes(self.head) + middle + tail).decode("utf-8", "replace")


def descendants() -> dict[int, int]:
    """The processes that come from this one, and the bytes that each holds."""
    parents: dict[int, tuple[int, int]] = {}
    for pid, parent, held in _linux() if PROC.joinpath("self/stat").exists() else _elsewhere():
        parents[pid] = (parent, held)
    mine = {os.getpid()}
    growing = True
    while growing:
        more = {pid for pid, (parent, _) in parents.items() if parent in mine} - mine
        mine |= more
        growing = bool(more)
    return {pid: parents[pid][1] for pid in mine - {os.getpid()} if pid in parents}


def _linux() -> Iterator[tuple[int, int, int]]:
    page = os.sysconf("SC_PAGE_SIZE")
    for entry in os.listdir(PROC):  # noqa: PTH208 - quicker
        if entry.isdigit():
            try:
                after_name = (PROC / entry / "stat").read_bytes().rpartition(b")")[2].split()
            except OSError:
                continue
            if after_name[0] != b"Z":
                yield int(entry), int(after_name[1]), int(after_name[21]) * page


def _elsewhere() -> Iterator[tuple[int, int, int]]:
    listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,rss="], capture_output=True, check=False).stdout
    for line in listed.splitlines():
        pid, parent, kilobytes = map(int, line.split())
        yield pid, parent, kilobytes * 1024


def end_all(group: int) -> None:
    """Stop what would fork on, then end it, until nothing is left."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        found = set(descendants())
        if not found:
            return
        seen: set[int] = set()
        while found - seen and time.monotonic() < deadline:
            for pid in found - seen:
                _signal(pid, signal.SIGSTOP)
            seen |= found
            found = set(descendants())
        for pid in seen:
            _signal(pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(0.01)


def _signal(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def supervise(order: dict[str, Any]) -> dict[str, Any] | None:
    """Run the order's command to its end or to a limit; None if whoever asked is gone."""
    started = time.monotonic()
    process = subprocess.Popen(
        ["/bin/sh", "-c", order["command"]],
        cwd=order["directory"],
        env=order["environment"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    assert process.stdout is not None
    pipe = process.stdout.fileno()
    os.set_blocking(pipe, False)
    output = Output()
    ended, peak, looked, code = "", 0, 0.0, None
    reading = [0, pipe]
    while not ended:
        ready, _, _ = select.select(reading, [], [], 0.05)
        if 0 in ready and not os.read(0, 1):
            end_all(process.pid)
            return None
        if pipe in ready and not _drain(pipe, output):
            reading.remove(pipe)
        now = time.monotonic()
        code = process.poll()
        if code is not None:
            ended = "exit"
        elif now - started > order["seconds"]:
            ended = "time"
        elif now - looked > BETWEEN:
            looked = now
            held = descendants()
            peak = max(peak, sum(held.values()))
            if order["memory"] and peak > order["memory"]:
                ended = "memory"
            elif len(held) > PROCESSES:
                ended = "processes"
    seconds = time.monotonic() - started
    end_all(process.pid)
    with contextlib.suppress(OSError):
        while _drain(pipe, output):
            pass
    return {"ended": ended, "code": code, "seconds": seconds, "peak": peak, "output": output.text()}


def _drain(pipe: int, output: Output) -> bool:
    """Read what is there; False at the end of it."""
    try:
        data = os.read(pipe, 1 << 20)
    except BlockingIOError:
        return False
    output.add(data)
    return bool(data)


def main() -> None:
    """Serve one order."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        # Not SIG_IGN, which the command would inherit.
        signal.signal(number, lambda *_: None)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    line = bytearray()
    while not line.endswith(b"\n"):
        if not (data := os.read(0, 1 << 16)):
            return
        line += data
    order = json.loads(line)
    answer = supervise(order)
    if answer is None:
        for directory in order["leftovers"]:
            shutil.rmtree(directory, ignore_errors=True)
        return
    sys.stdout.write(json.dumps(answer))
    sys.stdout.flush()


if __name__ == "__main__":
    main()
