"""What launchers, loggers and terminals put around a line of a log, taken away."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_RANK = re.compile(
    r"""\s*(?:
      \[rank:?\s?(?P<rank>\d+)\](?::[ ]?|[ ]?)             # torch, Lightning
    | \[(?:default)?(?P<default>\d{1,4})\]:[ ]?             # torchrun --tee
    | \[\d+,(?P<mpi>\d+)\]<\w+>:[ ]?                        # mpirun
    | (?P<srun>\d{1,4}):[ ](?=[ ]*(?:\[|File|Traceback|\w*(?:Error|Warning)\b|\S*/))  # srun --label
    | \((?P<ray>[\w.:<>]+[ ]pid=\d+(?:,[ ]ip=[\w.:]+)?)\)[ ]?(?:\[repeated[ ]\d+x[^\]]*\][ ]?)?   # Ray
    | (?P<compose>[a-z][\w.-]*-\d+)\s*\|[ ]                  # containers
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_LOGGER = re.compile(
    r"""\s*(?:
      \[\w+\|[\w.]+:\d+\][ ]\S+[ ]\S+[ ]>>[ ]                # Transformers
    | [IWEF]\d{4}[ ]\d\d:\d\d:\d\d\.\d+[ ]+\d+[ ]\S+:\d+\][ ]?   # glog
    | [\[(]?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d(?::\d\d)?(?:[.,:]\d+)?Z?(?:[+-]\d\d:?\d\d)?[\])]?(?:\s*[-|:>]\s*|[ ]|$)
    | \[?(?:DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL)\b\s*\]?(?:\s*\|\s*|\s+-\s+|:[ ]|:[\w.]+:[ ]?|[ ]+)
    | [\w.]+:[\w<>]+:\d+[ ]-[ ]                             # loguru
    | [A-Za-z_][\w.]*[ ]-[ ](?=[A-Z]+[ ]-[ ])               # logging: name - LEVEL - text
    | \[[\w.\-]+(?::\d+)?\]\[[\w.\-]+(?::\d+)?\][ ]?         # hydra: [name][LEVEL]
    | (?:wandb|stderr|stdout):[ ]
    | E[ ]{3}                                               # pytest
    | >[ ](?=\S)                                            # quoted
    )""",
    re.VERBOSE,
)
_BOX = re.compile(r"^\s*[│┃║]\s?|\s{0,400}[│┃║]\s*$")
_EDGE = re.compile(r"[╭╮╰╯╔╗╚╝┏┓┗┛┌┐└┘─━═]{2,}|[╭╰╔╚┏┗┌└]\s*─?")
_REPEATED = re.compile(r"\s?\[repeated \d+x across (?:cluster|all nodes)\].*$")
_ADDRESS = re.compile(r"\[address=[^\]]*\]\s*")
_MARKDOWN = re.compile(r"\[((?:[^\[\]]|\[\d*\])+)\]\((?:https?|file|vscode)[^)\s]*\)")
_SECOND = re.compile(r"(?<=\S)\s*(?=\[rank\d+\]:)", re.IGNORECASE)
_ESCAPED = re.compile(r"\\+n(?=\s|\\|[A-Z\"']|$)")
_SAID = re.compile(r"Traceback|File \\+\"|\w(?:Error|Warning):")
_FRAMED = frozenset("│┃║╭╰╔╚┏┗┌└")


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line of a log without what was put around it."""

    number: int
    """From 1, as editors count."""
    text: str
    source: str = ""
    """The rank, worker or container that wrote it; empty where the line names none."""
    framed: bool = False
    """Whether it stood in a box, which cuts paths at its width."""
    warns: bool = False
    """Whether a logger calls it a warning."""


def shaped(number: int, text: str) -> Iterator[LogLine]:
    """What one line of a log says: several lines where it holds those of two ranks, or line ends as `\\n`."""
    if "\\n" in text and _SAID.search(text):
        for part in _ESCAPED.split(text):
            yield from _split(number, re.sub(r"\\+([\"'])", r"\1", part))
    else:
        yield from _split(number, text)


def _split(number: int, text: str) -> Iterator[LogLine]:
    parts = _SECOND.split(text) if "[rank" in text[1:] else (text,)
    for part in parts:
        yield _bare(number, part)


def _bare(number: int, text: str) -> LogLine:
    source, framed, warns = "", False, False
    for _ in range(6):
        before = text
        if match := _RANK.match(text):
            source = next(name for name in reversed(match.groups()) if name)
            text = text[match.end() :]
        if match := _LOGGER.match(text):
            warns = warns or "WARN" in match[0]
            text = text[match.end() :]
        if text == before:
            break
    if not _FRAMED.isdisjoint(text):
        framed = True
        text = _EDGE.sub("", _BOX.sub("", _BOX.sub("", text)))
    if "](" in text:
        text = _MARKDOWN.sub(r"\1", text)
    if "[repeated" in text:
        text = _REPEATED.sub("", text)
    if "[address=" in text:
        text = _ADDRESS.sub("", text)
    return LogLine(number, text.rstrip(), source, framed, warns)
