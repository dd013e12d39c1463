"""Runs sides of fixtures under a chosen interpreter: one warm server process, one forked child per run.

The server has imported torch (and, once a fixture asks for them, Lightning, transformers, …), so that a run costs
what the run costs. It starts from an absolute script path in isolated mode, in a directory of its own, with an
environment of its own: nothing of the user's working directory, `PYTHONPATH`, home or credentials is visible.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, TypeAlias

from codemods.verify.observation import Declaration, Observation, Side
from codemods.verify.server import Server

CHILD = Path(__file__).resolve().with_name("child.py")
Source: TypeAlias = str | Mapping[str, str]
"""What one side consists of: the text of a Python file, or texts by path."""
STARTUP = 300.0
"""Seconds that the server may take to import torch, Lightning, … from a cold disk, beyond what a side may take."""
INHERITED = ("PATH", "LD_LIBRARY_PATH", "LANG", "LC_ALL", "SYSTEMROOT")
ENVIRONMENT = {
    "CUDA_VISIBLE_DEVICES": "",
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "OMP_NUM_THREADS": "1",
}


class Bench:
    """A context manager that runs sides: `with Bench() as bench: side = bench.run(text, proof)`.

    Args:
        python: the interpreter, with the torch to run under; by default the one that runs us.
        time_limit: seconds that one side may take.
    """

    def __init__(self, python: str | None = None, time_limit: float = 60.0) -> None:
        self.python = python or sys.executable
        self.time_limit = time_limit
        self._server: Server | None = None
        self._directory = tempfile.TemporaryDirectory(prefix="fixer-proof-", ignore_cleanup_errors=True)

    def __enter__(self) -> Bench:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the server and remove its directory."""
        self._stop()
        self._directory.cleanup()

    def run(self, source: Source, proof: Path) -> Side:
        """Run one side through the proof file `proof`."""
        if not hasattr(os, "fork"):
            return Side(trouble="proofs need a system with fork()")
        try:
            server = self._start()
        except OSError as error:
            return Side(trouble=f"cannot start {self.python}: {error}")
        files = {"case.py": source} if isinstance(source, str) else dict(source)
        request = {"files": files, "proof": str(proof.resolve()), "limit": self.time_limit}
        # A side may run twice: `run` and `reference`.
        answer = server.ask(request, 2 * self.time_limit + STARTUP)
        if answer is None:
            self._stop()  # the next run starts another
            return Side(trouble=f"{self.python}: the server ended: {server.last_words()}")
        return _side(answer)

    def _start(self) -> Server:
        if self._server is None:
            home = self._directory.name
            environment = {name: os.environ[name] for name in INHERITED if name in os.environ}
            environment |= ENVIRONMENT | {"HOME": home, "TMPDIR": home}
            self._server = Server([self.python, "-I", "-B", str(CHILD)], Path(home), environment)
        return self._server

    def _stop(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None


def _side(answer: dict[str, Any]) -> Side:
    reference = answer.get("reference")
    return Side(
        declared=Declaration(**answer.get("declared", {})),
        versions=answer.get("versions", {}),
        trouble=answer.get("trouble", ""),
        error=answer.get("error", ""),
        trace=answer.get("trace", ""),
        warnings=tuple(answer.get("warnings", ())),
        output=answer.get("output", ""),
        seen=Observation(**answer.get("seen", {})),
        reference=None if reference is None else Observation(**reference),
    )
