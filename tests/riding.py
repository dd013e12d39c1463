"""Programs that run with the probe of `fixer verify --run`, without the rest of the command."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path
from types import TracebackType

from world import CHECKOUT

from codemods.verify.trace import Trace, read

RIDING = CHECKOUT / "codemods" / "verify" / "riding"


def watched(place: Path, program: str, *, probe: bool = True) -> tuple[str, tuple[Trace, ...]]:
    """What a program prints, and what the probe saw of it."""
    (place / "program.py").write_text(textwrap.dedent(program))
    seen = place / "seen"
    seen.mkdir(exist_ok=True)
    riding = {"FIXER_PROBE": str(seen), "PYTHONPATH": str(RIDING)} if probe else {}
    environment = {**os.environ, "OMP_NUM_THREADS": "1", **riding}
    done = subprocess.run(
        [sys.executable, "program.py"], cwd=place, env=environment, capture_output=True, text=True, check=False
    )
    return done.stdout + (done.stderr if done.returncode else ""), read(seen)


SERVER = """\
import os, sys
import accelerate, torch, torch._dynamo, torch.distributed.fsdp  # the first optimizer imports _dynamo
for place in sys.stdin:
    if child := os.fork():
        print(os.waitpid(child, 0)[1], flush=True)
        continue
    os.chdir(place.strip())
    for number, name in ((1, "shown"), (2, "errors")):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    with open("program.py") as file:
        exec(compile(file.read(), "program.py", "exec"), {"__name__": "__main__"})
    os._exit(0)  # an end that the probe sees, and quicker than to take all of torch apart
"""


class Forks:
    """Programs for which it is no matter how their process came to be: forks of one that has imported torch.

    Args:
        seen: an empty directory, where the probe writes.
    """

    def __init__(self, seen: Path) -> None:
        self.seen = seen
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "FIXER_PROBE": str(seen), "PYTHONPATH": str(RIDING)}
        self.server = subprocess.Popen(
            [sys.executable, "-c", SERVER], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __enter__(self) -> Forks:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.server.communicate()

    def watched(self, place: Path, program: str) -> tuple[str, tuple[Trace, ...]]:
        """As the function."""
        (place / "program.py").write_text(textwrap.dedent(program))
        assert self.server.stdin is not None and self.server.stdout is not None
        self.server.stdin.write(f"{place}\n")
        self.server.stdin.flush()
        failed = self.server.stdout.readline() != "0\n"
        seen = place / "seen"
        seen.mkdir()
        for report in self.seen.glob("*.json"):
            report.rename(seen / report.name)
        return (place / "shown").read_text() + ((place / "errors").read_text() if failed else ""), read(seen)
