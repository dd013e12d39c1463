"""The requirements of pyproject.toml (PEP 621, PEP 735, setuptools, Poetry, PDM, uv, pixi), Pipfile and pixi.toml.

Every extra and every group is a condition. A group that another one includes (`include-group`) is read where it stands.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from packaging.utils import canonicalize_name

from codemods.model.edits import Skip
from codemods.sources.config import toml_nodes
from codemods.sources.config.values import Array, Scalar, Table, Value
from codemods.sources.config.values import Entry as Field
from codemods.sources.manifest import pip
from codemods.sources.manifest.requirement import (
    ADDRESSED,
    Entry,
    Include,
    Piece,
    Requirement,
    RequirementList,
    lines,
    python,
    quoted,
    requirement,
)
from codemods.sources.manifest.specifiers import Dialect

_OVERRIDES = ("tool.uv.override-dependencies", "tool.pdm.resolution.overrides")
_ADDRESSES = ("git", "url", "path", "file", "workspace")


def project(path: str, text: str) -> Iterator[Entry] | Skip:
    """pyproject.toml."""
    roots = toml_nodes.compose(path, text)
    return roots if isinstance(roots, Skip) else _overridden(_sourced(roots[0], _project(text, roots[0])))


def pipfile(path: str, text: str) -> Iterator[Entry] | Skip:
    """Pipfile."""
    roots = toml_nodes.compose(path, text)
    return roots if isinstance(roots, Skip) else _pipfile(text, roots[0])


def pixi(path: str, text: str) -> Iterator[Entry] | Skip:
    """pixi.toml."""
    roots = toml_nodes.compose(path, text)
    return roots if isinstance(roots, Skip) else _pixi(text, roots[0])


def _pixi(text: str, table: Value | None, place: str = "", condition: str = "") -> Iterator[Entry]:
    """What an environment of pixi asks for, of conda and of pip; its features are conditions."""
    if not isinstance(table, Table):
        return
    for key, dialect in (("dependencies", Dialect.CONDA), ("pypi-dependencies", Dialect.PIPENV)):
        yield from _pairs(text, table.get(key), RequirementList(f"{place}{key}", condition, dialect))
    for kind in ("feature", "target"):
        for entry in _entries(table.get(kind)):
            name = str(entry.key.value)
            yield from _pixi(text, entry.value, f"{place}{kind}.{name}.", f"{kind} {name}")


def _overridden(entries: Iterator[Entry]) -> Iterator[Entry]:
    """The entries, without the versions of packages for which uv or pdm is told another one."""
    found = [*entries]
    requirements = [each for each in found if isinstance(each, Requirement)]
    told = {each.package: each.place for each in requirements if each.place in _OVERRIDES}
    for each in found:
        if isinstance(each, Requirement) and each.package in told and each.place not in _OVERRIDES:
            each = replace(each, specs=("",), why_not=f"`{told[each.package]}` decides its version")
        yield each


def _sourced(root: Table, entries: Iterator[Entry]) -> Iterator[Entry]:
    """The entries, without the versions of packages that uv gets from an address."""
    addressed = {
        canonicalize_name(str(entry.key.value))
        for entry in _entries(root.get("tool", "uv", "sources"))
        if _addressed(entry.value)
    }
    for each in entries:
        if isinstance(each, Requirement) and each.package in addressed:
            each = replace(each, specs=None, why_not=ADDRESSED)
        yield each


def _project(text: str, root: Table) -> Iterator[Entry]:
    yield from _python(text, root.get("project", "requires-python"), "project.requires-python")
    yield from _strings(text, root.get("project", "dependencies"), RequirementList("project.dependencies"))
    yield from _groups(text, root, "extra", "project", "optional-dependencies")
    yield from _groups(text, root, "group", "dependency-groups")
    yield from _groups(text, root, "group", "tool", "pdm", "dev-dependencies")
    for key, condition in (("dev", "group dev"), ("constraint", ""), ("override", "")):
        site = RequirementList(f"tool.uv.{key}-dependencies", condition)
        yield from _strings(text, root.get("tool", "uv", f"{key}-dependencies"), site)
    overrides = RequirementList(_OVERRIDES[1], dialect=Dialect.POETRY)
    yield from _pairs(text, root.get("tool", "pdm", "resolution", "overrides"), overrides)
    dynamic = ("tool", "setuptools", "dynamic")
    yield from _files(root.get(*dynamic, "dependencies", "file"))
    for entry in _entries(root.get(*dynamic, "optional-dependencies")):
        files = entry.value.get("file") if isinstance(entry.value, Table) else None
        yield from _files(files, f"extra {entry.key.value}")
    yield from _pixi(text, root.get("tool", "pixi"), "tool.pixi.")
    poetry = RequirementList("tool.poetry.dependencies", dialect=Dialect.POETRY)
    yield from _pairs(text, root.get("tool", "poetry", "dependencies"), poetry)
    dev = replace(poetry, place="tool.poetry.dev-dependencies", condition="group dev")
    yield from _pairs(text, root.get("tool", "poetry", "dev-dependencies"), dev)
    for entry in _entries(root.get("tool", "poetry", "group")):
        if isinstance(entry.value, Table):
            name = entry.key.value
            site = replace(poetry, place=f"tool.poetry.group.{name}.dependencies", condition=f"group {name}")
            yield from _pairs(text, entry.value.get("dependencies"), site)


def _pipfile(text: str, root: Table) -> Iterator[Entry]:
    for entry in root.entries:
        section = str(entry.key.value)
        if section == "requires":
            for key in ("python_full_version", "python_version"):
                if isinstance(value := root.get("requires", key), Scalar) and isinstance(value.value, str):
                    piece = Piece(f"={value.value}", value.start, value.end, verbatim=False)
                    why_not = "it names one Python"
                    yield python(piece, RequirementList(f"requires.{key}", dialect=Dialect.PIPENV, why_not=why_not))
        elif section not in ("source", "scripts", "pipenv"):
            condition = "" if section == "packages" else f"group {section}"
            yield from _pairs(text, entry.value, RequirementList(section, condition, Dialect.PIPENV))


def _groups(text: str, root: Table, kind: str, *keys: str) -> Iterator[Entry]:
    for entry in _entries(root.get(*keys)):
        name = entry.key.value
        yield from _strings(text, entry.value, RequirementList(f"{'.'.join(keys)}.{name}", f"{kind} {name}"))


def _entries(value: Value | None) -> tuple[Field, ...]:
    return value.entries if isinstance(value, Table) else ()


def _strings(text: str, value: Value | None, site: RequirementList) -> Iterator[Entry]:
    for each in value.items if isinstance(value, Array) else (value,):
        if isinstance(each, Scalar) and isinstance(each.value, str):
            for line in lines(_piece(text, each)):
                yield from pip.item(line, site)


def _piece(text: str, value: Scalar) -> Piece:
    return quoted(text, value.start, value.end, len(value.style), str(value.value))


def _python(text: str, value: Value | None, place: str) -> Iterator[Entry]:
    if isinstance(value, Scalar) and isinstance(value.value, str):
        yield python(_piece(text, value), RequirementList(place))


def _files(value: Value | None, condition: str = "") -> Iterator[Include]:
    for each in value.items if isinstance(value, Array) else (value,):
        if isinstance(each, Scalar) and isinstance(each.value, str):
            yield Include(each.value, condition)


def _addressed(value: Value) -> bool:
    return isinstance(value, Table) and any(value.entry(key) for key in _ADDRESSES)


def _pairs(text: str, table: Value | None, site: RequirementList) -> Iterator[Entry]:
    """Name → constraint, as in Poetry and Pipenv: a string, a table with `version` or an address, or a list of them."""
    for entry in _entries(table):
        several = isinstance(entry.value, Array) and len(entry.value.items) > 1
        for option in entry.value.items if isinstance(entry.value, Array) else (entry.value,):
            whole = option if several else entry
            where = site.under("one of several constraints" if several else _condition(option))
            version = option.get("version") if isinstance(option, Table) else option
            name = str(entry.key.value)
            if isinstance(version, Scalar) and isinstance(version.value, str) and not _addressed(option):
                piece = _piece(text, version)
                item = (whole.start - piece.start, whole.end - piece.start)
                yield requirement(piece, where, name, item, (0, len(piece.text)))
            elif isinstance(option, Table) and not version and not _addressed(option):
                piece = Piece("", whole.start, whole.end, verbatim=False)
                yield requirement(piece, where, name, (0, 0), (0, 0), "no version is written there")
            else:
                yield requirement(Piece("", whole.start, whole.end, verbatim=False), where, name, (0, 0), None)


def _condition(option: Value) -> str:
    if isinstance(option, Table):
        for key in ("markers", "python", "platform"):
            if isinstance(value := option.get(key), Scalar):
                return str(value.value)
        if isinstance(value := option.get("optional"), Scalar) and value.value is True:
            return "an extra"
    return ""
