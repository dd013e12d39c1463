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
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Generic, TypeVar

from ahocorasick_rs import BytesAhoCorasick, Implementation

from codemods.sources import files
from codemods.syntax.prose import prose
from codemods.syntax.written_imports import written_imports

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
    imports: tuple[str, ...] = ()
    upgrading: bool = False

    @classmethod
    def of(cls, rule: Rule | RuleInfo) -> RuleInfo:
        """What can be told of a loaded rule."""
        strategies, kinds, errors = tuple(rule.strategies), tuple(sorted(rule.kinds)), tuple(rule.errors)
        about = (rule.module, rule.summary, errors, rule.somewhere, rule.imports, rule.upgrading)
        return cls(rule.code, rule.name, strategies, rule.triggers, rule.elsewhere, kinds, *about)

    @property
    def family(self) -> str:
        return self.code.rstrip("0123456789")


AnyRule = TypeVar("AnyRule", bound="Rule | RuleInfo")


@dataclass(frozen=True, slots=True)
class FirstLook(Generic[AnyRule]):
    """What the prefilter tells of a file while nobody knows what its project imports."""

    rules: Sequence[AnyRule]
    """Those that the file concerns whatever the project imports."""
    others: bool
    """Whether it may concern rules about packages."""
    packages: frozenset[str]
    """The packages of rules that the file may import."""


class Prefilter(Generic[AnyRule]):
    """The prefilter of some rules: one pass over the bytes of a file, whatever the number of rules."""

    def __init__(self, rules: Sequence[AnyRule]) -> None:
        self._rules = [(rule, tuple(tuple(map(_literal, group)) for group in rule.triggers)) for rule in rules]
        self._packages = {name.encode(): name for rule in rules for name in rule.imports}
        code = [tuple(chain.from_iterable(groups[:1])) for _, groups in self._rules]
        both = [(*mine, *rule.elsewhere) for mine, (rule, _) in zip(code, self._rules, strict=True)]
        self._code = _Words(code, self._packages)
        """Of files that are Python and nothing else: the words of documents are the most frequent ones there."""
        self._both = _Words(both, self._packages)
        self._told = _told(tuple(map(RuleInfo.of, rules)))

    def wanted(self, path: str, data: bytes, speaks_of: Callable[[AnyRule], bool] = lambda rule: True) -> list[AnyRule]:
        """The rules whose bug a file of these (searchable) bytes may hold.

        Args:
            speaks_of: whether the project imports what a rule is about; the others are not asked about.
        """
        told = self._look(path, data)
        asked = [number for number in told.others if speaks_of(self._rules[number][0])]
        new = [number for number in asked if number not in told.held]
        if new:
            held = self._held(path, data, told.places, new)
            told.held.update((number, number in held) for number in new)
        found = sorted((*told.sure, *(number for number in asked if told.held[number])))
        return [self._rules[number][0] for number in found]

    def concerns(self, path: str, data: bytes) -> bool:
        """Whether a file of these (searchable) bytes may hold a bug, whatever its project imports."""
        told = self._look(path, data)
        return bool(told.sure or told.others)

    def first(self, path: str, data: bytes) -> FirstLook[AnyRule]:
        """What a file of these (searchable) bytes tells alone."""
        if path.endswith(files.NOTEBOOK) or not files.is_python(path):
            return FirstLook(self.wanted(path, data), False, frozenset())
        places = self._words(path).places(data)
        told = self._look(path, data, places)
        written = written_imports(data) if not self._packages.keys().isdisjoint(places) else ()
        imported = {name.partition(".")[0] for name in written}
        packages = frozenset(name for name in self._packages.values() if name in imported)
        return FirstLook([self._rules[number][0] for number in told.sure], bool(told.others), packages)

    def _look(self, path: str, data: bytes, places: Mapping[bytes, Sequence[int]] | None = None) -> _Told:
        """The rules that a file concerns, as far as that is not a question of what its project imports."""
        told = self._told.get(path)
        if told is not None and told.length == len(data) and told.hash == hash(data):
            return told
        words = self._words(path)
        places = words.places(data) if places is None else places
        concerned = sorted(words.always.union(*(words.concerned[literal] for literal in places)))
        others = [number for number in concerned if self._rules[number][0].imports]
        sure = self._held(path, data, places, [number for number in concerned if number not in others])
        told = _Told(len(data), hash(data), sure, others, places if others else {})
        if sure or others:  # nothing, for nearly all files: only what passes is asked about again
            if len(self._told) >= _MOST_TOLD:
                self._told.clear()
            self._told[path] = told
        return told

    def _words(self, path: str) -> _Words:
        return self._code if path.endswith(files.PYTHON) and not files.is_document(path) else self._both

    def _held(self, path: str, data: bytes, places: Mapping[bytes, Sequence[int]], concerned: list[int]) -> list[int]:
        """The rules among some that a file concerns."""
        if not concerned:
            return []
        file = _File(data, self._words(path).searched, places, notebook=path.endswith(files.NOTEBOOK))
        python, kind = files.is_python(path), files.kind(path)
        found = []
        for number in concerned:
            rule, groups = self._rules[number]
            document = kind in rule.kinds and any(literal in data for literal in rule.elsewhere)
            if document or (python and groups and file.names_all(groups)):
                found.append(number)
        return found


class _Words:
    """The words that files are searched for, and the rules that each may let pass."""

    def __init__(self, of_rules: Sequence[Sequence[bytes]], packages: Iterable[bytes]) -> None:
        numbers: dict[bytes, set[int]] = {package: set() for package in packages}
        for number, literals in enumerate(of_rules):
            for literal in literals:
                numbers.setdefault(literal, set()).add(number)
        self.always = frozenset(numbers.pop(b"", ()))
        self._literals = sorted(numbers)
        self.searched = frozenset(self._literals)
        self.concerned = {literal: frozenset(numbers[literal]) for literal in self._literals}
        self._automaton = BytesAhoCorasick(self._literals, implementation=Implementation.DFA)

    def places(self, data: bytes) -> dict[bytes, list[int]]:
        """Where the words stand, in other words too."""
        places: dict[int, list[int]] = {}
        for number, place, _ in self._automaton.find_matches_as_indexes(data, overlapping=True):
            if number in places:
                places[number].append(place)
            else:
                places[number] = [place]
        return {self._literals[number]: there for number, there in places.items()}


class _File:
    """The bytes of one file, and which identifiers stand in them."""

    def __init__(
        self, data: bytes, searched: frozenset[bytes], places: Mapping[bytes, Sequence[int]], *, notebook: bool
    ) -> None:
        self._data, self._searched, self._places, self._notebook = data, searched, places, notebook
        self._known: dict[bytes, list[int]] = {}
        self._programmed: dict[bytes, bool] = {b"": True}
        self._prose: list[tuple[int, int]] | None = None

    def names_all(self, groups: Sequence[Sequence[bytes]]) -> bool:
        """Whether an identifier of each group stands there: in a notebook, what looks like one from one side."""
        there = [self._there(group) for group in groups]
        if not all(there):
            return False
        return self._notebook or all(any(map(self._is_programmed, group)) for group in there)

    def _there(self, group: Sequence[bytes]) -> list[bytes]:
        """The identifiers of a group that stand there."""
        if len(group) > len(self._places):  # those that were searched for in vain need not be asked about one by one
            group = [each for each in group if each in self._places or each not in self._searched]
        return [each for each in group if not each or self._found(each)]

    def _found(self, identifier: bytes) -> list[int]:
        """Where an identifier stands."""
        if identifier not in self._known:
            searched = identifier in self._searched
            places = self._places.get(identifier, ()) if searched else _find(identifier, self._data)
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


@dataclass(slots=True)
class _Told:
    """What was answered for a file, with length and hash of its bytes."""

    length: int
    hash: int
    sure: list[int]
    """Numbers of rules."""
    others: list[int]
    """Of rules that it may concern, depending on what its project imports."""
    places: Mapping[bytes, Sequence[int]]
    """Where the words stand, if there are others."""
    held: dict[int, bool] = field(default_factory=dict)
    """Of others that were asked about, whether the file concerns them by its own words."""


@cache
def _told(rules: tuple[RuleInfo, ...]) -> dict[str, _Told]:
    """What the prefilter of these rules has answered last for the files that pass: they are asked about again when they
    are planned.
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


def packages_of(rules: Iterable[Rule | RuleInfo]) -> tuple[str, ...]:
    """The packages that some rules are about."""
    return tuple(sorted({name for rule in rules for name in rule.imports}))
