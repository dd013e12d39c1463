"""Text that others wrote, shown without what it could do to a terminal, a log or a reader's eyes."""

from __future__ import annotations

import re

_CONTROL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\U000e0001-\U000e007f]"
)
"""Control characters, line separators, what turns the direction of writing, and tags that nobody sees."""
_COMMAND = re.compile(r"(?m)^(\s*)(::|##\[)")
"""How a line begins that the runners of GitHub and Azure take for a command, on standard error as well."""


def visible(text: str) -> str:
    """Text of several lines without characters that could steer a terminal or hide something."""
    return _CONTROL.sub(_escaped, text.encode("utf-8", "replace").decode())


def visible_line(text: str) -> str:
    """The same on one line, such as the name of a file: line ends and tabs are shown, too."""
    return visible(text).replace("\n", "\\n").replace("\t", "\\t")


def harmless(text: str) -> str:
    """The same of what goes to a log: no line of it is a command to whoever reads the log."""
    return _COMMAND.sub(lambda match: f"{match[1]}\\x{ord(match[2][0]):02x}{match[2][1:]}", visible(text))


def _escaped(match: re.Match[str]) -> str:
    number = ord(match[0])
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
