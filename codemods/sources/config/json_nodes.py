"""JSON as a tree with spans (RFC 8259, and the NaN and Infinity that Python's `json` writes and reads).

The standard library tells no positions, so this walks the text itself and leaves every string and number to `json`.
Comments and trailing commas are no JSON.
"""

from __future__ import annotations

import json
import re

from codemods.model.edits import Skip, SkipReason
from codemods.sources.config.values import DEEPEST, Array, Entry, Scalar, Table, Value

STRING = re.compile(r'"[^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*)*"')
_BARE = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?|true|false|null|NaN|-?Infinity")
_SPACE = re.compile(r"[ \t\r\n]*")


def compose(path: str, text: str) -> tuple[Value] | Skip:
    """The one value of the file. Strings span their quotation marks."""
    try:
        root = _value(text, _after_space(text, 0), 0)
        if (end := _after_space(text, root.end)) < len(text):
            raise _Refused(SkipReason.UNPARSABLE, "something follows the end of the document", end)
        return (root,)
    except _Refused as error:
        reason, detail, offset = error.args
        line = len(re.findall(r"\r\n|\n|\r", text[:offset])) + 1
        return Skip(path, reason, f"line {line}: {detail}")


class _Refused(Exception):
    """(reason, detail, offset)"""


def _after_space(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def _value(text: str, position: int, depth: int) -> Value:
    if depth > DEEPEST:
        raise _Refused(SkipReason.TOO_DEEP, f"nested deeper than {DEEPEST} levels", position)
    if text.startswith("{", position):
        return _table(text, position, depth)
    if text.startswith("[", position):
        return _array(text, position, depth)
    return _scalar(text, position)


def _scalar(text: str, position: int) -> Scalar:
    match = STRING.match(text, position) or _BARE.match(text, position)
    if not match:
        raise _Refused(SkipReason.UNPARSABLE, "no JSON value", position)
    try:
        value = json.loads(match[0])
    except ValueError as error:
        raise _Refused(SkipReason.UNPARSABLE, getattr(error, "msg", str(error)), position) from None
    return Scalar(position, match.end(), value, '"' if isinstance(value, str) else "")


def _table(text: str, start: int, depth: int) -> Table:
    entries: list[Entry] = []
    keys: set[object] = set()
    position = _after_space(text, start + 1)
    while not (text.startswith("}", position) and not entries):
        if not text.startswith('"', position):
            raise _Refused(SkipReason.UNPARSABLE, "no key in quotation marks", position)
        key = _scalar(text, position)
        if key.value in keys:
            raise _Refused(SkipReason.UNPARSABLE, f"the key {text[key.start : key.end]} again", position)
        keys.add(key.value)
        position = _after_space(text, key.end)
        if not text.startswith(":", position):
            raise _Refused(SkipReason.UNPARSABLE, "no colon after a key", position)
        value = _value(text, _after_space(text, position + 1), depth + 1)
        entries.append(Entry(key.start, value.end, key, value))
        position = _after_space(text, value.end)
        if not text.startswith(",", position):
            break
        position = _after_space(text, position + 1)
    if not text.startswith("}", position):
        raise _Refused(SkipReason.UNPARSABLE, "neither a comma nor the end of an object", position)
    return Table(start, position + 1, tuple(entries))


def _array(text: str, start: int, depth: int) -> Array:
    items: list[Value] = []
    position = _after_space(text, start + 1)
    while not (text.startswith("]", position) and not items):
        items.append(_value(text, position, depth + 1))
        position = _after_space(text, items[-1].end)
        if not text.startswith(",", position):
            break
        position = _after_space(text, position + 1)
    if not text.startswith("]", position):
        raise _Refused(SkipReason.UNPARSABLE, "neither a comma nor the end of an array", position)
    return Array(start, position + 1, tuple(items))
