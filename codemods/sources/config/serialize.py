"""Plain data as the text of a configuration file, in the manner of the file around it.

Bare YAML text is written only where YAML 1.1 (PyYAML), YAML 1.2 and OmegaConf all read it as the value that is meant.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

import yaml

from codemods.sources.config.values import Pair


class Unwritable(ValueError):
    """The data cannot be written in this format; `json` raises its own ValueError."""


@dataclass(frozen=True, slots=True)
class Manner:
    """How a file writes, near some place."""

    format: str
    quote: str = ""
    """The quotation mark of strings; empty: bare, where that is possible."""
    key_quote: str = ""
    colon: str = ": "
    """Between a key and its value."""
    comma: str = ", "
    """Between entries on one line."""
    step: str = "  "
    """One level of indentation."""
    dash: str = "  "
    """Before the items of a YAML list that is a value."""
    eol: str = "\n"
    case: str = "true"
    """A boolean of the file, for its capitals."""
    ascii: bool = False
    """Nothing but ASCII in the file."""


def scalar(value: object, manner: Manner, quote: str | None = None, *, flow: bool = True) -> str:
    """A single value. `quote`, where given, is used rather than the file's usual one, if it can hold the value."""
    quote = manner.quote if quote is None else quote
    if manner.format == "json":
        return json.dumps(value, ensure_ascii=manner.ascii, allow_nan=False)
    if isinstance(value, str):
        return _yaml_string(value, quote, flow) if manner.format == "yaml" else _toml_string(value, quote)
    if isinstance(value, bool):
        word = str(value).lower()
        if manner.format == "toml" or manner.case.islower():
            return word
        return word.upper() if manner.case.isupper() else word.title()
    if value is None and manner.format == "yaml":
        return "null"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _float(value, manner.format)
    raise Unwritable(type(value).__name__)


def inline(value: object, manner: Manner, quote: str | None = None, *, flow: bool = True) -> str:
    """Any value, on one line."""
    if isinstance(value, dict):
        inner = manner.comma.join(pair(Pair(key, item), manner) for key, item in value.items())
        return f"{{ {inner} }}" if inner and manner.format == "toml" else f"{{{inner}}}"
    if isinstance(value, list):
        return f"[{manner.comma.join(inline(item, manner) for item in value)}]"
    return scalar(value, manner, quote, flow=flow)


def key(name: object, manner: Manner, *, flow: bool = True) -> str:
    if not isinstance(name, str):
        raise Unwritable("a key that is no string")
    if manner.format == "toml" and not manner.key_quote and re.fullmatch(r"[A-Za-z0-9_-]+", name):
        return name
    return scalar(name, manner, manner.key_quote, flow=flow)


def pair(new: Pair, manner: Manner, *, flow: bool = True) -> str:
    """`key: value` on one line."""
    return key(new.key, manner, flow=flow) + manner.colon + inline(new.value, manner, flow=flow)


def lines(new: Pair, manner: Manner) -> list[str]:
    """`key: value` as lines, for a YAML or TOML file's block style; what is nested is indented."""
    value = new.value
    if manner.format == "toml" or not value or not isinstance(value, (dict, list)):
        return [pair(new, manner, flow=False)]
    head = key(new.key, manner, flow=False) + ":"
    if isinstance(value, list):
        return [head, *(f"{manner.dash}- {inline(item, manner, flow=_nested(item))}" for item in value)]
    return [head, *(manner.step + line for name, item in value.items() for line in lines(Pair(name, item), manner))]


def spread(value: object, manner: Manner, indent: str) -> str:
    """A JSON value over several lines, as `json.dump(indent=…)` does; `indent` is that of the line it starts on."""
    if not value or not isinstance(value, (dict, list)):
        return inline(value, manner)
    deeper = indent + manner.step
    if isinstance(value, dict):
        items = [key(k, manner) + manner.colon + spread(v, manner, deeper) for k, v in value.items()]
    else:
        items = [spread(item, manner, deeper) for item in value]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    inner = f",{manner.eol}{deeper}".join(items)
    return f"{opening}{manner.eol}{deeper}{inner}{manner.eol}{indent}{closing}"


def _nested(value: object) -> bool:
    return isinstance(value, (dict, list))


def _float(value: float, format: str) -> str:
    word = repr(value)
    if format == "toml":
        return word
    if word in ("inf", "-inf", "nan"):
        return word.replace("inf", ".inf").replace("nan", ".nan")
    mantissa, e, exponent = word.partition("e")
    return f"{mantissa}{'' if '.' in mantissa or not e else '.0'}{e}{exponent}"


_BARE = re.compile(r"[\w./$(<](?:[^\s:#]|:(?=[^\s:])|(?<=[^\s])#| (?=[^\s#]))*")
"""Text that needs no quotation marks in a YAML block by its characters alone."""
_NUMBER = re.compile(r"[-+]?[.0-9_](?:[0-9a-fA-FxXoO_.,:+-]*|inf|nan)", re.IGNORECASE)
"""Text that some reader might take for a number, a time or a date."""
_RESOLVER = yaml.resolver.Resolver()
_WORDS = frozenset(("", "~", "=", "<<", "null", "true", "false", "yes", "no", "on", "off", "y", "n", "none"))
"""Words (in any case) that some reader takes for something else."""


def is_bare(value: str, *, flow: bool) -> bool:
    """Whether every reader of YAML takes `value`, without quotation marks, for this string."""
    if not value.isprintable() or not _BARE.fullmatch(value) or value.endswith(":"):
        return False
    if flow and re.search(r"[\[\]{},:?]", value):
        return False
    if value.lower() in _WORDS or _NUMBER.fullmatch(value):
        return False
    tag: str = _RESOLVER.resolve(yaml.ScalarNode, value, (True, False))
    return tag == "tag:yaml.org,2002:str"


def _yaml_string(value: str, quote: str, flow: bool) -> str:
    if not quote and is_bare(value, flow=flow):
        return value
    if quote == "'" and value.isprintable():
        doubled = value.replace("'", "''")
        return f"'{doubled}'"
    return '"' + "".join(map(_escaped, value)) + '"'


_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable():
        return character
    code = ord(character)
    if 0xD800 <= code < 0xE000:
        raise Unwritable("half of a surrogate pair")
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _toml_string(value: str, quote: str) -> str:
    if quote == "'" and value.isprintable() and "'" not in value:
        return f"'{value}'"
    return '"' + "".join(map(_escaped, value)) + '"'


def refused(value: Any) -> bool:
    """Whether `value` is nothing that a rule could mean."""
    if isinstance(value, dict):
        return any(not isinstance(k, str) or refused(v) for k, v in value.items())
    if isinstance(value, list):
        return any(map(refused, value))
    return not isinstance(value, (str, int, float, bool, type(None)))
