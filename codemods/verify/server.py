"""A child process that answers requests: JSON lines in on its standard input, JSON lines out on a pipe of its own.

What the child, or the code that it runs, prints goes to a log and never into an answer.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

GOODBYE = 5.0
"""Seconds that a server has to end what it started, once asked to stop."""


class Server:
    """Starts a program with one more argument, the file descriptor for its answers.

    Args:
        program: the command line without that argument.
        directory: where it runs, and where its log is kept.
    Raises:
        OSError: if the program cannot be started.
    """

    def __init__(self, program: Sequence[str], directory: Path, environment: Mapping[str, str]) -> None:
        self._log = directory / "server.log"
        self._pending = b""
        self._results, write = os.pipe()
        try:
            with self._log.open("wb") as log:
                self._process = subprocess.Popen(
                    [*program, str(write)],
                    stdin=subprocess.PIPE,
                    stdout=log,
                    stderr=log,
                    cwd=directory,
                    env=dict(environment),
                    pass_fds=(write,),
                )
        except OSError:
            os.close(self._results)
            raise
        finally:
            os.close(write)

    def close(self) -> None:
        """End the server: by asking, then by force."""
        self._process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(GOODBYE)
        self._process.kill()
        with contextlib.suppress(BrokenPipeError):
            self._process.communicate()
        os.close(self._results)

    def ask(self, request: Mapping[str, Any], limit: float) -> dict[str, Any] | None:
        """The answer to a request; None if the server ended, or gave none within `limit` seconds."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
        deadline = time.monotonic() + limit
        while b"\n" not in self._pending:
            ready, _, _ = select.select([self._results], [], [], max(0.0, deadline - time.monotonic()))
            chunk = os.read(self._results, 1 << 20) if ready else b""
            if not chunk:
                return None
            self._pending += chunk
        line, _, self._pending = self._pending.partition(b"\n")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def last_words(self) -> str:
        """The last line that the server itself printed."""
        lines = self._log.read_text(errors="replace").strip().splitlines() if self._log.exists() else []
        return lines[-1] if lines else "no output"
