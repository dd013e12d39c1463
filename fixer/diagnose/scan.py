"""One pass over a log: its messages, its exceptions, and the commands it shows. What is held does not grow with it."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum

from fixer.diagnose.messages import Hit, KnownText, Messages
from fixer.diagnose.patterns import Squeezed
from fixer.diagnose.shapes import LogLine, shaped
from fixer.diagnose.topics import Topic
from fixer.diagnose.tracebacks import Raised, TraceFrame, Traces

BLOCK = 1 << 18
"""Characters that are searched at once."""
CARRIED = 24
"""Lines that are searched again with the next block: a message may be wrapped over so many."""
SOURCES = 256
"""Ranks and workers that are told apart."""
KEPT = 200
"""Messages, exceptions and commands of each sort."""
LONGEST_COMMAND = 2_000
"""Characters of a line in which a command is looked for."""
REACH = 12
"""Lines of an exception's text in which a message belongs to it."""

_COMMAND = re.compile(
    r"(?:^|[$%❯➜#+!>]\s+|[!]|cmd = |^Command: |['\"]Command ['\"])"
    r"(?P<command>(?:\w+=\S+ )*(?:\S*/)?(?:python[\d.]*|torchrun|accelerate launch|deepspeed|uv run|srun)\s"
    r"[^|<>]*?\.py\b(?:(?!\s*(?:\d?&?>|[|&;]|$)).)*)"
)
_WARNING = re.compile(r"\b\w{0,60}Warning\b|\bwarn", re.IGNORECASE)
_WARNED = re.compile(r"\b\w{0,60}Warning: .*")
_WARNED_AT = re.compile(
    r"(?<![^\s\]%])(?P<path>(?:[A-Za-z]:)?[^\s:\"'<>|][^:\"'<>|]{0,400}\.pyw?):(?P<line>\d+): \w{0,60}Warning\b"
)


class Sort(IntEnum):
    """How a message came into the log; the higher, the more it says about why the run ended."""

    WARNING = 0
    TEXT = 1
    EXCEPTION = 2


@dataclass(frozen=True, slots=True)
class Message:
    """One message that is known, where it stood first."""

    text: str
    """As the log has it, on one line."""
    number: int
    """The line of the log."""
    codes: tuple[str, ...]
    """The rules that know it."""
    topic: Topic | None
    sort: Sort
    raised: Raised | None = None
    """The exception that it is the text of."""
    frames: tuple[TraceFrame, ...] = ()
    """Of the exception, or the place of the warning."""
    count: int = 1
    sources: frozenset[str] = frozenset()
    """The ranks and workers that said it."""


@dataclass(slots=True)
class LogRecord:
    """What a log says."""

    lines: int = 0
    messages: dict[str, Message] = field(default_factory=dict)
    raised: dict[tuple[str, str], Raised] = field(default_factory=dict)
    """Each kind of exception with its text, where it came first."""
    last: Raised | None = None
    """The exception that ended the run."""
    commands: list[str] = field(default_factory=list)
    blank: bool = True
    """Whether there is no letter in it."""
    begin: list[str] = field(default_factory=list)
    """The first lines that hold text."""


class Scanner:
    """Takes the lines of a log one after the other."""

    def __init__(self, messages: Messages) -> None:
        self.record = LogRecord()
        self._messages = messages
        self._traces: dict[str, Traces] = {}
        self._pending: dict[str, list[LogLine]] = {}
        self._carried: dict[str, list[LogLine]] = {}
        self._recent: dict[str, deque[Raised]] = {}
        self._size = 0

    def read(self, lines: Iterable[tuple[int, str]]) -> LogRecord:
        """Take all lines, and say what they hold."""
        for number, text in lines:
            self.record.lines = number
            for line in shaped(number, text):
                self._take(line)
        self._search()
        return self.record

    def _take(self, line: LogLine) -> None:
        source, record = line.source, self.record
        if not line.text:
            return
        if source not in self._traces:
            if len(self._traces) >= SOURCES:
                self._search()
                self._traces.clear()
                self._carried.clear()
                self._recent.clear()
            self._traces[source] = Traces()
        for raised in self._traces[source].feed(line):
            self._note(raised)
        if ".py" in line.text and len(record.commands) < KEPT:
            if match := _COMMAND.search(line.text[:LONGEST_COMMAND]):
                record.commands.append(match["command"].strip())
        if len(record.begin) < CARRIED:
            record.begin.append(line.text)
        self._pending.setdefault(source, []).append(line)
        self._size += len(line.text)
        if self._size >= BLOCK:
            self._search()

    def _note(self, raised: Raised) -> None:
        recent = self._recent.setdefault(raised.source, deque(maxlen=KEPT))
        if recent and recent[-1].number == raised.number:
            recent.pop()  # the same, with more frames
        recent.append(raised)
        key = raised.kind, raised.text[:200]
        known = self.record.raised
        if key not in known or known[key].number == raised.number:
            if len(known) < KEPT or key in known:
                known[key] = raised
        if not raised.is_wrapper:
            self.record.last = known.get(key, raised)

    def _search(self) -> None:
        """Search what has come since the last search, source by source."""
        for source, new in self._pending.items():
            old = self._carried.get(source, [])
            lines = [*old, *new]
            text = Squeezed([line.text for line in lines])
            self.record.blank = self.record.blank and not text.text
            hits = [hit for hit in self._messages.search(text) if text.line_of(hit.end - 1) >= len(old)]
            for group in _together(hits):
                self._found(group, lines, text, source)
            self._carried[source] = lines[-CARRIED:]
        self._pending.clear()
        self._size = 0

    def _found(self, group: Sequence[Hit], lines: Sequence[LogLine], text: Squeezed, source: str) -> None:
        known, codes = _merged(group)
        start, end = min(hit.start for hit in group), max(hit.end for hit in group)
        first, last = text.line_of(start), text.line_of(end - 1)
        line = lines[first]
        said = next(
            (
                each
                for each in reversed(self._recent.get(source, ()))
                if each.number <= lines[last].number and line.number <= each.number + REACH
            ),
            None,
        )
        before = f"{lines[first - 1].text if first else ''} {line.text[: text.column_of(start)]}"
        warned = line.warns or _WARNING.search(line.text[: text.column_of(start)])
        if said and warned and said.number < line.number:
            said = None
        if not said and not warned:
            warned = _WARNING.search(before)
        sort = Sort.EXCEPTION if said else Sort.WARNING if warned else Sort.TEXT
        frames = said.frames if said else ()
        if not said and (place := _WARNED_AT.search(line.text)):
            frames = (TraceFrame(place["path"], int(place["line"])),)
        shown = text.original(start, end)
        if said and said.number == line.number and len(said.text) >= len(shown):
            shown = said.sentence
        elif said:
            shown = f"{said.kind}: {shown}"
        elif warned and (warning := _WARNED.search(line.text)) and warning.start() < text.column_of(start):
            shown = warning[0] if len(warning[0]) > len(shown) else shown
        new = Message(shown[:400], line.number, codes, known.topic, sort, said, frames, 1, frozenset({source} - {""}))
        messages, key = self.record.messages, known.key
        if key in messages:
            messages[key] = _again(messages[key], new)
        elif len(messages) < KEPT:
            messages[key] = new


def _merged(group: Sequence[Hit]) -> tuple[KnownText, tuple[str, ...]]:
    """What some texts that overlap are together: that of a topic first, then the longest."""
    best = max(group, key=lambda hit: (hit.known.topic is not None, hit.end - hit.start))
    return best.known, tuple(dict.fromkeys(code for hit in group for code in hit.known.codes))


def _together(hits: Iterable[Hit]) -> Iterable[list[Hit]]:
    """Hits that overlap, or follow each other as sentences of one message."""
    groups: list[list[Hit]] = []
    for hit in sorted(hits, key=lambda hit: (hit.start, hit.end)):
        if groups and hit.start <= max(each.end for each in groups[-1]):
            groups[-1].append(hit)
        else:
            groups.append([hit])
    return groups


def _again(old: Message, new: Message) -> Message:
    """A message that came before: the better of two places stays, the first one where they are equal.

    The code that raises it, quoted in a traceback, is no second time.
    """
    if new.sort < old.sort:
        return old
    codes = tuple(dict.fromkeys((*old.codes, *new.codes)))
    if new.sort > old.sort:
        return replace(new, codes=codes)
    if new.raised is not None and old.raised is not None and new.raised.number == old.raised.number:
        return replace(old, codes=codes)  # another sentence of the same exception
    best = new if new.frames and not old.frames else old
    return replace(best, count=old.count + 1, sources=old.sources | new.sources, codes=codes)


def ordered(record: LogRecord) -> list[Message]:
    """The messages, the one that answers why the run ended first.

    That is the exception at the end, if it is known; else the first exception that is. Warnings come last.
    """
    last = record.last

    def rank(message: Message) -> tuple[int, int, int]:
        ends = message.raised is not None and last is not None and message.raised.sentence == last.sentence
        return -message.sort, not ends, message.number

    return sorted(record.messages.values(), key=rank)
