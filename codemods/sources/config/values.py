"""What a configuration file says, as a tree with spans: YAML, JSON and TOML alike.

Offsets are 0-based character offsets into the file's text. Nodes are compared by identity, because a fix maps the node
that stands here, not one that looks like it.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

DEEPEST = 100
"""Levels of nesting (aliases followed); files nested deeper are skipped."""


class Key(enum.Enum):
    """Keys that are no data."""

    MERGE = "<<"
    """YAML's merge key: what it leads to holds wherever the table itself is silent."""


@dataclass(frozen=True, slots=True, eq=False)
class Scalar:
    """A string, number, boolean, null or date."""

    KIND: ClassVar[str] = "config"
    start: int
    end: int
    value: Any
    style: str = ""
    """The quotation mark, or YAML's `|` or `>`; empty for bare text."""


@dataclass(frozen=True, slots=True, eq=False)
class Array:
    KIND: ClassVar[str] = "config"
    start: int
    end: int
    items: tuple[Value, ...]
    flow: bool = True
    """Written between brackets, not as lines."""


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """A key with its value. In TOML also a `[table]`, which starts at its header, and each part of a dotted key."""

    KIND: ClassVar[str] = "config"
    start: int
    end: int
    key: Scalar
    value: Value


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    KIND: ClassVar[str] = "config"
    start: int
    end: int
    entries: tuple[Entry, ...]
    flow: bool = True
    """Written between braces, not as lines."""

    def entry(self, key: object) -> Entry | None:
        """The entry of this key, its own or one merged in."""
        for entry in self.entries:
            if _equal(entry.key.value, key):
                return entry
        for table in self.merged():
            if (found := table.entry(key)) is not None:
                return found
        return None

    def get(self, *keys: object) -> Value | None:
        """What stands at the end of the way down `keys`, aliases followed; None where there is no such way."""
        value: Value = self
        for key in keys:
            if not isinstance(value, Table) or (entry := value.entry(key)) is None:
                return None
            value = followed(entry.value)
        return value

    def merged(self) -> Iterator[Table]:
        """The tables that YAML merge keys lead to, the one that counts first."""
        for entry in self.entries:
            if entry.key.value is Key.MERGE:
                value = followed(entry.value)
                for table in value.items if isinstance(value, Array) else (value,):
                    if isinstance(table := followed(table), Table):
                        yield table


@dataclass(frozen=True, slots=True, eq=False)
class Alias:
    """`*name` in YAML: what an anchor names stands here too."""

    KIND: ClassVar[str] = "config"
    start: int
    end: int
    target: Scalar | Array | Table | Opaque


@dataclass(frozen=True, slots=True, eq=False)
class Opaque:
    """Something whose value only another program knows, such as what a YAML tag of one's own builds. Never opened."""

    KIND: ClassVar[str] = "config"
    start: int
    end: int
    text: str
    targets: tuple[Value, ...] = ()
    """What the aliases in it lead to."""


Value: TypeAlias = Scalar | Array | Table | Alias | Opaque


@dataclass(frozen=True, slots=True)
class OpaqueValue:
    """The value of something opaque, as plain data: equal where it is written alike."""

    text: str


@dataclass(frozen=True, slots=True)
class Pair:
    """A key and plain data, to be written as an entry."""

    key: str
    value: Any


def followed(value: Value) -> Scalar | Array | Table | Opaque:
    """The value, or where it is an alias, what that stands for."""
    return value.target if isinstance(value, Alias) else value


def plain(value: Value, changed: Mapping[Value | Entry, object] | None = None) -> Any:
    """The value as Python data, as the format's usual loader gives it.

    Args:
        changed: what to read instead of some nodes: data for a value; for an entry the pairs (or entries) it becomes.
    """
    changed = changed or {}
    if value in changed:
        return changed[value]
    value = followed(value)
    if isinstance(value, Scalar):
        return value.value
    if isinstance(value, Opaque):
        return OpaqueValue(value.text)
    if isinstance(value, Array):
        return [plain(item, changed) for item in value.items]
    data: dict[Any, Any] = {}
    for entry in value.entries:
        become: Any = changed.get(entry, (entry,))
        for each in become:
            if isinstance(each, Pair):
                data[each.key] = each.value
            elif each.key.value is not Key.MERGE:
                data[each.key.value] = plain(each.value, changed)
    for table in value.merged():
        for key, item in plain(table, changed).items():
            data.setdefault(key, item)
    return data


def same(one: object, other: object) -> bool:
    """Whether two pieces of plain data are equal, types included: 1 is not 1.0 and not True; nan is nan."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict) and isinstance(other, dict):
        return len(one) == len(other) and all(
            same(*keys) and same(one[keys[0]], other[keys[1]])
            for keys in zip(_sorted(one), _sorted(other), strict=True)
        )
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(same(*items) for items in zip(one, other, strict=True))
    if isinstance(one, float):
        return repr(one) == repr(other)
    return one == other


def _sorted(data: dict[Any, Any]) -> list[Any]:
    return sorted(data, key=lambda key: (type(key).__name__, repr(key)))


def _equal(one: object, other: object) -> bool:
    return type(one) is type(other) and one == other
