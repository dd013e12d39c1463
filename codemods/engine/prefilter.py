"""The prefilter: which rules a file can concern at all, told from its identifiers, before anything is parsed.

A rule names the identifiers that its bug cannot be written without (`codemods.rules.rule.Rule`: triggers). Identifiers
survive every formatting, so nothing is lost to spaces, comments or line breaks. The identifiers of all rules are
searched for in one pass (Aho and Corasick, 1975), at some 600 MB a second. What stands in comments and in
strings in three quotes alone does not count (`codemods.syntax.prose`).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from codecs import BOM_UTF8
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Generic, TypeVar

from ahocorasick_rs import BytesAhoCorasick, Implementation

from codemods.sources import files
from codemods.syntax.prose import prose

if TYPE_CHECKING:
    from codemods.rules.rule import Group, Rule


@dataclass(frozen=True, slots=True)
class RuleInfo:
    """What can be told of a rule without loading it: its prefilter, its name and summary, the messages it knows."""

    code: str
    name: str
    strategies: tuple[str, ...]
    triggers: tuple[Group, ...]
    elsewhere: tuple[bytes, ...]
    kinds: tuple[str, ...]
    module: str = ""
    """Dotted name of the module that holds the rule."""
    summary: str = ""
    errors: tuple[str, ...] = ()
    somewhere: tuple[bytes, ...] = ()

    @classmethod
    def of(cls, rule: Rule | RuleInfo) -> RuleInfo:
        """What can be told of a loaded rule."""
        strategies, kinds, errors = tuple(rule.strategies), tuple(sorted(rule.kinds)), tuple(rule.errors)
        about = (rule.module, rule.summary, errors, rule.somewhere)
        return cls(rule.code, rule.name, strategies, rule.triggers, rule.elsewhere, kinds, *about)

    @property
    def family(self) -> str:
        return self.code.rstrip("0123456789")


AnyRule = TypeVar("AnyRule", bound="Rule | RuleInfo")


class Prefilter(Generic[AnyRule]):
    """The prefilter of some rules: one pass over the bytes of a file, whatever the number of rules."""

    def __init__(self, rules: Sequence[AnyRule]) -> None:
        self._rules = [(rule, tuple(tuple(map(_literal, group)) for group in rule.triggers)) for rule in rules]
        numbers: dict[bytes, set[int]] = {}
        for number, (rule, groups) in enumerate(self._rules):
            for literal in (*chain.from_iterable(groups[:1]), *rule.elsewhere):
                numbers.setdefault(literal, set()).add(number)
        self._always = frozenset(numbers.pop(b"", ()))
        self._literals = sorted(numbers)
        self._concerned = [frozenset(numbers[literal]) for literal in self._literals]
        """For each literal the rules that it may let pass."""
        self._told = _told(tuple(map(RuleInfo.of, rules)))
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
            document = kind in rule.kinds and any(literal in data for literal in rule.elsewhere)
            if document or (python and groups and file.names_all(groups)):
                found.append(number)
        return found


class _File:
    """The bytes of one file, and which identifiers stand in them."""

    def __init__(self, data: bytes, places: Mapping[bytes, Sequence[int]], *, notebook: bool) -> None:
        self._data, self._places, self._notebook = data, places, notebook
        self._known: dict[bytes, list[int]] = {}
        self._programmed: dict[bytes, bool] = {b"": True}
        self._prose: list[tuple[int, int]] | None = None

    def names_all(self, groups: Sequence[Sequence[bytes]]) -> bool:
        """Whether an identifier of each group stands there: in a notebook, what looks like one from one side."""
        if not all(any(not each or self._found(each) for each in group) for group in groups):
            return False
        return self._notebook or all(any(map(self._is_programmed, group)) for group in groups)

    def _found(self, identifier: bytes) -> list[int]:
        """Where an identifier stands."""
        if identifier not in self._known:
            places = self._places[identifier] if identifier in self._places else _find(identifier, self._data)
            if not self._notebook:
                places = (place for place in places if self._is_whole(identifier, place))
            self._known[identifier] = list(places)
        return self._known[identifier]

    def _is_whole(self, identifier: bytes, place: int) -> bool:
        before = place and not (place == len(BOM_UTF8) and self._data.startswith(BOM_UTF8))
        if before and _LETTER.match(self._data, place - 1):
            return False
        return _LETTER.match(self._data, place + len(identifier)) is None

    def _is_programmed(self, identifier: bytes) -> bool:
        """Whether an identifier stands outside prose."""
        if identifier not in self._programmed:
            if self._prose is None:
                self._prose = prose(self._data)
            self._programmed[identifier] = any(not _covers(self._prose, place) for place in self._found(identifier))
        return self._programmed[identifier]


def _covers(spans: Sequence[tuple[int, int]], place: int) -> bool:
    """Whether one of some spans, which are in order, holds a place."""
    number = bisect_right(spans, place, key=itemgetter(0))
    return number > 0 and place < spans[number - 1][1]


_LETTER = re.compile(rb"[0-9A-Za-z_\x80-\xff]")
_MOST_TOLD = 50_000
"""Files."""


@cache
def _told(rules: tuple[RuleInfo, ...]) -> dict[str, tuple[int, int, list[int]]]:
    """What the prefilter of these rules has answered last for the files that pass, with length and hash of their bytes:
    they are asked about again when they are planned.
    """
    return {}


def _find(identifier: bytes, data: bytes) -> Iterable[int]:
    place = data.find(identifier)
    while place >= 0:
        yield place
        place = data.find(identifier, place + 1)


def _literal(identifier: str) -> bytes:
    return identifier.encode()


@cache
def prefilter(rules: tuple[AnyRule, ...]) -> Prefilter[AnyRule]:
    """The prefilter of these rules, made once."""
    return Prefilter(rules)
