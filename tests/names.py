"""Are the tables of removed names true? Reads the sources of the releases that the rows name. Opt-in:

python -m tests.names [--library NAME ...] [--candidates] [--cache DIR]

A row is wrong where a release contradicts it, or where nothing could be read and the row does not say `unchecked`. No
library is imported (`tests/releases.py`). Of torch only the installed release is read, so nothing is checked of older
ones. `--candidates` prints the names that older releases accepted, that the newest does not, and that no row has.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from packaging.version import Version

from tests.releases import CACHE, Library, Release

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TABLES = Path(__file__).parents[1] / "codemods/frameworks/tables"
LIBRARIES = ("accelerate", "datasets", "lightning", "peft", "torch", "transformers", "trl")
_UNUSED = frozenset({"is_fast", "dispatch", "training_step_end", "validation_step_end", "test_step_end"})
"""Members that the library alone reads, or that rows of their own speak of."""
SECTIONS = ("argument", "value", "attribute", "name", "hook", "signature", "file", "default")


@dataclass(frozen=True)
class Row:
    """One row of a table: `owner` has the old name `old` in the way that `section` says."""

    library: str
    section: str
    owner: str
    argument: str  # whose value it is, of a [value]
    old: str
    data: Mapping[str, Any]

    @property
    def label(self) -> str:
        return f"[{'.'.join(filter(None, (self.section, self.owner, self.argument)))}] {self.old}"

    def versions(self) -> list[Version]:
        return [Version(self.data[key]) for key in ("since", "deprecated", "gone") if key in self.data]


def rows(table: Mapping[str, Any]) -> Iterator[Row]:
    """The rows of a table, in its order."""
    for section in SECTIONS:
        groups = {"": table.get(section, {})} if section in ("name", "file") else table.get(section, {})
        for owner, group in groups.items():
            inner = group if section == "value" else {"": group}
            for argument, found in inner.items():
                for old, data in found.items():
                    yield Row(table["library"], section, owner, argument, old, data)


@cache
def tables() -> dict[str, dict[str, Any]]:
    """The tables, by library."""
    return {name: tomllib.loads((TABLES / f"{name}.toml").read_text(encoding="utf-8")) for name in LIBRARIES}


def check(row: Row, library: Library) -> Iterator[str]:
    """What releases say against a row, one sentence each; nothing of a row that says `unchecked`."""
    data, newest = row.data, library.versions[-1]
    if "unchecked" in data:
        return
    expected: list[tuple[Version | None, str, bool]] = []
    gone = Version(data["gone"]) if "gone" in data else None
    if gone and gone <= newest:
        expected += [(library.before(gone), row.old, True), (gone, row.old, False), (newest, row.old, False)]
    else:
        expected += [(newest, row.old, True)]
    if "new" in data and row.section not in ("default", "signature"):
        since = Version(data["since"]) if "since" in data else None
        expected += [(newest, data["new"], True)] if not since or since <= newest else []
        expected += [(since, data["new"], True)]
        if since and not {"values", "below"} & set(data):  # else the name may be older than the value
            expected += [(library.before(since), data["new"], False)]
    for version, name, accepted in expected:
        if version is None or version not in library.versions:
            continue
        release = library.release(version)
        there = _moved(row, release)
        if row.section == "value" and not release.accepts(there.owner, row.argument):
            continue  # there is no such argument: no release accepted the value
        if row.section == "name" and name.split(".")[0] not in {*release.roots, row.old.split(".")[0]}:
            continue  # a name of another library
        found = _holds(release, there, name)
        if found is None and row.section not in ("signature", "default"):
            found = False if not accepted else None  # any keyword is accepted, and the source does not name this one
        if found is not accepted:
            what = "cannot be read" if found is None else "is accepted" if found else "is not accepted"
            yield f"{name} {what} in {version}"
    if "deprecated" in data and (first := Version(data["deprecated"])) in library.versions:
        if not library.release(first).warns(row.owner, row.old):
            yield f"nothing warns of {row.old} in {first}"
    if row.section == "name" and data["kind"] == "rename" and gone and (last := library.before(gone)):
        yield from _unlike(row, library.release(last), library.release(newest))
    last = library.before(gone) if gone else newest
    if last and row.section == "argument" and (place := library.release(last).find(row.owner)):
        if not (parameters := library.release(last).parameters(place)):
            return
        if "position" in data and parameters.positions().index(row.old) != data["position"]:
            yield f"position {parameters.positions().index(row.old)} in {last}"
        default = parameters.defaults.get(row.old, "")
        if default and "harmless" in data and default not in map(_source, data["harmless"]):
            yield f"harmless lacks the default {default}"


def _unlike(row: Row, older: Release, newer: Release) -> Iterator[str]:
    """What the last release with an old name accepted or had, that the newest does not under the new one.

    `takes` has to say it of arguments, `without` of members and of arguments of a class with many.
    """
    old, new = older.find(row.old), newer.find(row.data["new"])
    if not old or not new:
        return
    was, now = older.parameters(old), newer.parameters(new)
    if was and was.rest and not set(was.defaults) - {"*"} and (there := older.find(row.data["new"])):
        was = older.parameters(there) or was  # it hands all on
    if was and now and "takes" not in row.data:
        lost = [] if now.rest else sorted(set(was.defaults) - set(now.defaults) - set(row.data.get("without", ())))
        if lost:
            yield f"{row.data['new']} does not take {', '.join(lost)}"
        is_a_class = isinstance(new.node, ast.ClassDef)
        if not is_a_class and now.positions()[: len(was.positions())] != was.positions():
            yield f"{row.data['new']} takes other arguments by position"
    same_name = row.old.rpartition(".")[2] == row.data["new"].rpartition(".")[2]
    known = isinstance(new.node, ast.ClassDef) and (not new.node.bases or len(list(newer.lineage(new))) > 1)
    if isinstance(old.node, ast.ClassDef) and known and not same_name:
        before = {name for each in older.lineage(old) for name in older.members(each)}
        after = {name for each in newer.lineage(new) for name in newer.members(each)}
        gone = sorted(name for name in before - after if not name.startswith("_") and name not in _UNUSED)
        if missing := [name for name in gone if name not in row.data.get("without", ())]:
            yield f"{row.data['new']} has no {', '.join(missing)}"


def _moved(row: Row, release: Release) -> Row:
    """The row with the owner where a release has it, if another row says so."""
    moved = tables().get(row.library, {}).get("name", {}).get(row.owner, {}).get("new")
    return replace(row, owner=moved) if moved and not release.find(row.owner) else row


def _source(value: object) -> str:
    return "None" if value == "None" else repr(value)


def _holds(release: Release, row: Row, name: str) -> bool | None:
    """Does the release accept `name` in the way of the row? None where that cannot be read."""
    if row.section == "name":
        return release.find(name) is not None
    if row.section == "argument":
        return release.accepts(row.owner, name)
    if row.section == "value":
        return name in release.options(row.owner, {str(row.data.get("new", row.old))})
    found = release.find(row.owner)
    if row.section in ("attribute", "hook"):
        return found is not None and isinstance(found.node, ast.ClassDef) and name in release.members(found)
    method = release.find(f"{row.owner}.{name}") if row.section == "signature" else found
    if not method or not (parameters := release.parameters(method)):
        return None
    if row.section == "default":
        return {row.data["was"]: True, row.data["new"]: False}.get(parameters.defaults.get(name, ""))
    names = set(parameters.defaults)
    dropped, added = set(row.data.get("drop", ())), set(row.data.get("add", ()))
    if dropped & names if dropped else not added & names:  # some of the dropped were there, or none of the added
        return None if added & names else True
    return False if added <= names else None


def candidates(rows_: list[Row], library: Library, versions: list[Version]) -> Iterator[str]:
    """What a release read before the newest accepted, the newest does not, and no row names."""
    known = {(row.section, row.owner, row.old) for row in rows_}
    owners = {(row.section, row.owner) for row in rows_ if row.section in ("argument", "attribute")}
    modules = {row.old.rpartition(".")[0] for row in rows_ if row.section == "name"} | {library.name}
    for section, owner in sorted(owners | {("name", module) for module in modules}):
        last: set[str] = set()
        for version in sorted(versions, reverse=True):
            names = _names(library.release(version), section, owner)
            for name in sorted((names - last) if version != library.versions[-1] else ()):
                dotted = (section, "", f"{owner}.{name}") if section == "name" else (section, owner, name)
                if dotted not in known and not name.startswith("_"):
                    yield f"{library.name}: [{section}] {owner}: {name}, last in {version}"
            last |= names


def _names(release: Release, section: str, owner: str) -> set[str]:
    found = release.find(owner)
    if not found:
        return set()
    if section == "name":  # what it defines, or imports from the library
        own = {name: what for name, what in found.module.names.items() if not isinstance(what, str)}
        there = {name: what for name, what in found.module.names.items() if isinstance(what, str)}
        return {*own, *(name for name, what in there.items() if what.split(".")[0] in release.roots)}
    if section == "attribute":
        return set(release.members(found)) if isinstance(found.node, ast.ClassDef) else set()
    parameters = release.parameters(found)
    return set(parameters.defaults) - {"*"} if parameters else set()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.names", description="Check the tables of removed names.")
    parser.add_argument("--library", nargs="+", default=LIBRARIES, metavar="NAME")
    parser.add_argument("--candidates", action="store_true", help="print names that went and have no row")
    parser.add_argument("--cache", type=Path, default=CACHE, metavar="DIR")
    options = parser.parse_args()
    wrong = 0
    for name in options.library:
        library, found = Library(name, options.cache), list(rows(tables()[name]))
        if options.candidates:
            before = {library.before(version) for row in found for version in row.versions()} & {*library.versions}
            read = sorted({*filter(None, before), library.versions[-1]})
            print(*candidates(found, library, read), sep="\n")
            continue
        bad = 0
        for row in found:
            if reason := row.data.get("unchecked"):
                print(f"not checked: {name} {row.label}: {reason}")
            if problems := list(check(row, library)):
                print(f"wrong: {name} {row.label}: {'; '.join(problems)}")
                bad += 1
        without = sum("unchecked" in row.data for row in found)
        print(f"{name}: {len(found)} rows, {len(found) - without} checked, {without} not, {bad} wrong")
        wrong += bad
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
