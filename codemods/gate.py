"""Gate 1: which rules a file can concern at all, told from its bytes, before anything is parsed.

A rule says what its bug cannot be written without (`codemods.rule.Rule`: triggers); everything here follows from that.
The literals of all rules are searched for in one pass (Aho and Corasick, 1975), at some 600 MB a second.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar

from ahocorasick_rs import BytesAhoCorasick, Implementation

from codemods.sources import files

if TYPE_CHECKING:
    from codemods.rule import Rule


@dataclass(frozen=True, slots=True)
class Spot:
    """A trigger that is a pattern. Whatever it matches holds `literal`, which is searched for first."""

    literal: bytes
    pattern: bytes
    """A regular expression; `^` and `$` are those of a line."""
    reach: int = 200
    """How far from its literal a match may begin and end, in bytes."""

    def __len__(self) -> int:
        return len(self.literal)

    def found(self, data: bytes, start: int = 0, end: int = sys.maxsize) -> bool:
        """Whether the pattern matches somewhere in a stretch of some bytes."""
        return _compiled(self.pattern).search(data, start, end) is not None


@cache
def _compiled(pattern: bytes) -> re.Pattern[bytes]:
    return re.compile(pattern, re.MULTILINE)


Trigger: TypeAlias = bytes | Spot
Group: TypeAlias = tuple[Trigger, ...]
"""Alternatives."""


@dataclass(frozen=True, slots=True)
class Card:
    """What can be told of a rule without loading it: what it is called, what it offers, and its first gate."""

    code: str
    name: str
    strategies: tuple[str, ...]
    triggers: Group
    triggers_all: tuple[Group, ...]
    together: tuple[Group, ...]
    elsewhere: tuple[bytes, ...]
    kinds: tuple[str, ...]
    module: str = ""
    """Dotted name of the module that holds the rule."""

    @classmethod
    def of(cls, rule: Rule | Card) -> Card:
        """The card of a rule."""
        gates = rule.triggers, rule.triggers_all, rule.together, rule.elsewhere
        return cls(rule.code, rule.name, tuple(rule.strategies), *gates, tuple(sorted(rule.kinds)), rule.module)

    @property
    def family(self) -> str:
        return self.code.rstrip("0123456789")


AnyRule = TypeVar("AnyRule", bound="Rule | Card")


class _File:
    """The bytes of one file, and where which literals stand in them. No pattern is searched for twice."""

    def __init__(self, data: bytes, places: Mapping[bytes, Sequence[int]], *, notebook: bool) -> None:
        self._data, self._places, self._notebook = data, places, notebook
        self._known: dict[Trigger, bool] = {}
        self._spans: Sequence[tuple[int, int]] | None = None

    def any(self, group: Group) -> bool:
        return any(map(self._holds, group))

    def together(self, groups: tuple[Group, ...]) -> bool:
        """Whether one function, or what stands outside all functions, holds a trigger of each group."""
        if self._notebook:
            return True
        if self._spans is None:
            self._spans = functions(self._data)
        starts = [start for start, _ in self._spans]
        found: set[int] | None = None
        groups = with_synonyms(groups, self._data)
        for group in groups:
            here = {self._function(starts, place) for trigger in group for place in self._matches(trigger)}
            found = here if found is None else found & here
            if not found:
                return False
        return any(self._says(number, groups) for number in found or ())

    def _says(self, number: int, groups: tuple[Group, ...]) -> bool:
        """Whether a function (-1: the rest) that holds a trigger of each group holds them in its code."""
        assert self._spans is not None
        if number < 0:
            ends = [0, *chain.from_iterable(self._spans), len(self._data)]
            code = b"".join(self._data[ends[i] : ends[i + 1]] for i in range(0, len(ends), 2))
            quoted = code
        else:
            start, end = self._spans[number]
            code, quoted = self._data[start:end], self._data[:start]
        torn = any(quoted.count(quotes) % 2 for quotes in (b'"""', b"'''"))  # it may begin or end inside a string
        return torn or holds_together(groups, code)

    def _function(self, starts: Sequence[int], place: int) -> int:
        """The number of the function around a place; -1 outside of all."""
        assert self._spans is not None
        number = bisect_right(starts, place) - 1
        return number if number >= 0 and place < self._spans[number][1] else -1

    def _holds(self, trigger: Trigger) -> bool:
        if trigger not in self._known:
            self._known[trigger] = any(True for _ in self._matches(trigger))
        return self._known[trigger]

    def _matches(self, trigger: Trigger) -> Iterable[int]:
        """Where the literal of a trigger stands, if the pattern of the trigger matches there."""
        literal = _literal(trigger)
        places = self._places[literal] if literal in self._places else find(literal, self._data)
        if isinstance(trigger, bytes) or self._notebook:  # its lines do not begin where those of its code do
            return places
        return (place for place in places if _fits(trigger, self._data, place))


class Gate(Generic[AnyRule]):
    """The first gate of some rules: one pass over the bytes of a file, whatever the number of rules."""

    def __init__(self, rules: Sequence[AnyRule]) -> None:
        self._rules: list[tuple[AnyRule, tuple[Group, ...]]] = [(r, (r.triggers, *r.triggers_all)) for r in rules]
        numbers: dict[bytes, set[int]] = {}
        for number, rule in enumerate(rules):
            for trigger in (*rule.triggers, *rule.elsewhere):
                numbers.setdefault(_literal(trigger), set()).add(number)
            for trigger in chain.from_iterable(rule.together):
                numbers.setdefault(_literal(trigger), set())
        self._always = frozenset(numbers.pop(b"", ()))
        self._literals = sorted(numbers)
        self._concerned = [frozenset(numbers[literal]) for literal in self._literals]
        """For each literal the rules that it may let pass."""
        self._told = _told(tuple(map(Card.of, rules)))
        self._automaton = BytesAhoCorasick(self._literals, implementation=Implementation.DFA)

    def wanted(self, path: str, data: bytes) -> list[AnyRule]:
        """The rules whose bug a file of these (searchable) bytes may hold."""
        told = self._told.get(path)  # nothing, for nearly all files: only what passes is asked about again
        if told is not None and told[:2] == (len(data), hash(data)):
            return [self._rules[number][0] for number in told[2]]
        found = self._wanted(path, data)
        if found:
            if len(self._told) >= _MOST_TOLD:
                self._told.clear()
            self._told[path] = len(data), hash(data), found
        return [self._rules[number][0] for number in found]

    def _wanted(self, path: str, data: bytes) -> list[int]:
        places: dict[int, list[int]] = {}
        for number, place, _ in self._automaton.find_matches_as_indexes(data, overlapping=True):
            if number in places:
                places[number].append(place)
            else:
                places[number] = [place]
        concerned = sorted(self._always.union(*(self._concerned[number] for number in places)))
        if not concerned:
            return []
        known = {literal: places.get(number, ()) for number, literal in enumerate(self._literals)}
        file = _File(data, known, notebook=path.endswith(files.NOTEBOOK))
        python, kind = files.is_python(path), files.kind(path)
        found = []
        for number in concerned:
            rule, groups = self._rules[number]
            if kind in rule.kinds and file.any(rule.elsewhere):
                found.append(number)
            elif python and rule.triggers and all(map(file.any, groups)):
                if not rule.together or file.together(rule.together):
                    found.append(number)
        return found


_MOST_TOLD = 50_000
"""Files."""


@cache
def _told(cards: tuple[Card, ...]) -> dict[str, tuple[int, int, list[int]]]:
    """What the gate of these rules has answered last for the files that pass, with the length and hash of their bytes:
    they are asked about again when they are planned.
    """
    return {}


def find(trigger: Trigger, data: bytes) -> Iterator[int]:
    """Where the literal of a trigger stands, if its pattern matches there."""
    literal = _literal(trigger)
    place = data.find(literal)
    while place >= 0:
        if isinstance(trigger, bytes) or _fits(trigger, data, place):
            yield place
        place = data.find(literal, place + 1)


def _fits(trigger: Spot, data: bytes, place: int) -> bool:
    return trigger.found(data, max(0, place - trigger.reach), place + len(trigger) + trigger.reach)


def holds_together(groups: Sequence[Group], function: bytes) -> bool:
    """Whether the code of one function holds a trigger of each group."""
    if not all(any(_in(trigger, function) for trigger in group) for group in groups):
        return False
    code = without_prose(function)
    return len(code) == len(function) or all(any(_in(trigger, code) for trigger in group) for group in groups)


def _in(trigger: Trigger, data: bytes) -> bool:
    if isinstance(trigger, bytes):
        return trigger in data
    return trigger.literal in data and trigger.found(data)


_PROSE = re.compile(
    rb"""(\#[^\n]*
    | "{3}(?<![fFtT]"{3})(?<![fFtT][rR]"{3})[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"{3}
    | '{3}(?<![fFtT]'{3})(?<![fFtT][rR]'{3})[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'{3} )
    | "[^"\\\n]*(?:\\.[^"\\\n]*)*" | '[^'\\\n]*(?:\\.[^'\\\n]*)*' """,
    re.DOTALL | re.VERBOSE,
)
"""Each alternative begins with a letter of its own, by which `re` finds it fast."""


def without_prose(data: bytes) -> bytes:
    """Code without its comments and its strings of several lines, formatted ones apart."""
    return _PROSE.sub(lambda found: b"" if found[1] else found[0], data)


def with_synonyms(groups: tuple[Group, ...], data: bytes) -> tuple[Group, ...]:
    """Groups of triggers with the other names that a file gives to theirs: `import no_grad as ng`, `ng = no_grad`.

    The functions that use the new name need not hold the old one.
    """
    return tuple(
        (*group, *map(_word, _synonyms(data, words))) if (words := _words(group)) else group for group in groups
    )


@cache
def gate(rules: tuple[AnyRule, ...]) -> Gate[AnyRule]:
    """The gate of these rules, made once."""
    return Gate(rules)


def _literal(trigger: Trigger) -> bytes:
    return trigger if isinstance(trigger, bytes) else trigger.literal


@cache
def _words(group: Group) -> tuple[bytes, ...]:
    """The names in the triggers."""
    return tuple({word for trigger in group for word in re.findall(rb"[A-Za-z_]\w{3,}", _literal(trigger))})


def _synonyms(data: bytes, words: tuple[bytes, ...]) -> set[bytes]:
    """The names that a file gives to what it knows by some words."""
    found: set[bytes] = set()
    if not words:
        return found
    at = data.find(b" as ")
    while at >= 0:
        if data[max(0, at - _NEARBY) : at].rstrip(b" \t\r\n\\").endswith(words):
            found.update(_NAME.findall(data, at + len(b" as "), at + _NEARBY)[:1])
        at = data.find(b" as ", at + 1)
    for word in words:
        at = data.find(word)
        while at >= 0:
            end = at + len(word)
            if data[end : end + 1] in (b"\n", b"\r", b"", b" ", b"\t"):
                if given := _GIVEN.match(data, data.rfind(b"\n", 0, at) + 1):
                    found.add(given[1])
            at = data.find(word, end)
    return found


@cache
def _word(name: bytes) -> Spot:
    return Spot(name, rb"\b%b\b" % name)


_NAME = re.compile(rb"\w+")
_NEARBY = 200
"""Bytes in which the names on both sides of an `as` are looked for."""
_GIVEN = re.compile(rb"(\w+)[ \t]*=[ \t]*[\w.]+[ \t]*(?:#.*)?\r?$", re.MULTILINE)


# -- functions


_DEF = re.compile(rb"def[ \t]")
_HEADER = re.compile(rb"([ \t]*)(?:async[ \t]+)?")
_DECORATOR = re.compile(rb"^[ \t]*@", re.MULTILINE)


@cache
def _dedent(width: int) -> re.Pattern[bytes]:
    """The beginning of a line of code that is indented by no more than that."""
    return re.compile(rb"^(?=[ \t]{0,%d}[^ \t\r\n\f#)\]}])" % width, re.MULTILINE)


@lru_cache(maxsize=4)
def functions(data: bytes) -> Sequence[tuple[int, int]]:
    """Where the outermost functions, with their decorators, begin and end.

    By indentation, without parsing: a span may be too large, but holds its function whole.
    """
    found, at = [], 0
    for word in _DEF.finditer(data):
        line = data.rfind(b"\n", 0, word.start()) + 1
        if line >= at and (header := _HEADER.fullmatch(data, line, word.start())):
            decorator = _DECORATOR.search(data, at, line)
            start = decorator.start() if decorator else line
            end = _end(data, start, word.end(), len(header[1]))
            found.append((start, end))
            at = end
    return found


def _end(data: bytes, start: int, body: int, width: int) -> int:
    """Where a function ends: at the next line of code not deeper than its header, unless that lies in a string."""
    for line in _dedent(width).finditer(data, body):
        inside = data[start : line.start()]
        if inside.count(b'"""') % 2 == 0 and inside.count(b"'''") % 2 == 0:
            return line.start()
    return len(data)
