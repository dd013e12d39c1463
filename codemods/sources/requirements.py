"""Packaging files, read for the versions they ask for: text in, mentions out. Nothing is executed or looked up."""

from __future__ import annotations

import ast
import codecs
import configparser
import json
import posixpath
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from packaging.utils import canonicalize_name

from codemods.sources.mentions import PACKAGES, Include, Mention, alternatives, conda, requirement

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found, unused-ignore]

LARGEST = 16_000_000
"""Bytes; a larger packaging file counts as silent."""

Entries = Iterator[Mention | Include]


@dataclass(frozen=True, slots=True)
class Reading:
    """What one packaging file says."""

    mentions: tuple[Mention, ...] = ()
    includes: tuple[Include, ...] = ()
    note: str = ""
    """Why a file counts as silent: one sentence."""


_LOCKS = ("uv.lock", "poetry.lock", "pdm.lock", "pylock.toml", "Pipfile.lock")
_CONDA = ("environment.yml", "environment.yaml", "conda.yml", "conda.yaml")
_KINDS = ("train", "training", "gpu", "cpu", "cuda", "base", "core", "full", "all", "extra", "extras", "optional")
_AROUND = ("dev", "test", "tests", "ci")

FILES = (
    *("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile", *_CONDA, *_LOCKS, "requirements.in"),
    *(f"requirements{joint}{kind}.txt" for joint in "-_" for kind in (*_KINDS, *_AROUND)),
    *(f"requirements/{kind}.txt" for kind in ("requirements", "main", "runtime", "prod", *_KINDS, *_AROUND)),
)
"""The files that are looked for in a directory, by their usual names."""


def read(path: str, data: bytes) -> Reading:
    """What the packaging file says about `PACKAGES`; a file that cannot be read says nothing, and the note says why.

    The format follows from the file's name; a name that is none of `FILES` is read as a requirements file.
    """
    if len(data) > LARGEST:
        return Reading(note=f"{path}: {len(data):,} bytes; packaging files above {LARGEST:,} bytes are not read")
    try:
        entries = tuple(_reader(posixpath.basename(path))(path, _text(data).replace("\r\n", "\n")))
    except (ValueError, SyntaxError, RecursionError, MemoryError, configparser.Error) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        return Reading(note=f"{path}: its versions cannot be read: {reason}")
    return Reading(
        tuple(entry for entry in entries if isinstance(entry, Mention)),
        tuple(entry for entry in entries if isinstance(entry, Include)),
    )


def _reader(name: str) -> Callable[[str, str], Entries]:
    formats: dict[str, Callable[[str, str], Entries]] = {
        "pyproject.toml": _pyproject,
        "setup.py": _setup_py,
        "setup.cfg": _setup_cfg,
        "Pipfile": _pipfile,
        "Pipfile.lock": _pipfile_lock,
        **dict.fromkeys(_CONDA, _environment),
        **dict.fromkeys(("uv.lock", "poetry.lock", "pdm.lock", "pylock.toml"), _lock),
    }
    return formats.get(name, _requirements)


def _text(data: bytes) -> str:
    """Names and versions are ASCII, so that any encoding that contains it will do; PowerShell writes UTF-16."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _requirements(path: str, text: str) -> Entries:
    words = re.split(r"[-_.]", posixpath.basename(path))
    condition = next((f"{word} requirements" for word in words if word in _AROUND), "")
    for line in re.sub(r"\\\n", " ", text).splitlines():
        yield from requirement(line, path, condition)


def _environment(path: str, text: str) -> Entries:
    """The `dependencies:` list and its nested `pip:` list, one `- item` per line; anything else is passed over."""
    inside, pip = False, -1
    for line in text.splitlines():
        bare = re.sub(r"(^|\s)#.*", "", line).rstrip()
        item = re.fullmatch(r"( *)-\s+(.*)", bare)
        if not item:
            inside = bare.replace(" ", "") == "dependencies:" if re.match(r"[^\s#-]", bare) else inside
            continue
        if not inside:
            continue
        indent, value = len(item[1]), item[2].strip().strip("'\"")
        if pip < 0 or indent <= pip:
            pip = indent if value == "pip:" else -1
            yield from conda(value, path)
        else:
            yield from requirement(value, path)


def _pyproject(path: str, text: str) -> Entries:
    document = tomllib.loads(text)
    project = _table(document, "project")
    yield from _python(path, project.get("requires-python"))
    yield from _each(path, project.get("dependencies"))
    for kind, groups in (
        ("extra", _table(project, "optional-dependencies")),
        ("group", _table(document, "dependency-groups")),
        ("group", _table(document, "tool", "pdm", "dev-dependencies")),
    ):
        for name, lines in groups.items():
            yield from _each(path, lines, f"{kind} {name}")
    uv = _table(document, "tool", "uv")
    yield from _each(path, uv.get("dev-dependencies"), "group dev")
    yield from _each(path, uv.get("constraint-dependencies"))
    yield from _each(path, uv.get("override-dependencies"))
    dynamic = _table(document, "tool", "setuptools", "dynamic")
    yield from _files(_table(dynamic, "dependencies").get("file"))
    for name in _table(dynamic, "optional-dependencies"):
        yield from _files(_table(dynamic, "optional-dependencies", name).get("file"), f"extra {name}")
    poetry = _table(document, "tool", "poetry")
    yield from _pairs(path, _table(poetry, "dependencies"))
    yield from _pairs(path, _table(poetry, "dev-dependencies"), "group dev")
    for name in _table(poetry, "group"):
        yield from _pairs(path, _table(poetry, "group", name, "dependencies"), f"group {name}")


def _pipfile(path: str, text: str) -> Entries:
    document = tomllib.loads(text)
    required = _table(document, "requires")
    for key in ("python_full_version", "python_version"):
        if isinstance(version := required.get(key), str):
            yield Mention("python", alternatives(f"={version}"), path)
    for section in document.keys() - {"requires", "source", "scripts", "pipenv"}:
        yield from _pairs(path, _table(document, section), "" if section == "packages" else f"group {section}")


def _pipfile_lock(path: str, text: str) -> Entries:
    document = json.loads(text)
    for section in ("default", "develop"):
        for mention in _pairs(path, _table(document, section)):
            yield Mention(mention.package, mention.specs, path, locked=True)


def _lock(path: str, text: str) -> Entries:
    """`[[package]]` tables with a name and a version: uv, Poetry and PDM alike; `[[packages]]` in pylock.toml."""
    document = tomllib.loads(text)
    for package in [*_items(document.get("package")), *_items(document.get("packages"))]:
        name = canonicalize_name(str(_table(package).get("name")))
        if name in PACKAGES:
            version = _table(package).get("version")
            specs = alternatives(f"=={version}") if isinstance(version, str) else None
            yield Mention(name, specs, path, locked=True)


def _setup_cfg(path: str, text: str) -> Entries:
    parser = configparser.RawConfigParser(strict=False)
    parser.read_string(text)
    sections = {name: dict(parser.items(name)) for name in parser.sections()}
    options = sections.get("options", {})
    yield from _python(path, options.get("python_requires"))
    required = {"": options.get("install_requires") or ""}
    extras = {f"extra {name}": lines or "" for name, lines in sections.get("options.extras_require", {}).items()}
    for condition, lines in {**required, **extras}.items():
        if lines.startswith("file:"):
            yield from _files(re.split(r"[,\s]+", lines.removeprefix("file:").strip()), condition)
        else:
            yield from _each(path, lines, condition)


def _setup_py(path: str, text: str) -> Entries:
    """The literals of `install_requires`, `extras_require` and `python_requires`, also by way of a variable."""
    tree = ast.parse(text)
    values: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign) and node.value:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Name):
                    values.setdefault(target.id, []).append(node.value)

    def strings(node: ast.expr, condition: str, seen: set[str]) -> Iterator[tuple[str, str]]:
        match node:
            case ast.Constant(value=str(value)):
                yield from ((line, condition) for line in value.splitlines())
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
                for part in parts:
                    yield from strings(part, condition, seen)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                yield from strings(left, condition, seen)
                yield from strings(right, condition, seen)
            case ast.Starred(value=inner):
                yield from strings(inner, condition, seen)
            case ast.Dict(values=parts):
                for part in parts:
                    yield from strings(part, condition, seen)
            case ast.Name(id=name) if name not in seen:
                seen.add(name)
                bound = values.get(name, [])
                for expression in bound:
                    yield from strings(expression, condition or (f"one of {len(bound)}" if bound[1:] else ""), seen)

    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and _called(call.func) == "setup":
            for keyword in call.keywords:
                if keyword.arg in ("install_requires", "extras_require"):
                    first = "" if keyword.arg == "install_requires" else "extra"
                    for line, condition in strings(keyword.value, first, set()):
                        yield from requirement(line, path, condition)
                elif keyword.arg == "python_requires":
                    for line, _ in strings(keyword.value, "", set()):
                        yield from _python(path, line)


def _called(function: ast.expr) -> str | None:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", None)


def _table(value: object, *keys: str) -> dict[str, Any]:
    """The table found by walking down `keys`; empty where there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def _items(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _each(path: str, lines: object, condition: str = "") -> Entries:
    for line in lines.splitlines() if isinstance(lines, str) else _items(lines):
        if isinstance(line, str):
            yield from requirement(line, path, condition)


def _files(names: object, condition: str = "") -> Iterator[Include]:
    for name in [names] if isinstance(names, str) else _items(names):
        if isinstance(name, str):
            yield Include(name, condition)


def _python(path: str, spec: object) -> Iterator[Mention]:
    if isinstance(spec, str):
        yield Mention("python", alternatives(spec), path)


def _pairs(path: str, table: dict[str, Any], condition: str = "") -> Iterator[Mention]:
    """Name → constraint, as in Poetry and Pipenv: a string, a table with `version` or an address, or a list of them."""
    for name, value in table.items():
        package = canonicalize_name(name)
        options = value if isinstance(value, list) else [value]
        for option in options if package in PACKAGES else ():
            details = _table(option)
            version = details.get("version", "") if details else option
            known = isinstance(version, str) and not details.keys() & {"git", "url", "path", "file"}
            conditional = (
                len(options) > 1 or details.keys() & {"markers", "python", "platform"} or details.get("optional")
            )
            where = condition or ("one of several constraints" if conditional else "")
            yield Mention(package, alternatives(version) if known else None, path, where)
