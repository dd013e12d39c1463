"""Frames and exceptions of a log, in all the shapes in which Python, notebooks and other tools print them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from fixer.diagnose.shapes import LogLine

MOST_FRAMES = 200
"""Of one traceback; of a longer one the middle is left out."""

_WORD = r"<[\w :]+>|[\w.<>]+"
_FILE = r"""(?:[A-Za-z]:)?[^\s:"'<>|][^:"'<>|]*"""
_SHAPES = tuple(
    re.compile(shape)
    for shape in (
        rf"""File\ ?["'“‘`]+(?P<path>[^"'”’`\n]+)["'”’`]+,\s+line\s+(?P<line>\d+)(?:,\s+in\s+(?P<function>{_WORD}))?""",
        rf"""File (?P<path>[^\s"',]+), line (?P<line>\d+)(?:, in (?P<function>{_WORD}))?""",
        rf"""File (?P<path>(?:\w:)?[^:"'\n]{{1,400}}?(?:\.\w+|\])):(?P<line>\d+)(?:, in (?P<function>{_WORD}))?""",
        rf"""(?P<path>(?:Cell|Input) In ?\[\d+\]),? line:? ?(?P<line>\d+)(?:, in (?P<function>{_WORD}))?""",
        rf"""^\s*(?P<path>(?:[A-Za-z]:)?[^\s:"'<>|]+\.py):(?P<line>\d+)(?::)? in (?P<function>{_WORD})""",
        rf"""^\s*(?P<path>{_FILE}\.py):(?P<line>\d+): (?=[\w.]*(?:Error|Exception|Warning)\b)""",
    )
)
_OPEN = re.compile(
    rf"""^\s*(?:File\s)?(?P<path>(?:Cell|Input)\ In\ ?\[\d+\]|<?(?:/tmp/)?ipython-input-[^\s>]*>?
        |(?:[A-Za-z]:|~|/|\.)[^:"'<>|]*\.py),?\ in\ (?P<function>{_WORD})""",
    re.VERBOSE,
)
"""The head of a frame of a notebook, whose line is the one that an arrow points at."""
_ARROW = re.compile(r"^\s*-{1,}>\s*(?P<line>\d+)\b(?P<code>.*)")
_TORN = re.compile(r"^(?:/|~|[A-Za-z]:[/\\])[^\s]*$|^\S+\.py:\d+ in$")
"""What stands in a box where its width ends: the begin of a path, or a frame without its function."""
_MENDED = re.compile(rf"^(?P<path>\S+\.py):(?P<line>\d+)\s*in\s*(?P<function>{_WORD})$")
_BEGIN = re.compile(r"Traceback \(most recent call last|Traceback \(most recent call\s*$")
_KIND = r"(?P<kind>(?:[A-Za-z_]\w*\.)*(?:[A-Z]\w*)?(?:Error|Exception|Interrupt|Exit|Failure)|(?:[a-z_]\w*\.)+[A-Z]\w+)"
_EXCEPTION = re.compile(rf"^\s*(?:AssertionError:\s*)?{_KIND}(?::\s(?P<text>.*)|:?\s*)$")
_GLUED = re.compile(rf"(?:^|\s|\)){_KIND}:\s(?P<text>(?:(?!\sFile\s).)*)$")
_INTEREST = re.compile(r"Error|Exception|File |\.py|->|Cell|In \[|Traceback|Interrupt|Exit|Failure|ipython|^[a-z_]+\.")
_ENDS = ("Error", "Exception", "Interrupt", "Exit", "Failure")
_WRAPPERS = (
    *("ChildFailedError", "CalledProcessError", "ProcessRaisedException", "ProcessExitedException", "BrokenPipeError"),
    *("KeyboardInterrupt", "SystemExit", "ActorDiedError", "WorkerCrashedError"),
)


@dataclass(frozen=True, slots=True)
class TraceFrame:
    """One frame, as the log names it."""

    path: str
    line: int
    function: str = ""
    code: str = ""
    """The line of code that stands below it; empty where the log shows none."""

    @property
    def cell(self) -> int | None:
        """The execution count of the cell of a notebook that it is a frame of."""
        match = re.search(r"In ?\[(\d+)\]|ipython-input-(\d+)", self.path)
        return int(match[1] or match[2]) if match else None


@dataclass(frozen=True, slots=True)
class Raised:
    """One exception with its traceback."""

    kind: str
    """As in `RuntimeError` or `torch.cuda.OutOfMemoryError`."""
    text: str
    number: int
    """Of the line of the log."""
    source: str = ""
    frames: tuple[TraceFrame, ...] = ()
    """The outermost first."""

    @property
    def is_wrapper(self) -> bool:
        """Whether it only says that something else has failed, or that a person has ended the run."""
        return self.kind.endswith(_WRAPPERS)

    @property
    def sentence(self) -> str:
        """As Python prints it."""
        return f"{self.kind}: {self.text}" if self.text else self.kind


@dataclass(slots=True)
class Traces:
    """Follows the tracebacks of one source of lines."""

    _frames: list[TraceFrame] = field(default_factory=list)
    _open: tuple[str, str] | None = None
    """Path and function of a frame whose line comes later."""
    _torn: str = ""
    """What the line before holds of a frame that goes on in this one."""
    _want_code: bool = False
    _last: Raised | None = None

    def feed(self, line: LogLine) -> Iterator[Raised]:
        """Take one line; yield the exception that it names.

        An exception whose traceback goes on below it, as pytest prints it, is yielded again with more frames.
        """
        text = line.text
        if line.framed and self._torn:
            if match := _MENDED.match(self._torn + text.strip()):
                self._frames.append(_frame(match))
                self._torn = ""
                return
        self._torn = text.strip() if line.framed and _TORN.match(text.strip()) else ""
        if not _INTEREST.search(text):
            self._take_code(text)
            return
        begins = _BEGIN.search(text)
        if begins:
            self._frames, self._open, self._last = [], None, None
        found = self._take_frames(text)
        if found:
            self._want_code = not begins
        if found and self._last is not None and (kind := re.search(r"\.py:\d+: (\w+)$", text)):
            if self._last.kind.endswith(kind[1]):
                self._last = replace(self._last, frames=(*self._last.frames, *self._frames))
                self._frames = []
                yield self._last
            return
        match = (_GLUED.search(text) if begins or found else None) or _EXCEPTION.match(text)
        if match and (self._frames or (match["kind"].endswith(_ENDS) and match["kind"] != "Error")):
            said = (match["text"] or "").strip()
            self._last = Raised(match["kind"], said, line.number, line.source, tuple(self._frames))
            self._frames, self._open, self._want_code = [], None, False
            yield self._last
        elif not found:
            self._take_code(text)

    def _take_frames(self, text: str) -> bool:
        if match := _ARROW.match(text):
            if self._open:
                self._add(TraceFrame(self._open[0], int(match["line"]), self._open[1]))
                self._open = None
            if self._frames and self._frames[-1].line == int(match["line"]):
                self._frames[-1] = replace(self._frames[-1], code=match["code"].strip())
            return False
        for shape in _SHAPES:
            if matches := list(shape.finditer(text)):
                for each in matches:
                    self._add(_frame(each))
                self._open = None
                return True
        if match := _OPEN.match(text):
            self._open = match["path"], match["function"]
        return False

    def _take_code(self, text: str) -> None:
        """The line below a frame is its code."""
        if self._want_code and self._frames and text.strip():
            self._frames[-1] = replace(self._frames[-1], code=text.strip())
        self._want_code = False

    def _add(self, frame: TraceFrame) -> None:
        self._frames.append(frame)
        if len(self._frames) > MOST_FRAMES:
            del self._frames[MOST_FRAMES // 2]


def _frame(match: re.Match[str]) -> TraceFrame:
    return TraceFrame(match["path"].strip(), int(match["line"]), match.groupdict().get("function") or "")
