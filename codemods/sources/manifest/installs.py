"""What a command installs: `pip install torch==2.4.1`, `uv pip install …`, `conda install pytorch=2.4 -c pytorch`."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from codemods.sources.manifest import conda, pip
from codemods.sources.manifest.requirement import Entry, Include, Piece, RequirementList
from codemods.sources.manifest.specifiers import Dialect

_COMMAND = re.compile(
    r"[!%]*(?:(?:sudo|uv|-m|\S*python\S*)\s+)*(?:\S*/)?(?P<program>pip[\d.]*|conda|mamba|micromamba)"
    r"\s+install\s(?P<rest>.*)",
    re.DOTALL,
)
_INCLUDING = ("-r", "--requirement", "-c", "--constraint", "-e", "--editable")
_VALUED = (
    *("-i", "--index-url", "--extra-index-url", "-f", "--find-links", "-t", "--target", "--prefix", "--root", "--src"),
    *("--platform", "--python-version", "--no-binary", "--only-binary", "--progress-bar", "--timeout", "--retries"),
    *("--proxy", "--trusted-host", "--cache-dir", "--log", "--upgrade-strategy", "-p", "--python", "--index"),
    *("--default-index", "--resolution", "--prerelease", "--torch-backend", "--report", "--config-settings"),
)
"""Options of pip and uv that take the next word."""
_VALUED_BY_CONDA = ("-c", "--channel", "-n", "--name", "-p", "--prefix", "--file", "--solver")


def installs(line: str) -> tuple[Entry, ...]:
    """The requirements, and requirements files, of one command line; nothing in it can be edited.

    A bare name says nothing, for what is there already stays; with `--upgrade` it says that any version may follow.
    """
    match = _COMMAND.fullmatch(line.strip())
    if not match:
        return ()
    try:
        words = shlex.split(match["rest"], comments=True)
    except ValueError:
        return ()
    by_pip = match["program"].startswith("pip")
    upgraded = bool({"-U", "--upgrade", "--update-deps"}.intersection(words))
    return tuple(
        entry
        for entry in _entries(words, by_pip)
        if isinstance(entry, Include) or entry.written or entry.specs is None or upgraded
    )


def _entries(words: list[str], by_pip: bool) -> Iterator[Entry]:
    site = RequirementList(dialect=Dialect.PIP if by_pip else Dialect.CONDA, why_not="a command installs it")
    waiting = iter(words)
    for word in waiting:
        if by_pip and word in _INCLUDING:
            word = f"{word} {next(waiting, '')}"
        elif word in (_VALUED if by_pip else _VALUED_BY_CONDA):
            next(waiting, None)
            continue
        elif word.startswith("-") and not word.startswith(tuple(f"{each}=" for each in _INCLUDING)):
            continue
        piece = Piece(word, 0, 0, verbatim=False)
        yield from pip.item(piece, site) if by_pip else conda.item(piece, site)
