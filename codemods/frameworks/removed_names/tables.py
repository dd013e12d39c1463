"""Names that releases of libraries removed, renamed or read in another way: the rows of the files in `tables/`.

`docs/removed-names/` shows the rows, and `python -m tests.names` holds them against the sources of the releases.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import Any

from packaging.version import Version

from codemods.model.names import canonical

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found, unused-ignore]

LIBRARIES = ("accelerate", "datasets", "lightning", "peft", "torch", "transformers", "trl")
LISTED = ("accelerate", "datasets", "lightning", "peft", "transformers", "trl")
"""Those of which all names are listed that modules once defined."""
PLACES = ("argument", "value", "attribute", "name", "hook", "signature", "file", "default")
"""What may hold an old name: an argument, the value of one, an attribute or a method, something imported, a method that
a class overrides, and its parameters; a file that is written; and defaults that changed."""

RESULT = "the result"
"""The name under which a row of a changed default says what a call gives."""


@dataclass(frozen=True, slots=True)
class RemovedName:
    """One old name."""

    library: str
    """The distribution whose version counts."""
    place: str
    owner: str
    """Canonical name of the class or function that it belongs to; empty for what is imported."""
    old: str
    """Of a value: `argument=value`."""
    kind: str
    """rename, delete, decision or default"""
    rule: str = ""
    new: str = ""
    since: str = ""
    """The first release that knows the new name; "0": all that are known do."""
    deprecated: str = ""
    """The first release that warns of the old one."""
    gone: str = ""
    """The first release that refuses the old one."""
    silent: bool = False
    """Whether such a release ignores the old name instead."""
    decide: str = ""
    """What a person has to know and to do."""
    values: Mapping[str, str] | None = None
    """Old → new value, as Python writes them, where a rename changes them too."""
    boolean: bool = False
    """The values are True and False, and the old argument is nothing else: `checkpoint_callback` was an object, too."""
    takes: tuple[str, ...] | None = None
    """The arguments that the new function or class takes as the old one did, by keyword; None: all."""
    without: tuple[str, ...] = ()
    """Arguments and members that the old class had in some release and that the new one has not."""
    but: tuple[object, ...] = ()
    """Values that mean something else under the new name, or meant something else in older releases."""
    excludes: tuple[str, ...] = ()
    """Arguments beside which the new name is refused."""
    below: float | None = None
    """A rename keeps numbers from 0 to this one, without it: a share of the steps, where the new name takes both."""
    harmless: tuple[object, ...] | None = None
    """The values with which the argument says nothing (a decision with such a value is not told); None: any."""
    position: int | None = None
    """Where the argument stands, without `self`, if it may not be given by position any more."""
    drop: tuple[str, ...] = ()
    """Parameters that an overridden method is no longer given."""
    stored: bool = False
    """Only who sets the attribute is refused."""
    also: tuple[str, ...] = ()
    """Other libraries whose methods of that name take the argument."""
    add: tuple[str, ...] = ()
    """Parameters that an overridden method is given since, by keyword."""
    was: str = ""
    """The older default; of an attribute that is set, what setting it does now."""
    given: tuple[str, ...] = ()
    """Arguments without which a changed default says nothing; words without which a method gets no new parameter."""
    unless: tuple[str, ...] = ()
    """Arguments that, being True, say what a changed default would."""
    source: str = ""
    unchecked: str = ""

    def spelled(self, package: str) -> RemovedName:
        """The same, with the names of Lightning as a file writes them that imports it as this package."""
        both = ("pytorch_lightning.", "lightning.pytorch.")
        old, new = both if package == "lightning" else both[::-1]
        return replace(self, old=self.old.replace(old, new, 1), new=self.new.replace(old, new, 1))

    def new_value(self, value: object) -> str | None:
        """The value under the new name, as Python writes it: "" as it is; None where that cannot be told."""
        if any(value == each and type(value) is type(each) for each in self.but):
            return None
        if self.below is not None and isinstance(value, (int, float)) and not isinstance(value, bool):
            return "" if 0 <= value < self.below else None
        if self.values is None:
            return "" if self.below is None else None
        return self.values.get(repr(value))

    def is_harmless(self, value: object) -> bool:
        """Whether the argument says nothing with this value."""
        said = (None if each == "None" else each for each in self.harmless or ())
        return any(value == each and type(value) is type(each) for each in said)

    @property
    def affected(self) -> Mapping[str, str]:
        """The releases that warn of the old name or refuse it."""
        return {self.library: f">={self.deprecated or self.gone}"}

    @property
    def removed(self) -> str:
        """The releases that refuse it, or ignore it; none: it is deprecated only."""
        return f">={self.gone}" if self.gone else "<0"


@cache
def rows() -> tuple[RemovedName, ...]:
    """All rows of all libraries."""
    return tuple(row for library in LIBRARIES for row in _read(library))


@cache
def of_rule(code: str, place: str) -> Mapping[str, Mapping[str, RemovedName]]:
    """Old name → owner → row: what a rule looks for in one kind of place."""
    found: dict[str, dict[str, RemovedName]] = {}
    for row in rows():
        if row.rule == code and (row.place == place or (place == "attribute" and is_field(row))):
            found.setdefault(row.old, {})[row.owner] = row
    return found


def is_field(row: RemovedName) -> bool:
    """Whether objects of the owner have an attribute for an argument, which went with it."""
    return row.place == "argument" and bool(row.gone) and row.owner in _table(row.library).get("fields", ())


@cache
def telling() -> frozenset[str]:
    """The old arguments and hooks whose names mean nothing else, in no other class and no other library."""
    return frozenset(name for library in LIBRARIES for name in _table(library).get("telling", ()))


@cache
def rows_of(place: str) -> Mapping[str, Sequence[RemovedName]]:
    """Old name → the rows of one kind, of all rules; what is imported goes by its last part."""
    found: dict[str, list[RemovedName]] = {}
    for row in rows():
        if row.place == place:
            found.setdefault(_word(row), []).append(row)
    return found


@cache
def of_place(place: str) -> frozenset[str]:
    """The old names of one kind, as rows have them."""
    return frozenset(row.old for row in rows() if row.place == place)


@cache
def gone_names() -> Mapping[str, RemovedName]:
    """What modules once defined and the newest releases do not: names of which nothing but that is known."""
    found: dict[str, RemovedName] = {}
    for library, version, name in _gone("names"):
        found[as_one(name)] = RemovedName(library, "name", "", name, "decision", gone=version)
    return found


@cache
def gone_models() -> Mapping[str, RemovedName]:
    """The names that modules of Transformers' models had, and that no module of the newest release has."""
    return {
        name: RemovedName(lib, "name", "", name, "decision", gone=version) for lib, version, name in _gone("models")
    }


@cache
def gone_members() -> Mapping[str, Mapping[str, RemovedName]]:
    """Old name → owner → row: the members that the newest releases of public classes no longer have."""
    return _of_owners("members", "attribute", ".")


@cache
def gone_arguments() -> Mapping[str, Mapping[str, RemovedName]]:
    """Old name → owner → row: the arguments that the newest releases no longer take."""
    return _of_owners("arguments", "argument", ":")


def _of_owners(kind: str, place: str, mark: str) -> Mapping[str, Mapping[str, RemovedName]]:
    """The rows of a list whose entries are an owner, a mark and a name."""
    found: dict[str, dict[str, RemovedName]] = {}
    for library, version, entry in _gone(kind):
        owner, _, name = as_one(entry).rpartition(mark)
        row = RemovedName(library, place, owner, name, "decision", gone=version)
        found.setdefault(name, {})[owner] = found[name][canonical(owner)] = row
    return found


@cache
def gone_variables() -> Mapping[str, RemovedName]:
    """The environment variables that a library once read."""
    found = {}
    for library, version, name in _gone("environment"):
        found[name] = RemovedName(library, "variable", "", name, "decision", gone=version, silent=True)
    return found


@cache
def generation_settings() -> frozenset[str]:
    """The settings of generation that Transformers once read from a model's configuration."""
    return frozenset(_table("transformers")["generation"])


@cache
def token_ids() -> frozenset[str]:
    """The ids of tokens that models keep in their configuration, where generation no longer reads them."""
    return frozenset(_table("transformers")["tokens"])


@cache
def unread_switches() -> frozenset[str]:
    """The attributes of models that the Trainer of Transformers once read."""
    return frozenset(_table("transformers")["unread"])


@cache
def of_the_class() -> Mapping[str, RemovedName]:
    """Canonical name → row of the methods that only a class may call."""
    return {
        method: RemovedName(
            library, "attribute", method.rpartition(".")[0], method.rpartition(".")[2], "decision", gone=gone
        )
        for library in LIBRARIES
        for method, gone in _table(library).get("of_the_class", {}).items()
    }


@cache
def defaults_of() -> Mapping[str, Mapping[str, Sequence[RemovedName]]]:
    """Owner → argument → the changes of its default, the oldest first; under `RESULT` those of what a call gives, under
    `argument=value` those of what a value means.
    """
    found: dict[str, dict[str, list[RemovedName]]] = {}
    for row in rows_of_defaults():
        found.setdefault(row.owner, {}).setdefault(row.old, []).append(row)
    return found


def rows_of_defaults() -> Iterator[RemovedName]:
    """The changed defaults that have a row, and those that are listed."""
    yield from (row for row in rows() if row.place == "default")
    for library, version, entry in _gone("defaults"):
        owner, name, change = entry.split(":", 2)
        was, _, new = change.strip().partition(" -> ")
        yield RemovedName(library, "default", owner, name, "default", new=new, gone=version, was=was)


@cache
def telling_members() -> frozenset[str]:
    """The members that are gone and whose name occurs nowhere in the newest releases of the libraries."""
    return frozenset(name for library in LISTED for name in _listed(library)["words"]["telling"])


def _gone(kind: str) -> Iterator[tuple[str, str, str]]:
    for library in LISTED:
        for version, names in _listed(library)[kind].items():
            yield from ((library, version, name) for name in names)


@cache
def _listed(library: str) -> Mapping[str, Any]:
    text = (resources.files("codemods.frameworks") / "tables" / "gone" / f"{library}.json").read_text(encoding="utf-8")
    lists: Mapping[str, Any] = json.loads(text)
    return lists


@cache
def member_type(member: str) -> str:
    """The class of what an attribute of a library's class holds; empty where no table says it."""
    return next((found for each in LIBRARIES if (found := _table(each).get("members", {}).get(member))), "")


@cache
def last_names(code: str) -> frozenset[str]:
    """The last parts of what is imported under an old name."""
    return frozenset(old.rpartition(".")[2] for old in of_rule(code, "name"))


@cache
def by_position(code: str) -> tuple[tuple[str, int], ...]:
    """The old arguments of a rule that may not be given by position any more, each with a place it had."""
    found = {(row.old, row.position) for row in rows() if row.rule == code and row.position is not None}
    found = {each for each in found if "=" not in each[0]}
    return tuple(sorted(found))


@cache
def values_by_position(code: str, position: int) -> tuple[str, ...]:
    """The arguments with old values of a rule that may stand at a position."""
    found = {row.old.partition("=")[0] for row in rows() if (row.rule, row.place) == (code, "value")}
    at = {row.old.partition("=")[0] for row in rows() if row.place == "value" and row.position == position}
    return tuple(sorted(found & at))


@cache
def inherited(owner: str) -> tuple[str, ...]:
    """A class, and those whose arguments it takes too."""
    above = [base for library in LIBRARIES for base in _table(library).get("inherits", {}).get(owner, ())]
    return (owner, *(name for base in above for name in inherited(base)))


def words(code: str, *places: str) -> tuple[str, ...]:
    """The identifiers that the old names of a rule are written with."""
    found = {_word(row) for row in rows() if row.rule == code and row.place in places}
    return tuple(sorted(word for word in found if word.isidentifier()))


def owners(code: str, *places: str) -> tuple[str, ...]:
    """The last names of the owners of a rule's rows, and of the classes that take the same arguments."""
    return tuple(sorted({name.rpartition(".")[2] for name in classes(code, *places)}))


def classes(code: str, *places: str) -> frozenset[str]:
    """The canonical names of the owners of a rule's rows, and of the classes that take the same arguments."""
    named = {row.owner for row in rows() if row.rule == code and row.place in (places or PLACES)}
    heirs = {name for library in LIBRARIES for name in _table(library).get("inherits", {})}
    return frozenset(named | {heir for heir in heirs if named.intersection(inherited(heir))})


def classes_or_words(code: str, *places: str) -> tuple[str, ...]:
    """The owners of a rule's rows that are classes, and the old names of those that are methods: no row is without."""
    of_methods = {_word(row) for row in rows() if row.rule == code and row.place in places and _is_method(row)}
    return tuple(sorted({*(name for name in owners(code, *places) if name[:1].isupper()), *of_methods}))


def _word(row: RemovedName) -> str:
    """The identifier that a row cannot be met without."""
    if row.place == "file":
        return row.old
    return re.split(r"[.=]", row.old)[0] if row.place == "value" else row.old.rpartition(".")[2]


def _is_method(row: RemovedName) -> bool:
    return row.owner.rpartition(".")[2][:1].islower()


def _read(library: str) -> Iterator[RemovedName]:
    table = _table(library)
    for place in PLACES:
        for owner, held in table.get(place, {}).items():
            if place in ("name", "file"):
                yield _row(library, place, "", as_one(owner) if place == "name" else owner, held)
            elif place == "value":
                for argument, values in held.items():
                    yield from (_row(library, place, owner, f"{argument}={old}", row) for old, row in values.items())
            else:
                yield from (_row(library, place, owner, old, row) for old, row in held.items())


def as_one(name: str) -> str:
    """A dotted name as the tables have it.

    Lightning's begin with the package that both of its distributions are known by, and those of TRL's trainers leave
    out the module in between.
    """
    if name.startswith("trl.trainer.") and name.count(".") == 2:
        return name.replace("trl.trainer.", "trl.", 1)
    return (
        name.replace("pytorch_lightning.", "lightning.pytorch.", 1) if name.startswith("pytorch_lightning.") else name
    )


def _row(library: str, place: str, owner: str, old: str, said: Mapping[str, Any]) -> RemovedName:
    lists = {name: tuple(value) for name, value in said.items() if isinstance(value, list)}
    return RemovedName(library, place, owner, old, **{**said, **lists})


@cache
def _table(library: str) -> Mapping[str, Any]:
    text = (resources.files("codemods.frameworks") / "tables" / f"{library}.toml").read_text(encoding="utf-8")
    table: Mapping[str, Any] = tomllib.loads(text)
    return table


def requirements(library: str, version: str) -> Mapping[str, str]:
    """What a release asks for, package → versions: by the newest release in the table that is not newer."""
    known = _table(library).get("requires", {})
    listed = [each for each in known if Version(each) <= Version(version)]
    found: Mapping[str, str] = known[max(listed, key=Version)] if listed else {}
    return found


def companions(library: str, version: str) -> Mapping[str, str]:
    """What is built for a release and no other, package → versions; nothing of a release that no table has."""
    found: Mapping[str, str] = _table(library).get("companions", {}).get(version, {})
    return found


def needs(library: str) -> Mapping[str, Mapping[str, str]]:
    """What objects of a class cannot be made without, though the library does not ask for it: class → packages."""
    found: Mapping[str, Mapping[str, str]] = _table(library).get("needs", {})
    return found


def required() -> tuple[str, ...]:
    """The packages that releases ask for, or that are built for them, as far as tables say it."""
    kinds = ("requires", "companions")
    asked = [held for each in LIBRARIES for kind in kinds for held in _table(each).get(kind, {}).values()]
    return tuple(sorted({name for held in asked for name in held}))


@cache
def known_keys(program: str) -> frozenset[str]:
    """The keys that any release of a program reads in its configuration file."""
    return frozenset(_table("keys")[program]["keys"])


def with_defaults() -> tuple[str, ...]:
    """The last names of the functions and classes of which a default changed."""
    return tuple(sorted({owner.rpartition(".")[2] for owner in defaults_of()}))


def parameters_of(code: str) -> tuple[str, ...]:
    """The parameters that overridden methods are no longer given, and the methods that are given new ones."""
    told = [row for row in rows() if row.rule == code]
    dropped = {name for row in told for name in row.drop}
    return tuple(sorted(dropped | {row.old for row in told if row.add}))


def upgrading(library: str) -> tuple[str, ...]:
    """The rules about names of a library that a newer release refuses or reads in another way."""
    return tuple(
        sorted({row.rule for row in rows() if row.library == library and row.rule} | _OTHERS.get(library, set()))
    )


_OTHERS = {"transformers": {"HF004"}, "lightning": {"PL101", "PL102"}, "torch": {"AMP002"}}
"""Rules about such names that need more than a table."""
