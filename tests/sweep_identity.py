"""The same bytes whichever way a tree is looked at: `python tests/sweep_identity.py DIRECTORY …` (opt-in, minutes).

One process, several, with an empty cache, with a full one, and with every function parsed instead of the few that
matter: the JSON of a check must not differ by a byte.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CHECK = ("check", "--isolated", "--exit-zero", "--format", "json", ".")
RUN = "import sys; sys.path.insert(0, sys.argv.pop(1)); from fixer.cli import main; main()"
PATCH = "import codemods.syntax.lazy_parse as p; p.FEWEST_LINES = 10**9"
WHOLE = f"import sys; sys.path.insert(0, sys.argv[1]); {PATCH}; {RUN}"
WAYS = (
    ("one process, no cache", RUN, ("--jobs", "1", "--no-cache")),
    ("two processes, no cache", RUN, ("--jobs", "2", "--no-cache")),
    ("an empty cache", RUN, ("--jobs", "2")),
    ("a full cache", RUN, ("--jobs", "1")),
    ("whole modules parsed, no cache", WHOLE, ("--jobs", "1", "--no-cache")),
)


def answer(program: str, options: tuple[str, ...], at: Path, cache: Path) -> bytes:
    """What a check of `at` prints."""
    ours = str(Path(__file__).resolve().parents[1])
    environment = {**os.environ, "FIXER_CACHE_DIR": str(cache)}
    command = [sys.executable, "-c", program, ours, *CHECK, *options]
    return subprocess.run(command, cwd=at, env=environment, check=True, stdout=subprocess.PIPE).stdout


def main(directories: list[str]) -> int:
    differing = 0
    for directory in map(Path, directories):
        with tempfile.TemporaryDirectory() as cache:
            expected: bytes | None = None
            for name, program, options in WAYS:
                start = time.perf_counter()
                said = answer(program, options, directory, Path(cache))
                expected = said if expected is None else expected
                same = said == expected
                differing += not same
                verdict = f"{len(said):,} bytes, {'the same' if same else 'DIFFERENT'}"
                print(f"{directory.name}: {name}: {verdict}, {time.perf_counter() - start:.1f} s", flush=True)
    print(f"{differing} differences")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
