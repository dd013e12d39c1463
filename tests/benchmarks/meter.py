"""Runs one command and writes what it cost: wall and processor seconds, peak memory, exit status.

A process of its own, started as `python -I -S meter.py RESULT ERRORS COMMAND…`: Linux counts the memory of the process
that starts a program as the program's own, and this one is small. Imports nothing but what the interpreter has loaded.
"""

import os
import sys
import time


def main() -> None:
    """Run the command with its output thrown away and its errors in a file."""
    result, errors, *command = sys.argv[1:]
    streams = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
        (os.POSIX_SPAWN_OPEN, 2, errors, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
    ]
    before = time.perf_counter()
    child = os.posix_spawn(command[0], command, os.environ, file_actions=streams)
    _, status, used = os.wait4(child, 0)
    wall = time.perf_counter() - before
    # Of the command and of every process below it that was waited for: the sum of times, the largest peak.
    peak = used.ru_maxrss / (1024 * 1024 if sys.platform == "darwin" else 1024)
    with open(result, "w") as file:  # noqa: PTH123 - `pathlib` would double our memory
        file.write(f"{wall} {used.ru_utime + used.ru_stime} {peak} {os.waitstatus_to_exitcode(status)}\n")


if __name__ == "__main__":
    main()
