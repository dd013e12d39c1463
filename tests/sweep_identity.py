"""One project says the same however it is looked at: cold, with several processes, with a cache, after edits.

    python tests/sweep_identity.py DIRECTORY...

Each directory is copied, made a repository, and checked in every way; then, edit by edit (a comment on top of a file, a
new function at its end, a class without its bases, a file that is gone, a file that comes back), a check with the cache
is compared with one without. Prints one line for each project, and exits with 1 if anything differed.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

EDITS = 6
FIXER = (sys.executable, "-c", "from fixer.cli import main; main()")


def said(root: Path, cache: Path, *options: str) -> object:
    """What a check says, without what it says of itself."""
    environment = {**os.environ, "FIXER_CACHE_DIR": str(cache)}
    command = [*FIXER, "check", "--format", "json", "--isolated", *options, "."]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, check=False)
    if done.returncode not in (0, 1):
        return done.stderr.decode()
    return json.loads(done.stdout)


def edits(root: Path, chance: random.Random) -> Iterator[str]:
    """Change one file after the other; each yields what was done."""
    python = sorted(path for path in root.rglob("*.py") if path.is_file() and ".git" not in path.parts)
    for _ in range(EDITS if python else 0):
        file = chance.choice(python)
        if not file.exists():
            continue
        text = file.read_bytes()
        kind = chance.choice(("comment", "function", "class", "gone"))
        if kind == "comment":
            file.write_bytes(b"# a comment\n" + text)
        elif kind == "function":
            file.write_bytes(text.rstrip() + b"\n\n\ndef an_added_function(x):\n    return x\n")
        elif kind == "class":
            file.write_bytes(re.sub(rb"(?m)^(class \w+)\(.*\):$", rb"\1:", text))
        else:
            file.unlink()
        yield f"{kind} {file.relative_to(root)}"
        if kind == "gone":
            file.write_bytes(text)
            yield f"back {file.relative_to(root)}"


def differences(source: Path, place: Path) -> Iterator[str]:
    """What differed for one project, which is copied to `place`."""
    root, cache = place / source.name, place / "cache"
    shutil.copytree(source, root, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    subprocess.run(["git", "add", "-A"], cwd=root, check=True, capture_output=True)
    cold = said(root, cache, "--no-cache", "--jobs", "1")
    for name, options in (
        ("two processes", ("--no-cache", "--jobs", "2")),
        ("an empty cache", ("--jobs", "2")),
        ("the cache", ()),
    ):
        if said(root, cache, *options) != cold:
            yield name
    for edit in edits(root, random.Random(source.name)):
        if said(root, cache) != said(root, cache, "--no-cache", "--jobs", "1"):
            yield edit


def main(sources: list[str]) -> int:
    """Look at all of them."""
    wrong = 0
    for number, source in enumerate(map(Path, sources), 1):
        with tempfile.TemporaryDirectory() as place:
            found = list(differences(source.resolve(), Path(place)))
        wrong += len(found)
        print(f"{number:4} {source.name}: {'; '.join(found) or 'the same'}", flush=True)
    print(f"{len(sources)} projects, {wrong} differences")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
