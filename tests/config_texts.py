"""Configuration files made by hypothesis: data, and one of the many texts that mean it.

YAML is written by PyYAML's own emitter with styles chosen at random, JSON by `json.dumps`; TOML by the small writer
below. Comments, blank lines and other line ends are added where the usual reader goes on reading the same.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from random import Random
from typing import Any

import yaml
from hypothesis import strategies as st

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

WORDS = ("fp16", "true", "16", "16-mixed", "1e-5", "yes", "n", "null", "~", "0x1f", "1_000", "12:30:45", "2001-01-01")
ODD = (
    "",
    " ",
    "a b",
    "a: b",
    "a #b",
    "#",
    "it's",
    '"',
    "\\",
    "é",
    "😀",
    "a\nb",
    "\t",
    "\x85",
    "\u2028",
    "- a",
    "<<",
    "=",
    "{a}",
    "[",
)
strings = st.sampled_from(WORDS + ODD) | st.text("ab:#-'\"{}[],& *!|>%@`=\\\n.01éŁ😀", max_size=6)
keys = st.sampled_from(("a", "b", "trainer", "precision", "two words", "16", "true", "é", "x.y", "it's")) | st.text(
    "abc", min_size=1, max_size=3
)
numbers = (
    st.integers(-(10**12), 10**12)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from((1e-05, 1e16, 0.0, -0.0, 1e22))
)
singles = strings | numbers | st.booleans()


def data(leaves: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """A table of anything."""
    inner = st.recursive(
        leaves, lambda below: st.lists(below, max_size=3) | st.dictionaries(keys, below, max_size=3), max_leaves=8
    )
    return st.dictionaries(keys, inner, min_size=1, max_size=4)


def load(format: str, text: str) -> Any:
    """What a reader that is not ours makes of a text."""
    if format == "yaml":
        return yaml.safe_load(text)
    return json.loads(text) if format == "json" else tomllib.loads(text)


def write(format: str, value: Any, chance: Random) -> str:
    """One of the texts that mean `value`."""
    text = {"yaml": _yaml, "json": _json, "toml": _toml}[format](value, chance)
    return text if format == "json" else _decorated(format, text, chance)


def _json(value: Any, chance: Random) -> str:
    indent = chance.choice((None, 2, 4, "\t", 0))
    separators = chance.choice(((", ", ": "), (",", ":"), (" , ", " : ")))
    text = json.dumps(value, ensure_ascii=chance.random() < 0.5, indent=indent, separators=separators)
    if "\n" in text and chance.random() < 0.3:
        text = text.replace("\n", "\r\n")
    return chance.choice(("", "\n", " ")) + text + chance.choice(("", "\n"))


def _yaml(value: Any, chance: Random) -> str:
    indent, width = chance.choice((2, 4)), chance.choice((20, 80, 10_000))
    options: dict[str, Any] = {"indent": indent, "width": width, "allow_unicode": chance.random() < 0.5}
    options["line_break"] = chance.choice(("\n", "\r\n"))
    opening = [yaml.StreamStartEvent(), yaml.DocumentStartEvent(explicit=chance.random() < 0.2)]
    closing = [yaml.DocumentEndEvent(explicit=False), yaml.StreamEndEvent()]
    return str(yaml.emit([*opening, *_events(value, chance, block=True), *closing], Dumper=yaml.SafeDumper, **options))


def _events(value: Any, chance: Random, *, block: bool) -> Iterator[yaml.Event]:
    flow = not block or chance.random() < 0.25
    if isinstance(value, dict):
        yield yaml.MappingStartEvent(None, None, True, flow_style=flow)
        for name, item in value.items():
            yield from _events(name, chance, block=False)
            yield from _events(item, chance, block=not flow)
        yield yaml.MappingEndEvent()
    elif isinstance(value, list):
        yield yaml.SequenceStartEvent(None, None, True, flow_style=flow)
        for item in value:
            yield from _events(item, chance, block=not flow)
        yield yaml.SequenceEndEvent()
    else:
        node = yaml.SafeDumper(sys.stdout).represent_data(value)
        if isinstance(value, str) and not value.replace("\n", "").replace("\t", "").isprintable():
            yield yaml.ScalarEvent(None, None, (False, True), value, style='"')  # the emitter gets other styles wrong
            return
        bare = yaml.resolver.Resolver().resolve(yaml.ScalarNode, node.value, (True, False)) == node.tag
        styles = ["'", '"', "|", ">"] if isinstance(value, str) else []
        style = chance.choice([*styles, None, None] if bare else styles)
        anchor = chance.choice((None,) * 9 + ("named",)) if block else None
        if anchor:
            anchor += str(chance.randrange(10**9))
        yield yaml.ScalarEvent(anchor, None, (bare, True), node.value, style=style)


def _toml(value: dict[str, Any], chance: Random) -> str:
    return "".join(_toml_table(value, (), chance))


def _toml_table(table: dict[str, Any], way: tuple[str, ...], chance: Random) -> Iterator[str]:
    later = {}
    for name, item in table.items():
        tables = item if isinstance(item, list) else [item]
        if tables and all(isinstance(each, dict) for each in tables) and chance.random() < 0.6:
            later[name] = item
        elif isinstance(item, dict) and item and chance.random() < 0.5:
            for inner, below in item.items():
                yield f"{_toml_key(name, chance)}.{_toml_key(inner, chance)} = {_toml_value(below, chance)}\n"
        else:
            equals = chance.choice((" = ", "=", "  = "))
            yield f"{chance.choice(('', '', '  '))}{_toml_key(name, chance)}{equals}{_toml_value(item, chance)}\n"
    for name, item in later.items():
        header = ".".join(_toml_key(each, chance) for each in (*way, name))
        for each in item if isinstance(item, list) else [item]:
            nested = bool(each) and all(isinstance(i, dict) for i in each.values()) and isinstance(item, dict)
            below = list(_toml_table(each, (*way, name), chance))
            if not (nested and below[0].startswith("[") and chance.random() < 0.5):
                yield f"[[{header}]]\n" if isinstance(item, list) else f"[{header}]\n"
            yield from below


def _toml_key(name: str, chance: Random) -> str:
    bare = name.isascii() and name.replace("_", "").isalnum()
    return name if bare and chance.random() < 0.9 else json.dumps(name, ensure_ascii=False)


def _toml_value(value: Any, chance: Random) -> str:
    if isinstance(value, dict):
        inner = ", ".join(f"{_toml_key(k, chance)} = {_toml_value(v, chance)}" for k, v in value.items())
        return f"{{ {inner} }}" if chance.random() < 0.5 else f"{{{inner}}}"
    if isinstance(value, list):
        gap = chance.choice((", ", ",\n    ", " , # note\n"))
        inner = gap.join(_toml_value(item, chance) for item in value)
        return (
            f"[{inner}]" if chance.random() < 0.5 else f"[\n{inner}{chance.choice((',', ''))}\n]".replace("[\n,", "[\n")
        )
    if isinstance(value, str):
        if "'" not in value and value.isprintable() and chance.random() < 0.3:
            return f"'{value}'"
        if chance.random() < 0.2:
            return '"""\n' + json.dumps(value, ensure_ascii=False)[1:-1].replace("\\n", "\n") + '"""'
        return json.dumps(value, ensure_ascii=False)
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _decorated(format: str, text: str, chance: Random) -> str:
    """With comments and blank lines wherever they change nothing."""
    try:
        meaning = load(format, text)
    except ValueError:
        return text
    for _ in range(chance.randrange(6)):
        lines = text.splitlines(keepends=True) or [""]
        at = chance.randrange(len(lines))
        body = lines[at].rstrip("\r\n")
        end = lines[at][len(body) :]
        if chance.random() < 0.5:
            lines[at] = f"{body}  # {chance.choice(('note', 'it: x', '- a'))}{end}"
        else:
            lines.insert(at, chance.choice(("# above", "   # deep", "")) + (end or "\n"))
        text = _unless(format, meaning, text, "".join(lines))
    if chance.random() < 0.3:
        text = _unless(format, meaning, text, text.replace("\r\n", "\n").replace("\n", "\r\n"))
    return _unless(format, meaning, text, text.rstrip("\r\n")) if chance.random() < 0.3 else text


def _unless(format: str, meaning: Any, text: str, changed: str) -> str:
    """The changed text, unless that means something else."""
    try:
        return changed if load(format, changed) == meaning else text
    except (ValueError, yaml.YAMLError):
        return text
