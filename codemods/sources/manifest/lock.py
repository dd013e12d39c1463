"""Lock files: what a resolver has settled on. Read for versions, never edited; each entry names its own command."""

from __future__ import annotations

import json
import posixpath
import re
import sys
from collections.abc import Iterator
from typing import Any

from packaging.utils import canonicalize_name

from codemods.sources.manifest.requirement import Requirement
from codemods.sources.manifest.specifiers import Dialect, alternatives

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found, unused-ignore]

_REFRESH = {
    "uv.lock": "uv lock --upgrade-package {}",
    "poetry.lock": "poetry update {}",
    "pdm.lock": "pdm update {}",
    "Pipfile.lock": "pipenv update {}",
}
_TOML_ENTRY = re.compile(
    r"""^name[ \t]*=[ \t]*["']([^"'\r\n]+)["'][ \t]*(?:\r?\nversion[ \t]*=[ \t]*["'][^"'\r\n]*["'])?""", re.MULTILINE
)
_JSON_ENTRY = re.compile(r'"([^"\\\r\n]+)"\s*:\s*\{')


def tables(path: str, text: str) -> Iterator[Requirement]:
    """`[[package]]` tables with a name and a version: uv, Poetry and PDM alike; `[[packages]]` in pylock.toml.

    Raises:
        ValueError: if it is not TOML.
    """
    document = tomllib.loads(text)
    packages = [*_items(document.get("package")), *_items(document.get("packages"))]
    named = [(name, each.get("version")) for each in packages if isinstance(name := _table(each).get("name"), str)]
    yield from _located(path, text, named, _TOML_ENTRY)


def pipfile(path: str, text: str) -> Iterator[Requirement]:
    """Pipfile.lock.

    Raises:
        ValueError: if it is not JSON.
    """
    document = _table(json.loads(text))
    sections = [_table(document.get(section)) for section in ("default", "develop")]
    named = [(name, _table(each).get("version")) for section in sections for name, each in section.items()]
    yield from _located(path, text, named, _JSON_ENTRY)


def _located(path: str, text: str, named: list[tuple[str, Any]], pattern: re.Pattern[str]) -> Iterator[Requirement]:
    """What a file has settled on, the nth entry of a name at the nth place that looks like one."""
    places: dict[str, list[tuple[int, int]]] = {}
    for match in pattern.finditer(text):
        places.setdefault(match[1], []).append(match.span())
    for name, version in named:
        left = places.get(name)
        start, end = left.pop(0) if left else (0, 0)
        written = f"=={str(version).removeprefix('==')}" if isinstance(version, str) else ""
        yield Requirement(
            start,
            end,
            package=canonicalize_name(name),
            specs=alternatives(written) if written else None,
            written=written,
            constraint=(end, end),
            dialect=Dialect.PIP,
            locked=True,
            why_not=_refreshed(path, name),
        )


def _refreshed(path: str, name: str) -> str:
    command = _REFRESH.get(posixpath.basename(path))
    if command is None:
        return f"{path} is a lock file; the tool that wrote it refreshes it"
    return f"{path} is a lock file; `{command.format(name)}` refreshes it"


def _table(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _items(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
