"""YAML as a tree with spans: PyYAML's events, composed here because its own tree forgets where aliases stand.

Read by libyaml where PyYAML has it, which is five times as fast. Scalars have the values that `yaml.safe_load` gives
(YAML 1.1). Nothing is ever constructed from a tag of one's own.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

import yaml

from codemods.model.edits import Skip, SkipReason
from codemods.sources.config.values import (
    DEEPEST,
    Alias,
    Array,
    Entry,
    Key,
    Opaque,
    Scalar,
    Table,
    Value,
    followed,
)

LARGEST = 1_000_000
"""Characters; PyYAML without libyaml reads about 100,000 in a second."""
MOST = 100_000
"""Nodes that aliases may stand for in one file; more is called a bomb."""

_STANDARD = "tag:yaml.org,2002:"
_SCALARS = frozenset(_STANDARD + name for name in ("null", "bool", "int", "float", "binary", "timestamp", "str"))


def compose(path: str, text: str) -> tuple[Value, ...] | Skip:
    """One value for each document of the file."""
    if len(text) > LARGEST:
        return Skip(path, SkipReason.TOO_LARGE, f"{len(text):,} characters; YAML files above {LARGEST:,} are not read")
    if yaml.__with_libyaml__:
        with suppress(_Refused, yaml.YAMLError, UnicodeError):  # the sentence about what is wrong is PyYAML's own
            return _documents(text, yaml.CSafeLoader)
    try:
        return _documents(text, yaml.SafeLoader)
    except _Refused as error:
        reason, detail, offset = error.args
    except yaml.reader.ReaderError as error:
        reason, detail, offset = SkipReason.UNPARSABLE, f"character {error.character!r} is not allowed", error.position
    except yaml.MarkedYAMLError as error:
        detail = " ".join(part for part in (error.context, error.problem) if part)
        mark = error.problem_mark or error.context_mark
        reason, offset = SkipReason.UNPARSABLE, mark.index if mark else 0
    line = len(re.findall(r"\r\n|\n|\r", text[:offset])) + 1
    return Skip(path, reason, f"line {line}: {detail}")


def _documents(text: str, loader: type[yaml.SafeLoader] | type[yaml.CSafeLoader]) -> tuple[Value, ...]:
    roots = _Composer(text, loader(text)).documents()
    _measure(roots)
    return roots


class _Refused(Exception):
    """(reason, detail, offset)"""


class _Composer:
    def __init__(self, text: str, loader: yaml.SafeLoader | yaml.CSafeLoader) -> None:
        self.text, self.loader = text, loader
        self.anchors: dict[str, Scalar | Array | Table | Opaque | None] = {}
        self.targets: list[Value] = []
        """What aliases have led to so far."""

    def documents(self) -> tuple[Value, ...]:
        roots: list[Value] = []
        self.loader.get_event()  # the stream starts
        while not self.loader.check_event(yaml.StreamEndEvent):
            self.loader.get_event()  # a document starts
            self.anchors = {}
            roots.append(self.node(0))
            self.loader.get_event()  # and ends
        return tuple(roots)

    def node(self, depth: int) -> Value:
        event = self.loader.get_event()
        start = event.start_mark.index
        if depth > DEEPEST:
            raise _Refused(SkipReason.TOO_DEEP, f"nested deeper than {DEEPEST} levels", start)
        name = event.anchor
        if isinstance(event, yaml.AliasEvent):
            if name not in self.anchors:
                raise _Refused(SkipReason.UNPARSABLE, f"nothing is anchored as &{name}", start)
            if (target := self.anchors[name]) is None:
                raise _Refused(SkipReason.UNPARSABLE, f"*{name} stands inside of what it names", start)
            self.targets.append(target)
            return Alias(start, event.end_mark.index, target)
        if name is not None:
            if name in self.anchors:
                raise _Refused(SkipReason.UNPARSABLE, f"a second anchor &{name}", start)
            self.anchors[name] = None
            anchor = re.compile(r"&[^\s]+[ ]+").match(self.text, start)
            start = anchor.end() if anchor else start
        value: Scalar | Array | Table | Opaque
        if isinstance(event, yaml.ScalarEvent):
            value = self.scalar(event, start)
        elif isinstance(event, yaml.SequenceStartEvent):
            value = self.sequence(event, start, depth)
        else:
            value = self.mapping(event, start, depth)
        if name is not None:
            self.anchors[name] = value
        return value

    def scalar(self, event: Any, start: int) -> Scalar | Opaque:
        end = event.end_mark.index
        if event.style in ("|", ">"):
            end = start + len(self.text[start:end].rstrip())
        tag = event.tag
        if tag is None or tag == "!":
            tag = self.loader.resolve(yaml.ScalarNode, event.value, event.implicit)
        if tag not in _SCALARS:
            return Opaque(start, end, self.text[start:end])
        node = yaml.ScalarNode(tag, event.value, event.start_mark, event.end_mark)
        try:
            value = self.loader.yaml_constructors[tag](self.loader, node)
        except (ValueError, KeyError, IndexError, OverflowError):
            kind = tag.removeprefix(_STANDARD)
            raise _Refused(SkipReason.UNPARSABLE, f"{event.value!r} is no {kind}", start) from None
        return Scalar(start, end, value, event.style or "")

    def sequence(self, event: Any, start: int, depth: int) -> Array | Opaque:
        items, seen = [], len(self.targets)
        while not self.loader.check_event(yaml.SequenceEndEvent):
            items.append(self.node(depth + 1))
        last = self.loader.get_event()
        flow = bool(event.flow_style)
        end = last.end_mark.index if flow or not items else items[-1].end
        if event.tag not in (None, "!", _STANDARD + "seq"):
            return Opaque(start, end, self.text[start:end], tuple(self.targets[seen:]))
        return Array(start, end, tuple(items), flow)

    def mapping(self, event: Any, start: int, depth: int) -> Table | Opaque:
        known = event.tag in (None, "!", _STANDARD + "map")
        entries: list[Entry] = []
        keys: set[object] = set()
        end, seen = start, len(self.targets)
        while not self.loader.check_event(yaml.MappingEndEvent):
            merging = self.merging()
            key = self.node(depth + 1)
            value = self.node(depth + 1)
            end = max(key.end, value.end)
            if not known:
                continue
            key = self.key(key, merging)
            if key.value in keys:
                raise _Refused(SkipReason.UNPARSABLE, f"the key {self.text[key.start : key.end]} again", key.start)
            keys.add(key.value)
            if merging and not _mergeable(value):
                raise _Refused(SkipReason.UNPARSABLE, "only mappings can be merged", value.start)
            entries.append(Entry(key.start, end, key, value))
        last = self.loader.get_event()
        flow = bool(event.flow_style)
        if flow and self.text[last.start_mark.index : last.end_mark.index] == "}":
            end = last.end_mark.index
        if not known:
            return Opaque(start, end, self.text[start:end], tuple(self.targets[seen:]))
        return Table(start, end, tuple(entries), flow)

    def merging(self) -> bool:
        """Whether the key that comes next is YAML's merge key."""
        event = self.loader.peek_event()
        return (
            isinstance(event, yaml.ScalarEvent)
            and self.loader.resolve(yaml.ScalarNode, event.value, event.implicit) == _STANDARD + "merge"
            and event.tag in (None, _STANDARD + "merge")
        )

    def key(self, key: Value, merging: bool) -> Scalar:
        if merging:
            return Scalar(key.start, key.end, Key.MERGE)
        found = followed(key)
        if not isinstance(found, Scalar):
            template = " (is this a template?)" if re.search(r"\{[{%]", self.text) else ""
            raise _Refused(SkipReason.UNPARSABLE, f"a key that is no scalar{template}", key.start)
        return found if found is key else Scalar(key.start, key.end, found.value)


def _mergeable(value: Value) -> bool:
    value = followed(value)
    tables = value.items if isinstance(value, Array) else (value,)
    return all(isinstance(followed(table), Table) for table in tables)


def _measure(roots: tuple[Value, ...]) -> None:
    """Refuse files whose aliases, written out, would be too many or too deep. In order, so that targets come first."""
    sizes: dict[Value, tuple[int, int]] = {}
    aliased = 0

    def measure(value: Value) -> tuple[int, int]:
        nonlocal aliased
        if isinstance(value, Alias):
            nodes, height = sizes.get(value.target, (1, 1))
            aliased += nodes
            if aliased > MOST:
                raise _Refused(SkipReason.TOO_DEEP, f"aliases stand for more than {MOST:,} values", value.start)
            return nodes, height
        children: tuple[Value, ...] = ()
        if isinstance(value, Array):
            children = value.items
        elif isinstance(value, Table):
            children = tuple(entry.value for entry in value.entries)
        nodes, height = 1, 1
        for child in children:
            below = measure(child)
            nodes, height = nodes + below[0], max(height, below[1] + 1)
        if height > DEEPEST + 1:
            raise _Refused(SkipReason.TOO_DEEP, f"nested deeper than {DEEPEST} levels by aliases", value.start)
        if children:
            sizes[value] = nodes, height
        return nodes, height

    for root in roots:
        measure(root)
