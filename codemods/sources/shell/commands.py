"""The simple commands of a shell script: words with spans, quotes removed. Nothing is run or expanded.

The grammar is POSIX shell (POSIX.1-2017, Shell Command Language, 2.2 to 2.10) with what bash adds and real job scripts
use: `$'…'`, here-strings, arrays, `function`, `[[ ]]`, `(( ))`, `&>`. Commands inside `$( )`, groups, loops and
functions count; inside backquotes, here-documents, arrays and strings (`bash -c "…"`) they do not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from codemods.model.edits import SkipReason

DEEPEST = 40
"""Groups and expansions inside each other; more are a skip."""

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(?:\[[^]]*\])?\+?=")
_BEFORE_A_COMMAND = frozenset({"if", "then", "else", "elif", "while", "until", "do", "!", "{", "time", "coproc"})
_NO_COMMAND = frozenset({"for", "select", "case", "fi", "done", "esac", "}", "[["})
_BETWEEN = " \t\r\f\v"
_ENDS_A_WORD = "\n;&|()<>" + _BETWEEN
_CONTINUED = re.compile(r"\\\r?\n")
_REDIRECTION = re.compile(r"&>>|&>|<<<|<<-|<<|<>|<&|<|>>|>\||>&|>")
_PARAMETER = re.compile(r"\$(?:[A-Za-z_]\w*|[0-9@*#?$!_-])")
_ANSI_C = re.compile(r"\$'((?:[^'\\]|\\.)*)'", re.DOTALL)
_BACKQUOTED = re.compile(r"`(?:[^\\`]|\\.)*`", re.DOTALL)


@dataclass(frozen=True, slots=True, eq=False)
class Word:
    """One word of a command."""

    KIND: ClassVar[str] = "shell"
    start: int
    end: int
    text: str
    """Without its quotes; an expansion stands as it is written: `$DIR/train.py`."""
    literal: bool
    """Whether nothing in it is expanded."""


@dataclass(frozen=True, slots=True, eq=False)
class Command:
    """One simple command: its words without redirections, the assignments before its name apart."""

    KIND: ClassVar[str] = "shell"
    start: int
    end: int
    words: tuple[Word, ...]
    assignments: tuple[Word, ...]


class UnreadableScript(Exception):
    """Why a script cannot be read, and the offset at which that shows."""

    def __init__(self, at: int, why: str, reason: SkipReason = SkipReason.UNPARSABLE) -> None:
        super().__init__(why)
        self.at, self.reason = at, reason


def scan(text: str) -> tuple[Command, ...]:
    """Every simple command of a script, in the order in which they end.

    Raises:
        Unreadable: if a quote or a group is never closed, or they are nested too deeply.
    """
    scanner = _Scanner(text)
    scanner.commands("", 0)
    return tuple(scanner.found)


class _Scanner:
    """One walk over the text; `at` is where it stands."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.found: list[Command] = []
        self.awaited: list[tuple[str, bool]] = []
        """Here-documents that begin on the next line: what ends each, and whether leading tabs are stripped."""

    def commands(self, closing: str, depth: int) -> None:
        """Read commands up to and with `closing`."""
        opened, words, cases, pattern = self.at, list[Word](), 0, len(self.found)
        if depth > DEEPEST:
            raise UnreadableScript(opened, "nested too deeply", SkipReason.TOO_DEEP)
        while True:
            self._blank()
            mark = self.text[self.at : self.at + 1]
            if (mark and mark in "<>") or self.text.startswith("&>", self.at):
                self._redirection(depth, words)
            elif mark and mark not in "\n;&|()":
                self._argument(depth, words)
            else:
                name = words[0].text if words else ""
                cases = max(0, cases + (name == "case") - (name == "esac"))
                if mark == ")" and cases:
                    del self.found[pattern:]  # what stands before the parenthesis is a pattern, no command
                elif not self.text.startswith("()", self.at):  # nor is the name of a function
                    self._command(words)
                words = []
                if not mark or (mark == closing and not cases):
                    break
                self._separator(mark, depth)
                pattern = pattern if mark == "|" else len(self.found)
        if closing and not mark:
            raise UnreadableScript(opened, f"no {closing} closes what begins here")
        self.at += len(mark)

    def _command(self, words: list[Word]) -> None:
        if words and words[0].text == "function":
            words = words[3:]  # its name and a brace
        while words and words[0].text in _BEFORE_A_COMMAND:
            words = words[1:]
        if words and words[0].text not in _NO_COMMAND:
            count = next((i for i, word in enumerate(words) if not _ASSIGNMENT.match(word.text)), len(words))
            found = Command(words[0].start, words[-1].end, tuple(words[count:]), tuple(words[:count]))
            self.found.append(found)

    def _separator(self, mark: str, depth: int) -> None:
        """Step over what ends a command; a group in parentheses is read."""
        self.at += 1
        if mark == "\n":
            self._here_documents()
        elif mark == "(" and self.text.startswith("(", self.at):
            self._balanced(")", depth + 1, quotes=False)
        elif mark == "(" and self.text.startswith(")", self.at):
            self.at += 1
        elif mark == "(":
            self.commands(")", depth + 1)

    def _argument(self, depth: int, words: list[Word]) -> None:
        word = self._word(depth)
        after = self.text[self.at : self.at + 1]
        if after == "(" and _ASSIGNMENT.fullmatch(word.text):
            count = len(self.found)
            self.at += 1
            self.commands(")", depth + 1)
            del self.found[count:]  # the items of an array
        if not (after and after in "<>" and word.text.isdigit()):  # the number of a stream
            words.append(word)

    def _blank(self) -> None:
        """Step over blanks, continued lines and a comment."""
        while self.at < len(self.text):
            if self.text[self.at] in _BETWEEN:
                self.at += 1
            elif continued := _CONTINUED.match(self.text, self.at):
                self.at = continued.end()
            elif self.text[self.at] == "#":
                end = self.text.find("\n", self.at)
                self.at = end if end >= 0 else len(self.text)
            else:
                return

    def _redirection(self, depth: int, words: list[Word]) -> None:
        if self.text.startswith(("<(", ">("), self.at):
            words.append(self._word(depth))
            return
        mark = _REDIRECTION.match(self.text, self.at)
        assert mark is not None
        self.at = mark.end()
        self._blank()
        if self.at < len(self.text) and self.text[self.at] not in _ENDS_A_WORD:
            word = self._word(depth)
            if mark[0] in ("<<", "<<-"):
                self.awaited.append((word.text, mark[0] == "<<-"))

    def _here_documents(self) -> None:
        for ending, tabs in self.awaited:
            while self.at < len(self.text):
                end = self.text.find("\n", self.at)
                end = len(self.text) if end < 0 else end + 1
                line, self.at = self.text[self.at : end].rstrip("\r\n"), end
                if (line.lstrip("\t") if tabs else line) == ending:
                    break
        self.awaited = []

    def _word(self, depth: int) -> Word:
        start = end = self.at
        parts, literal = list[str](), True
        while self.at < len(self.text):
            here, mark = self.at, self.text[self.at]
            if continued := _CONTINUED.match(self.text, here):
                self.at = continued.end()
                continue
            if mark == "\\":
                self.at = min(here + 2, len(self.text))
                parts.append(self.text[here + 1 : self.at])
            elif mark == "'":
                parts.append(self._single())
            elif mark == '"':
                inside, plain = self._double(depth)
                parts.append(inside)
                literal = literal and plain
            elif ansi := _ANSI_C.match(self.text, here):
                self.at = ansi.end()
                parts.append(ansi[1])
                literal = literal and "\\" not in ansi[1]
            elif mark in "$`" or (mark in "<>" and self.text.startswith("(", here + 1)):
                literal = not self._expansion(depth) and literal
                parts.append(self.text[here : self.at])
            elif mark in _ENDS_A_WORD:
                break
            else:
                self.at += 1
                parts.append(mark)
            end = self.at
        return Word(start, end, "".join(parts), literal)

    def _single(self) -> str:
        end = self.text.find("'", self.at + 1)
        if end < 0:
            raise UnreadableScript(self.at, "a quote is never closed")
        inside, self.at = self.text[self.at + 1 : end], end + 1
        return inside

    def _double(self, depth: int) -> tuple[str, bool]:
        """What stands in double quotes, and whether nothing in it is expanded."""
        start, parts, plain = self.at, list[str](), True
        self.at += 1
        while not self.text.startswith('"', self.at):
            here = self.at
            if here >= len(self.text):
                raise UnreadableScript(start, "a quote is never closed")
            if continued := _CONTINUED.match(self.text, here):
                self.at = continued.end()
            elif self.text.startswith(("\\$", "\\`", '\\"', "\\\\"), here):
                self.at += 2
                parts.append(self.text[here + 1])
            elif self.text[here] in "$`":
                plain = not self._expansion(depth, quotes=False) and plain
                parts.append(self.text[here : self.at])
            else:
                self.at += 1
                parts.append(self.text[here])
        self.at += 1
        return "".join(parts), plain

    def _expansion(self, depth: int, *, quotes: bool = True) -> bool:
        """Step over an expansion and read the commands in it; False where the mark is only a character.

        `quotes`: whether a single quote inside `${ }` is one; between double quotes it is a character.
        """
        start = self.at
        if self.text.startswith("$((", start):
            self.at += 2
            self._balanced(")", depth + 1, quotes=False)
        elif self.text.startswith(("$(", "<(", ">("), start):
            self.at += 2
            self.commands(")", depth + 1)
        elif self.text.startswith("${", start):
            self.at += 2
            self._balanced("}", depth + 1, quotes=quotes)
        elif self.text[start] == "`":
            backquoted = _BACKQUOTED.match(self.text, start)
            if backquoted is None:
                raise UnreadableScript(start, "a backquote is never closed")
            self.at = backquoted.end()
        elif named := _PARAMETER.match(self.text, start):
            self.at = named.end()
        else:
            self.at += 1
            return False
        return True

    def _balanced(self, closing: str, depth: int, *, quotes: bool) -> None:
        """Step over the rest of an arithmetic or parameter expansion, up to and with what closes it."""
        start, opened = self.at, 1
        if depth > DEEPEST:
            raise UnreadableScript(start, "nested too deeply", SkipReason.TOO_DEEP)
        while opened:
            mark = self.text[self.at : self.at + 1]
            if not mark:
                raise UnreadableScript(start, f"no {closing} closes what begins here")
            if mark == "'" and quotes:
                self._single()
            elif mark == '"':
                self._double(depth)
            elif mark in "$`":
                self._expansion(depth, quotes=quotes)
            else:
                opened += (mark == "(" and closing == ")") - (mark == closing)
                self.at += 2 if mark == "\\" else 1
