"""Comments that silence findings: `# fixer: ignore[CODE]`, `# fixer: ignore-file[CODE]`, `# noqa: CODE`."""

from __future__ import annotations

import contextlib
import io
import re
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from codemods.model.edits import Finding
from codemods.model.plan import UnusedSuppression

MARK = b"fixer: ignore"
"""What the bytes of a file hold if one of our comments is in it, written as we write them."""

_FIXER = re.compile(r"#\s*fixer:\s*ignore(?P<file>-file)?\[(?P<codes>[^\]]*)\]")
_NOQA = re.compile(r"#\s*noqa\s*:\s*(?P<codes>[A-Z]+[0-9]+(?:[\s,]+[A-Z]+[0-9]+)*)", re.IGNORECASE)
_CODE = re.compile(r"[A-Z]+[0-9]*")


@dataclass(frozen=True, slots=True)
class Suppression:
    """One comment: the line it stands on (0: the whole file) and the codes, or prefixes, it names."""

    line: int
    at: int
    codes: tuple[str, ...]
    ours: bool
    """Written for `fixer`, not a `# noqa` that other tools may want."""

    def covers(self, finding: Finding) -> bool:
        place = finding.place
        lines = (0, *finding.lines, place.line, place.end_line)
        return self.line in lines and finding.code.startswith(self.codes)


def read(text: str, *, python: bool = True, foreign: bool = True) -> tuple[Suppression, ...]:
    """The suppression comments of a file (comments only, never text in strings).

    Args:
        foreign: `# noqa` is asked for too; where nothing was found, nobody minds it.
    """
    if "fixer:" not in text and not (foreign and "noqa" in text.lower()):
        return ()
    found = []
    with contextlib.suppress(tokenize.TokenError, IndentationError):
        for line, comment in _in_python(text) if python else _after_a_space(text):
            for match in _FIXER.finditer(comment):
                codes = tuple(_CODE.findall(match["codes"].upper()))
                found.append(Suppression(0 if match["file"] else line, line, codes, True))
            if noqa := _NOQA.search(comment):
                found.append(Suppression(line, line, tuple(_CODE.findall(noqa["codes"].upper())), False))
    return tuple(found)


def _in_python(text: str) -> Iterator[tuple[int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def _after_a_space(text: str) -> Iterator[tuple[int, str]]:
    """Comments of YAML, TOML, requirement files and shell: from a `#` at the start of a line or after white space."""
    for number, line in enumerate(text.split("\n"), start=1):
        if match := re.search(r"(?:^|\s)#.*", line):
            yield number, match[0]


def apply(
    path: str, suppressions: Sequence[Suppression], findings: Iterable[Finding], codes: Iterable[str]
) -> tuple[list[Finding], list[UnusedSuppression]]:
    """The findings that are not silenced, and the comments of ours that silenced nothing.

    `codes` are the rules that were run: a comment for a rule that did not run is not called unused.
    """
    used: set[tuple[Suppression, str]] = set()
    kept = []
    for finding in findings:
        silencers = [s for s in suppressions if s.covers(finding)]
        used.update((s, c) for s in silencers for c in s.codes if finding.code.startswith(c))
        if not silencers:
            kept.append(finding)
    run = set(codes)
    unused = [
        UnusedSuppression(path, s.at, code)
        for s in suppressions
        if s.ours
        for code in s.codes
        if (s, code) not in used and any(r.startswith(code) for r in run)
    ]
    return kept, unused
