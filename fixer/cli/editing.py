"""`apply --interactive`, key `e`: what a fix would write, changed by a person in an editor before it is written.

A fix is shown as the lines that it writes, place by place. What is saved takes their place, if the files still parse.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING

from codemods.model.edits import Edit, Finding, splice
from codemods.model.plan import Change, FilePlan
from codemods.model.visible import visible
from codemods.sources.files import PYTHON, decode
from codemods.sources.text import Source
from fixer.errors import Refusal
from fixer.report.diff import differences, split_lines

if TYPE_CHECKING:
    from fixer.run.request import Outcome

Read = Callable[[str], bytes | None]
"""Gives the bytes of a file."""
_MARK = "#> "
"""Begins the lines that are for the reader."""
_PLACE = "#> ---- "
"""Begins the line above the lines of one place."""


@dataclass(frozen=True, slots=True, order=True)
class LineEdit:
    """Replace the lines `[start, end)` of a file, counted from 0, by a text in UTF-8."""

    start: int
    end: int
    text: bytes

    def disturbs(self, other: LineEdit) -> bool:
        """Whether the two cannot both be done; equal ones are done once."""
        if self == other:
            return False
        if self.start == self.end and other.start == other.end:
            return self.start == other.start
        return self.start < other.end and other.start < self.end


LineEdits = Mapping[str, Sequence[LineEdit]]
"""By the path of the file."""


@dataclass(frozen=True, slots=True)
class EditedFix:
    """A finding, and what is written instead of its fix."""

    finding: Finding
    edits: LineEdits


def is_editable(finding: Finding) -> bool:
    """Whether a fix changes programs only, of which can be told that they still parse."""
    return finding.fix is not None and all(path.endswith(PYTHON) for path in finding.fix.paths)


def proposed(finding: Finding, read: Read) -> LineEdits:
    """The lines that a fix writes."""
    found = {}
    for path in sorted(finding.fix.paths) if finding.fix is not None else ():
        source = _source(path, read)
        after = splice(source.text, (edit for edit in finding.fix.edits if edit.path == path) if finding.fix else ())
        found[path] = _changes(_lines(source.text), _lines(after))
    return found


def disturb(one: LineEdits, other: LineEdits) -> bool:
    """Whether two changes cannot both be done."""
    return any(a.disturbs(b) for path in one.keys() & other.keys() for a in one[path] for b in other[path])


def edited(finding: Finding, read: Read) -> LineEdits | None:
    """Let a person edit what a fix writes.

    Returns:
        What is to be written; None: nothing was saved.

    Raises:
        ValueError: with a sentence, if what was saved cannot be written.
    """
    import click

    proposal = proposed(finding, read)
    try:
        with _lines_of_text():
            saved = click.edit(page(finding, proposal, read), extension=".py")
    except click.ClickException as error:
        raise ValueError(f"{error.message.strip()}; the variable EDITOR names the editor") from error
    if saved is None or not saved.strip():
        return None
    changed = parsed(saved, proposal, read)
    for path, edits in changed.items():
        source = _source(path, read)
        text = b"".join(_spliced(_lines(source.text), edits)).decode()
        try:
            source.encode(text)
            ast.parse(text)
        except UnicodeEncodeError as error:
            raise ValueError(f"{path} is in {source.encoding}, which has no {text[error.start]!r}") from error
        except (SyntaxError, ValueError) as error:
            where = f":{error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
            why = error.msg if isinstance(error, SyntaxError) else str(error)
            raise ValueError(f"{path}{where} would no longer parse: {why}") from error
    return changed


def page(finding: Finding, proposal: LineEdits, read: Read) -> str:
    """What the editor opens."""
    message = visible(" ".join(finding.message.split()))
    lines = [
        f"{_MARK}{finding.code} {message}",
        f'{_MARK}Edit the lines that are to be written, and save. Lines that begin with "#>" are left out; keep',
        f"{_MARK}those with a place. To write nothing, leave without saving, or delete everything.",
    ]
    for path, edits in proposal.items():
        before = _lines(_source(path, read).text)
        for edit in edits:
            lines.append(_place(path, edit))
            lines += [f"{_MARK}{_readable(line)}" for line in before[edit.start : edit.end]]
            lines += [_readable(line) for line in split_lines(edit.text)]
    return "\n".join(lines) + "\n"


def parsed(saved: str, proposal: LineEdits, read: Read) -> LineEdits:
    """What was saved, as changes of the same places.

    Raises:
        ValueError: with a sentence, if a place is missing.
    """
    sections: dict[str, list[str]] = {}
    below: list[str] | None = None
    for line in saved.replace("\r\n", "\n").removesuffix("\n").split("\n"):
        if line.startswith(_PLACE.rstrip()):
            below = sections.setdefault(line.rstrip(), [])
        elif not line.startswith(_MARK.rstrip()):
            if below is None:
                if line.strip():
                    raise ValueError(f"there is text above the first place: {line.strip()}")
                continue
            below.append(line)
    expected = [_place(path, edit) for path, edits in proposal.items() for edit in edits]
    for name in (*expected, *sections):
        if (name in sections) != (name in expected):
            raise ValueError(f"the line {name!r} is {'none of the places' if name in sections else 'missing'}")
    found: dict[str, list[LineEdit]] = {}
    for path, edits in proposal.items():
        before = _lines(_source(path, read).text)
        end = b"\r\n" if before and before[0].endswith(b"\r\n") else b"\n"
        for edit in edits:
            text = b"".join(line.encode() + end for line in sections[_place(path, edit)])
            if edit.end == len(before) and edit.text and not edit.text.endswith(b"\n"):
                text = text.removesuffix(end)
            if text != b"".join(before[edit.start : edit.end]):
                found.setdefault(path, []).append(LineEdit(edit.start, edit.end, text))
    return found


def with_edited(outcome: Outcome, fixes: Iterable[EditedFix]) -> Outcome:
    """A plan, with what a person has written.

    Raises:
        Refusal: if the plan changes the same lines.
    """
    files = {file.path: file for file in outcome.plan.files}
    components = list(outcome.plan.components)
    for fix in fixes:
        for path in dict.fromkeys((fix.finding.path, *fix.edits)):
            data = outcome.read(path) or b""
            files[path] = _with(files.get(path) or FilePlan(path, data, data), fix)
        together = frozenset(fix.edits)
        if len(together) > 1:
            tied = [each for each in components if each & together]
            components = [*(each for each in components if each not in tied), together.union(*tied)]
    plan = replace(outcome.plan, files=tuple(files[path] for path in sorted(files)), components=tuple(components))
    return replace(outcome, plan=plan)


def _with(file: FilePlan, fix: EditedFix) -> FilePlan:
    source = _source(file.path, lambda path: file.before)
    after = _source(file.path, lambda path: file.after)
    before = _lines(source.text)
    planned, own = _changes(before, _lines(after.text)), fix.edits.get(file.path, ())
    if disturb({"": planned}, {"": own}):
        raise Refusal(f"{file.path}: another fix changes lines that you have edited; nothing was written")
    text = b"".join(_spliced(before, {*planned, *own})).decode()
    findings, changes = file.findings, file.changes
    if file.path == fix.finding.path:
        applied = replace(fix.finding, applied=True)
        findings = tuple(sorted((*findings, applied), key=lambda each: (each.place.line, each.place.column, each.code)))
    starts = [0, *accumulate(len(line.decode()) for line in before)]
    for edit in own:
        written = Edit(file.path, starts[edit.start], starts[edit.end], edit.text.decode())
        changes = (*changes, Change(fix.finding.code, written, fix.finding.message, fix.finding.safety))
    return replace(file, after=source.encode(text), findings=findings, changes=changes)


def _changes(before: Sequence[bytes], after: Sequence[bytes]) -> list[LineEdit]:
    return sorted(LineEdit(a0, a1, b"".join(after[b0:b1])) for a0, a1, b0, b1 in differences(before, after))


def _spliced(lines: Sequence[bytes], edits: Iterable[LineEdit]) -> Iterator[bytes]:
    at = 0
    for edit in sorted(edits):
        yield from lines[at : edit.start]
        yield edit.text
        at = edit.end
    yield from lines[at:]


def _place(path: str, edit: LineEdit) -> str:
    if edit.start == edit.end:
        return f"{_PLACE}{visible(path)}, before line {edit.start + 1}:"
    lines = f"line {edit.start + 1}" if edit.end == edit.start + 1 else f"lines {edit.start + 1} to {edit.end}"
    return f"{_PLACE}{visible(path)}, instead of {lines}:"


def _source(path: str, read: Read) -> Source:
    source = decode(path, read(path) or b"")
    if not isinstance(source, Source):
        raise Refusal(f"{path}: cannot be read any more")
    return source


def _lines(text: str) -> list[bytes]:
    return split_lines(text.encode())


def _readable(line: bytes) -> str:
    return line.decode().rstrip("\r\n")


@contextmanager
def _lines_of_text() -> Iterator[None]:
    """The terminal as programs expect to find it, and afterwards as it was."""
    if sys.platform == "win32" or not sys.stdin.isatty():
        yield
        return
    import termios

    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    usual = termios.tcgetattr(terminal)
    usual[0] |= termios.ICRNL
    usual[3] |= termios.ICANON | termios.ECHO | termios.ISIG
    termios.tcsetattr(terminal, termios.TCSADRAIN, usual)
    try:
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)
