"""What IPython adds to Python: magics, `!shell` and `?help`, found as IPython finds them and masked by harmless Python.

A mask is as long as what it hides and stands at the same indentation, so that every offset stays true. The rules are
those of IPython's input transformers: https://ipython.readthedocs.io/en/stable/config/inputtransforms.html
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from codemods.sources.notebook.raw import lines
from codemods.sources.shell import commands

RUN_HERE = frozenset({"time", "timeit", "capture", "prun", "debug", "memit", "snakeviz", "pyinstrument", "wandb"})
"""Cell magics that run the rest of the cell as a cell of the notebook."""

WRITE = frozenset({"writefile", "file"})
"""Cell magics that write the rest of the cell to a file."""

SHELLS = frozenset({"bash", "sh", "shell", "script", "system", "sx", "!"})
"""Cell magics whose rest is a shell script."""

APART = WRITE | SHELLS | {"html", "HTML", "javascript", "js", "latex", "markdown", "svg", "SVG", "perl", "ruby"}
"""Cell magics whose rest knows no name of the notebook."""

_ESCAPES = "%!?,;/"
"""What begins a line that is IPython's, not Python's."""

_PYTHON = re.compile(
    r"""(?P<comment>\#[^\n]*)
    | (?P<string>\"{3}[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*(?:\"{3}|\Z) | '{3}[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*(?:'{3}|\Z)
        | "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*')
    | (?P<open>[(\[{]) | (?P<close>[)\]}])
    | (?P<joined>\\\r?\n) | (?P<end>\r?\n)
    | (?P<operator>[=!<>:+\-*/%&|^@]=)
    | (?P<assign>=)
    | (?P<space>[ \t\f\r]+)
    | (?P<help>\?\??)
    | (?P<code>\w+ | .)""",
    re.VERBOSE | re.DOTALL,
)
_ASSIGNED = re.compile(r"[ \t]*(?=!|%[ \t]*[^\W\d])")
_AUTOMAGIC = re.compile(
    r"\s*((?:cd|ls|ll|cat|cp|mv|rm|rmdir|mkdir|less|more|man|pip|conda|mamba|run|time|timeit|env|set_env|load_ext"
    r"|reload_ext|autoreload|matplotlib|tensorboard)[ \t]+(?!(?:in|is|and|or|not|if|for)\b)[\w~/.'\"{$-][^\n]*)\s*\Z"
)
"""A line magic without its `%`, which IPython knows where it is the only line of a cell."""
_CELL_MAGIC = re.compile(r"(?:[ \t]*(?:\#[^\n]*)?\r?\n)*%%(?P<name>!|\w[\w.]*)(?![\w.?])(?P<line>[^\r\n]*)(?:\r?\n|\Z)")
_SHELL = re.compile(r"\A(?:!!?|%(?:(?:sx|system|shell)\b)?)")
"""What a shell command begins with, or a magic that is one, such as `%pip`."""
_INSTALLER = re.compile(r"(?:.*/)?(pip|conda|mamba|micromamba)[\d.]*")
_CONTINUED = re.compile(r"(?:[^\n]*\\\r?\n)*[^\n]*")
_INDENT = re.compile(r"[ \t\f]*")


@dataclass(frozen=True, slots=True)
class CellMagic:
    """The `%%name arguments` that begins a cell."""

    name: str
    arguments: str
    start: int
    end: int
    """Where its line ends, without the line end."""
    body: int
    """Where the rest of the cell begins."""


@dataclass(frozen=True, slots=True)
class Mask:
    """One line, or the rest of one, that is hidden."""

    start: int
    end: int
    name: str
    """What hides it, as long as what it hides."""
    continued: bool = False
    """It goes on from the line before."""


def cell_magic(source: str, start: int = 0) -> CellMagic | None:
    """The cell magic that the cell begins with; blank lines and comments may stand before it."""
    match = _CELL_MAGIC.match(source, start)
    if not match:
        return None
    begin = match.start("name") - 2
    end = begin + len(source[begin : match.end()].rstrip())
    return CellMagic(match["name"], match["line"].strip(), begin, end, match.end())


def magics(source: str, start: int = 0) -> Iterator[tuple[int, int]]:
    """Spans of what is not Python from `start` on: whole statements, or what is assigned; with continuation lines.

    The line end is not part of a span.
    """
    if alone := _AUTOMAGIC.match(source):
        yield alone.start(1), _stripped(source, *alone.span(1))
        return
    position = start
    while position < len(source):
        indent = _INDENT.match(source, position)
        begin = indent.end() if indent else position
        if source[begin : begin + 1] in tuple(_ESCAPES):
            end = _last_line(source, begin)
            yield begin, end
            position = end
        else:
            found, position = _logical_line(source, begin)
            if found:
                yield found
                position = found[1]
        position = _next_line(source, position) if position < len(source) else position


def _logical_line(source: str, start: int) -> tuple[tuple[int, int] | None, int]:
    """What of the statement at `start` is not Python, and where its line ends."""
    depth, assigned, helps, position = 0, False, False, start
    while match := _PYTHON.match(source, position):
        kind, position = match.lastgroup, match.end()
        if kind == "end":
            if not depth:
                position = match.start()
                break
        elif kind == "open":
            depth += 1
        elif kind == "close":
            depth -= 1
        elif kind == "assign" and not depth and not assigned:
            assigned = True
            if right := _ASSIGNED.match(source, position):
                return (right.end(), _last_line(source, right.end())), position
        if kind not in ("space", "end"):
            helps = kind == "help" and "\n" not in source[start:position]
    return ((start, _stripped(source, start, position)) if helps and not depth else None), position


def _last_line(source: str, start: int) -> int:
    """The end of the line at `start` and of those that backslashes join to it."""
    match = _CONTINUED.match(source, start)
    assert match is not None
    return _stripped(source, start, match.end())


def _stripped(source: str, start: int, end: int) -> int:
    return start + len(source[start:end].rstrip())


def _next_line(source: str, position: int) -> int:
    found = source.find("\n", position)
    return len(source) if found < 0 else found + 1


def masks(source: str, start: int, end: int, names: MaskNames) -> Iterator[Mask]:
    """What hides a span: a name of its length, and comments for the lines that it goes on over."""
    position = start
    for number, line in enumerate(lines(source[start:end])):
        bare = line.rstrip()
        indent = len(bare) - len(bare.lstrip())
        if bare:
            name = "#" * (len(bare) - indent) if number else names.next(len(bare))
            yield Mask(position + indent, position + len(bare), name, bool(number))
        position += len(line)


def installs(written: str) -> Iterator[str]:
    """The commands of a magic or a shell script that install packages: `pip install torch==2.4`."""
    script = _SHELL.sub("", re.sub(r"\\\r?\n", " ", written))
    try:
        found = commands.scan(script)
    except commands.UnreadableScript:
        return
    for command in found:
        words = [word.text for word in command.words]
        for k, word in enumerate(words):
            run = not k or words[k - 1] in ("uv", "sudo") or words[k - 1].startswith("-")
            if run and (program := _INSTALLER.fullmatch(word)) and "install" in words[k + 1 :]:
                first = words.index("install", k + 1)
                if all(option.startswith("-") for option in words[k + 1 : first]):
                    yield shlex.join((program[1], *words[first:]))
                break


class MaskNames:
    """Names that a notebook does not use, one for each mask."""

    def __init__(self, taken: Collection[str]) -> None:
        self.taken = taken
        self.given: dict[int, int] = {}

    def next(self, width: int) -> str:
        """A free name of a width; raises ValueError where all names so short are taken."""
        first, digits = ("_", width - 1) if width > 1 else ("", width)
        for number in range(self.given.get(width, 0), len(_DIGITS) ** min(digits, 4)):
            self.given[width] = number + 1
            name = (first + _numeral(number)).ljust(width, "_")
            if name.isidentifier() and name not in self.taken:
                return name
        raise ValueError(f"every name of {width} characters is taken")


_DIGITS = "123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _numeral(number: int) -> str:
    digits = _DIGITS[number % len(_DIGITS)]
    while number := number // len(_DIGITS):
        digits = _DIGITS[number % len(_DIGITS)] + digits
    return digits
