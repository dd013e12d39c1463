"""Comments that silence findings: `# fixer: ignore[CODE]`, `# fixer: ignore-file[CODE]`, `# noqa: CODE`."""

from __future__ import annotations

import contextlib
import io
import re
import tokenize
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from codemods.model.edits import Edit, Finding, Fix, Lines
from codemods.model.plan import UnusedSuppression

MARK = b"fixer: ignore"
"""What the bytes of a file hold if one of our comments is in it, written as we write them."""

_FIXER = re.compile(r"#\s*fixer:\s*ignore(?P<file>-file)?(?![\w-])(?:\[(?P<codes>[^\]]*)\])?")
_NOQA = re.compile(r"#\s*noqa\s*:\s*(?P<codes>[A-Z]+[0-9]+(?:[\s,]+[A-Z]+[0-9]+)*)", re.IGNORECASE)
_CODE = re.compile(r"[A-Z]+[0-9]*")
_CLOSE = 0.7
"""How much alike two codes are that one may have been written for the other."""


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
        return bool(self.codes) and self.line in lines and finding.code.startswith(self.codes)


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
                codes = tuple(_CODE.findall((match["codes"] or "").upper()))
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
    path: str,
    suppressions: Sequence[Suppression],
    findings: Iterable[Finding],
    codes: Iterable[str],
    known: Sequence[str] = (),
) -> tuple[list[Finding], list[Finding], list[UnusedSuppression]]:
    """The findings that are not silenced, those that are, and the comments of ours that silenced nothing.

    Args:
        codes: of the rules that were run: a comment for a rule that did not run is not called unused.
        known: the codes of all rules, to tell mistyped ones; empty: nobody knows.
    """
    used: set[tuple[Suppression, str]] = set()
    kept: list[Finding] = []
    silenced: list[Finding] = []
    for finding in findings:
        silencers = [s for s in suppressions if s.covers(finding)]
        used.update((s, c) for s in silencers for c in s.codes if finding.code.startswith(c))
        (silenced if silencers else kept).append(finding)
    run = set(codes)
    unused = []
    for suppression in suppressions:
        if suppression.ours and not suppression.codes:
            unused.append(UnusedSuppression(path, suppression.at, "", known=False))
        for code in suppression.codes if suppression.ours else ():
            if known and not any(rule.startswith(code) for rule in known):
                unused.append(UnusedSuppression(path, suppression.at, code, known=False, close=_close(code, known)))
            elif (suppression, code) not in used and any(rule.startswith(code) for rule in run):
                unused.append(UnusedSuppression(path, suppression.at, code))
    return kept, silenced, unused


def _close(code: str, known: Sequence[str]) -> str:
    """The code that may have been meant."""
    import difflib

    return next(iter(difflib.get_close_matches(code, known, n=1, cutoff=_CLOSE)), "")


@dataclass(frozen=True, slots=True)
class LineEnd:
    """The end of a line that a comment can stand at."""

    start: int
    """Where the comment begins, or, without one, the white space at the end."""
    end: int
    comment: str

    def with_code(self, code: str) -> tuple[int, int, str]:
        """What to replace by what, so that the comment silences a rule."""
        if not self.comment:
            return self.start, self.end, f"  # fixer: ignore[{code}]"
        for match in _FIXER.finditer(self.comment):
            if not match["file"]:
                at = self.start + match.end()
                if match["codes"] is None:
                    return at, at, f"[{code}]"
                return at - 1, at - 1, f", {code}" if match["codes"].strip() else code
        rest = self.comment.rstrip()
        return self.start + len(rest), self.end, f"  # fixer: ignore[{code}]"


def commented(finding: Finding, ends: Mapping[int, LineEnd]) -> Fix | None:
    """A comment that silences a finding, as its fix; None where no line that counts can hold one."""
    place = finding.place
    for line in (place.line, finding.lines[0], place.end_line, finding.lines[1]):
        if (end := ends.get(line)) is not None:
            start, stop, text = end.with_code(finding.code)
            return Fix("Silence it with a comment", (Edit(finding.path, start, stop, text),))
    return None


def line_ends(text: str) -> dict[int, LineEnd]:
    """The lines of a Python file that a comment can stand at the end of, by number: no line ends in a string, or with
    a backslash.
    """
    ends: dict[int, LineEnd] = {}
    starts, inside = Lines(text).starts, 0
    with contextlib.suppress(tokenize.TokenError, SyntaxError):
        comment: tuple[int, str] | None = None
        for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
            name = tokenize.tok_name[token.type]
            inside += name.endswith("STRING_START") - name.endswith("STRING_END")
            row, column = token.start
            if token.type == tokenize.COMMENT:
                comment = starts[row - 1] + column, token.string
            elif token.type in (tokenize.NL, tokenize.NEWLINE):
                if not inside:
                    stop = starts[row - 1] + column
                    begin = len(text[:stop].rstrip(" \t\f")) if comment is None else comment[0]
                    ends[row] = LineEnd(begin, stop, comment[1] if comment is not None else "")
                comment = None
    return ends
