"""Names that a library once had and its newest release does not: `python -m tests.gone_names [--library NAME …]`.

Writes `codemods/frameworks/tables/gone/<library>.toml` from the sources of the last release of each minor version. What
is defined in a module counts, and what a package takes from its own modules; not what a module imports for itself.
Names with a row in the tables are left out, and what stands in a module that is gone as a whole.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from packaging.version import Version

from codemods.frameworks.removed_names.tables import as_one, rows
from tests.names import TABLES
from tests.releases import CACHE, DISTRIBUTIONS, Library

NEWEST = {"accelerate": "1.15.0", "lightning": "2.6.6", "peft": "0.21.2", "transformers": "5.23.0", "trl": "1.16.0"}
"""The releases that are compared with older ones: those that are installed where this runs."""
PACKAGES = {"lightning": "pytorch_lightning"}
_LEFT_OUT = frozenset(
    {"tests", "test_utils", "testing_utils", "commands", "onnx", "agents", "tools", "scripts", "cli"}
    | {"skills", "benchmark", "kernels", "sagemaker"}
)
_PREFIXES = ("_", "dummy", "convert_")


def defined(root: Path, package: str) -> Iterator[str]:
    """The public names that the modules below a directory define, and their own dotted names."""
    for file in sorted((root / package).rglob("*.py")):
        parts = file.relative_to(root).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        parts = parts[:-1] if is_package else parts
        if any(p in _LEFT_OUT or p.startswith(_PREFIXES) for p in parts) or parts[:2] == ("transformers", "models"):
            continue
        module = ".".join(parts)
        yield module
        try:
            tree = ast.parse(file.read_text(encoding="utf-8", errors="replace"))
        except SyntaxError:
            continue
        yield from (f"{module}.{name}" for name in _names(tree.body, is_package) if not name.startswith("_"))


def _names(body: Iterable[ast.stmt], is_package: bool) -> Iterator[str]:
    waiting = list(body)
    while waiting:
        match node := waiting.pop():
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Assign(targets=targets):
                yield from (each.id for each in targets if isinstance(each, ast.Name) and each.id[:1].isupper())
            case ast.ImportFrom(level=level, names=names) if is_package and level:
                yield from (each.asname or each.name for each in names if each.name != "*")
            case ast.If() | ast.Try() | ast.With():
                waiting += [each for each in ast.iter_child_nodes(node) if isinstance(each, ast.stmt)]
                waiting += [each for handler in getattr(node, "handlers", ()) for each in handler.body]


def gone(library: Library, newest: Version) -> dict[str, list[str]]:
    """The release that no longer has them → names."""
    package = PACKAGES.get(library.name, library.name)
    known = {row.old for row in rows() if row.place == "name"}
    last = {version.release[:2]: version for version in library.versions if version <= newest}
    old = {n for v in last.values() if (root := _root(library, v, package)) for n in defined(root, package)}
    found: dict[str, str] = {}
    for name in sorted(old, key=lambda name: (name.count("."), name)):
        parts = name.split(".")
        around = [".".join(parts[: n + 1]) for n in range(len(parts))]
        if any(each in found or as_one(each) in known for each in around):
            continue
        if library.release(newest).find(name) is None and not _is_importable(name):
            if (since := _since(library, name, newest)) is not None:
                found[name] = str(since)
    versions = sorted(set(found.values()), key=Version)
    return {version: sorted(name for name in found if found[name] == version) for version in versions}


def _root(library: Library, version: Version, package: str) -> Path | None:
    return library.release(version).roots.get(package)


def _since(library: Library, name: str, newest: Version) -> Version | None:
    """The first release of the last ones without a name; None where no release had it."""
    first = None
    for version in sorted((each for each in library.versions if each <= newest), reverse=True):
        if library.release(version).find(name) is not None:
            return first
        first = version
    return None


def _is_importable(name: str) -> bool:
    """Whether the installed release has a name all the same: by `__getattr__` of a module, or a star import."""
    module, _, last = name.rpartition(".")
    try:
        if hasattr(importlib.import_module(module), last):
            return True
        importlib.import_module(name)
    except Exception:
        return False
    return True


def cached(library: Library, cache: Path) -> list[Version]:
    """The releases that are unpacked already."""
    distribution = DISTRIBUTIONS.get(library.name, library.name)
    names = (path.name.removeprefix(f"{distribution}-") for path in cache.glob(f"{distribution}-[0-9]*"))
    return sorted(each for name in names if not (each := Version(name)).is_prerelease)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.gone_names", description="Write the lists of gone names.")
    parser.add_argument("--library", nargs="+", default=sorted(NEWEST), metavar="NAME")
    parser.add_argument("--cache", type=Path, default=CACHE, metavar="DIR")
    options = parser.parse_args()
    for name in options.library:
        library = Library(name, options.cache, offline=True)
        library.versions = cached(library, options.cache)
        write(name, gone(library, Version(NEWEST[name])))
    return 0


def write(library: str, found: dict[str, list[str]]) -> None:
    """Write the list of a library."""
    lines = ["# Written by `python -m tests.gone_names`; do not edit.", "[names]"]
    for version, names in found.items():
        lines += [f'"{version}" = [', *(f'    "{name}",' for name in names), "]"]
    (TABLES / "gone" / f"{library}.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{library}: {sum(map(len, found.values()))} names")


if __name__ == "__main__":
    sys.exit(main())
