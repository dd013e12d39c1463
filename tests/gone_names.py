"""What a library once had and its newest release does not: `python -m tests.gone_names [--library NAME …]`.

Writes `codemods/frameworks/tables/gone/<library>.json` from the sources of the last release of each minor version. What
is defined in a module counts, and what it takes from other modules of its package: other people's code takes both. Of
the modules of models only those names that no source of the newest release has.
Names with a row in the tables are left out, and what stands in a module that is gone as a whole. Of the public classes
that are left, the members and the arguments of constructors and methods are listed, too, unless their objects may have
any attribute, or take any keyword; the arguments of public functions; and the defaults of their constructors that
became another value. The environment variables that were read are listed, too.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import importlib.metadata
import inspect
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, reduce
from itertools import chain, pairwise
from pathlib import Path

from packaging.version import Version

from codemods.frameworks.removed_names.tables import as_one, rows
from tests.names import TABLES
from tests.releases import CACHE, DISTRIBUTIONS, Found, Library, Release

NEWEST = {
    "accelerate": "1.15.0",
    "datasets": "5.2.0",
    "lightning": "2.6.6",
    "peft": "0.21.2",
    "transformers": "5.23.0",
    "trl": "1.16.0",
}
"""The releases that are compared with older ones: those that are installed where this runs."""
PACKAGES = {"lightning": "pytorch_lightning"}
LISTS = ("names", "models", "members", "defaults", "environment")
_SAME = frozenset(
    {("None", "-1"), ("None", "0"), ("None", "1"), ("None", "()"), ("None", "False"), ("None", "(None, None)")}
    | {("False", "''"), ("False", "'no'"), ("True", "'group'"), ("32", "'32-true'"), ("'msamp'", "'MSAMP'")}
)
"""Defaults that mean what the older ones meant."""
_LEFT_OUT = frozenset(
    {"tests", "test_utils", "testing_utils", "commands", "onnx", "agents", "tools", "scripts", "cli"}
    | {"skills", "benchmark", "kernels", "sagemaker"}
)
_EXTENDED = frozenset(
    f"transformers.{name}"
    for name in ("GenerationMixin", "PreTrainedModel", "PreTrainedTokenizer", "PreTrainedTokenizerBase", "Trainer")
)
"""The classes that people extend, private methods and all."""
_MODELS = ("transformers", "models")
_PREFIXES = ("_", "dummy", "convert_")
_OPEN = ("transformers.trainer_", "transformers.training_args", "transformers.integrations.deepspeed")
"""The modules whose classes and functions people take, though no package hands them on: `HPSearchBackend`."""
_FLAG = re.compile("is_torch_|is_.*_available")
"""Module variables that are called like a function: `is_torch_greater_or_equal_than_1_10`."""


def defined(root: Path, package: str) -> Iterator[str]:
    """The names that the modules below a directory define or take from others, and their own dotted names."""
    for file in sorted((root / package).rglob("*.py")):
        parts = file.relative_to(root).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        parts = parts[:-1] if is_package else parts
        if any(p in _LEFT_OUT or p.startswith(_PREFIXES) for p in parts) or parts[:2] == _MODELS:
            continue
        module = ".".join(parts)
        yield module
        try:
            tree = ast.parse(file.read_text(encoding="utf-8", errors="replace"))
        except SyntaxError:
            continue
        yield from (f"{module}.{name}" for name in _names(tree.body, package) if not name.startswith("__"))


def gone_models(library: Library, newest: Version) -> dict[str, list[str]]:
    """The minor version that no longer has them → names that modules of models had, and no source has now."""
    found: dict[str, str] = {}
    last = (
        sorted({v.release[:2]: v for v in library.versions if v <= newest}.values())
        if library.name == _MODELS[0]
        else []
    )
    for version, later in pairwise(last):
        root = _root(library, version, _MODELS[0])
        for file in root.joinpath(*_MODELS).rglob("*.py") if root is not None else ():
            if file.stem.startswith(("convert_", "modeling_tf_", "modeling_flax_")):
                continue
            try:
                tree = ast.parse(file.read_text(encoding="utf-8", errors="replace"))
            except SyntaxError:
                continue
            names = {each for each in _names(tree.body, "") if each not in newest_words()}
            found |= dict.fromkeys(names, f"{later.major}.{later.minor}")
    return _by_release(found)


def _names(body: Iterable[ast.stmt], package: str) -> Iterator[str]:
    """The names that statements define; with `package`, also those that they take from its modules."""
    waiting = list(body)
    while waiting:
        match node := waiting.pop():
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Assign(targets=targets):
                names = (each.id for each in targets if isinstance(each, ast.Name))
                yield from (name for name in names if name.lstrip("_")[:1].isupper() or _FLAG.match(name))
            case ast.ImportFrom(level=level, module=module, names=names) if package and (
                level or (module or "").partition(".")[0] == package
            ):
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
    return _by_release(found)


def gone_members(library: Library, newest: Version) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """The minor version that no longer has them → members of classes, and arguments as `owner:argument`."""
    package, release = PACKAGES.get(library.name, library.name), library.release(newest)
    root = release.roots[package] / package
    known = {(row.owner, row.old) for row in rows()}
    last = sorted({v.release[:2]: v for v in library.versions if v <= newest}.values(), reverse=True)
    members: dict[str, str] = {}
    arguments: dict[str, str] = {}
    for name, klass in _classes(release, package):
        now, is_open = release.members(klass), _is_open(release, klass)
        for later, version in pairwise(last):
            if (there := (before := library.release(version)).find(name)) is None or not _is_class(there):
                break
            for word, found in {"": there, **before.members(there)}.items():
                owner = f"{name}.{word}" if word else name
                if _is_hidden(as_one(name), word) or (as_one(name), word) in known or owner in members:
                    continue
                if word and word not in now:
                    if not is_open and not _is_importable(owner) and not _is_put_there(root, name, word):
                        members[owner] = f"{later.major}.{later.minor}"
                    continue
                taken, parameters = release.parameters(now.get(word, klass)), before.parameters(found)
                if taken is None or taken.rest or parameters is None:
                    continue
                for argument in parameters.defaults.keys() - taken.defaults.keys():
                    if (
                        argument != "_"
                        and (as_one(owner), argument) not in known
                        and not _is_taken(as_one(owner), argument)
                    ):
                        arguments.setdefault(f"{owner}:{argument}", f"{later.major}.{later.minor}")
    for name, function in _functions(release, package):
        for later, version in pairwise(last):
            taken, there = release.parameters(function), library.release(version).find(name)
            parameters = library.release(version).parameters(there) if there is not None else None
            if taken is None or taken.rest or parameters is None:
                break
            for argument in parameters.defaults.keys() - taken.defaults.keys():
                if argument == "_" or _is_taken(as_one(name), argument):
                    continue
                if (as_one(name), argument) not in known:
                    arguments.setdefault(f"{name}:{argument}", f"{later.major}.{later.minor}")
    return _by_release(members), _by_release(arguments)


def _is_put_there(root: Path, klass: str, word: str) -> bool:
    """Whether other code of a release gives objects of a class an attribute: `trainer.callbacks = …`."""
    kind = re.findall("[A-Z][a-z]+", klass)[-1:]
    return bool(kind) and f"{kind[0].lower()}.{word}" in _put(root)


@cache
def _put(root: Path) -> frozenset[str]:
    """The attributes that code below a directory sets, each with the last name of what it sets them on."""
    texts = (file.read_text(encoding="utf-8", errors="replace") for file in root.rglob("*.py"))
    return frozenset(each for text in texts for each in re.findall(r"(\w+\.\w+)\s*(?::[^=\n]+)?=(?!=)", text))


def _is_hidden(klass: str, word: str) -> bool:
    """Whether a member is a class's own affair: of a class that people extend, it is theirs, too."""
    return word.startswith("__" if klass in _EXTENDED else "_")


def changed_defaults(library: Library, newest: Version) -> dict[str, list[str]]:
    """The minor version that changed them → defaults of constructors, as `owner:argument: old -> new`.

    A default that became None is left out: mostly it says since then that nothing was given.
    """
    package, release = PACKAGES.get(library.name, library.name), library.release(newest)
    known = {(row.owner, row.old) for row in rows()}
    last = sorted({v.release[:2]: v for v in library.versions if v <= newest}.values(), reverse=True)
    found: dict[str, str] = {}
    for name, klass in _classes(release, package):
        kept = release.parameters(klass)
        for later, version in pairwise(last):
            there = library.release(later).find(name), library.release(version).find(name)
            if there[0] is None or there[1] is None or not (_is_class(there[0]) and _is_class(there[1])):
                break
            now, before = library.release(later).parameters(there[0]), library.release(version).parameters(there[1])
            if now is None or before is None or kept is None:
                break
            for argument in now.defaults.keys() & before.defaults.keys() & kept.defaults.keys():
                old, new = before.defaults[argument], now.defaults[argument]
                if (as_one(name), argument) not in known and _is_another_value(old, new):
                    found[f"{as_one(name)}:{argument}: {old} -> {new}"] = f"{later.major}.{later.minor}"
    return _by_release(found)


_READS = re.compile(
    r"(?:environ(?:\.get|\.pop|\.setdefault)?\s*[(\[]|getenv\(|parse_flag_from_env\()\s*[\"']([A-Z][A-Z0-9_]{3,})[\"']"
)


def gone_variables(library: Library, newest: Version) -> dict[str, list[str]]:
    """The minor version that no longer reads them → environment variables."""
    package = PACKAGES.get(library.name, library.name)
    last = sorted({v.release[:2]: v for v in library.versions if v <= newest}.values())
    found: dict[str, str] = {}
    for version, later in pairwise(last):
        root = _root(library, version, package)
        for file in (root / package).rglob("*.py") if root is not None else ():
            if not any(part in _LEFT_OUT for part in file.parts):
                names = _READS.findall(file.read_text(encoding="utf-8", errors="replace"))
                found |= {name: f"{later.major}.{later.minor}" for name in names if name not in newest_words()}
    return _by_release(found)


def _is_another_value(old: str, new: str) -> bool:
    """Whether two sources of defaults are values that differ, and the newer one says something."""
    try:
        was, becomes = ast.literal_eval(old), ast.literal_eval(new)
    except (ValueError, SyntaxError):
        return False
    return becomes is not None and was != becomes and (old, new) not in _SAME


def _is_open(release: Release, klass: Found) -> bool:
    """Whether objects of a class may have any attribute: by `__getattr__`, or by what their constructor is given."""
    classes = [each.node for each in release.lineage(klass)]
    return any(re.search(r"def __getattr|setattr\(self,", ast.unparse(each)) for each in classes if each is not None)


def telling(owners: Iterable[str], words: frozenset[str]) -> list[str]:
    """The members whose name occurs nowhere in the newest releases: it is told of objects that nobody knows, too."""
    found = {name.rpartition(".")[2] for name in owners}
    return sorted(word for word in found - words if "_" in word.strip("_"))


@cache
def newest_words() -> frozenset[str]:
    """All words in the sources of the newest releases, those of torch among them."""
    roots = [
        _root(Library(name, offline=True), Version(version), PACKAGES.get(name, name))
        for name, version in NEWEST.items()
    ]
    files = (
        file
        for root, name in zip(roots, NEWEST, strict=True)
        if root
        for file in (root / PACKAGES.get(name, name)).rglob("*.py")
    )
    torch = Path(str(importlib.metadata.distribution("torch").locate_file("torch"))).rglob("*.py")
    return frozenset(w for file in chain(files, torch) for w in re.findall(r"\w+", file.read_text("utf-8", "replace")))


def _classes(release: Release, package: str) -> Iterator[tuple[str, Found]]:
    """The public classes of a release, each under the shortest of its names."""
    found: dict[int, tuple[str, Found]] = {}
    root = release.roots[package]
    for name in sorted(defined(root, package), key=lambda each: (each.count("."), each)):
        module, _, last = name.rpartition(".")
        inside = release.module(module)
        if module.count(".") > 1 or not last[:1].isupper() or inside is None:
            continue
        if not inside.package and not module.startswith(_OPEN):
            continue
        if (what := release.find(name)) is not None and _is_class(what):
            found.setdefault(id(what.node), (name, what))
    return iter(found.values())


def _functions(release: Release, package: str) -> Iterator[tuple[str, Found]]:
    """The public functions of a release, each under all names that a package gives it."""
    for name in defined(release.roots[package], package):
        module, _, last = name.rpartition(".")
        inside = release.module(module)
        if module.count(".") > (2 if module.startswith(_OPEN) else 1) or inside is None or not last[:1].islower():
            continue
        if inside.package or module.startswith(_OPEN):
            if (what := release.find(name)) is not None and isinstance(what.node, ast.FunctionDef):
                yield name, what


def _is_class(found: Found) -> bool:
    return isinstance(found.node, ast.ClassDef)


def _by_release(found: Mapping[str, str]) -> dict[str, list[str]]:
    return {
        version: sorted(each for each in found if found[each] == version)
        for version in sorted(set(found.values()), key=Version)
    }


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
    """Whether the installed release has a name all the same: by `__getattr__`, a star import, or a base elsewhere."""
    module, _, last = name.rpartition(".")
    try:
        if module.rpartition(".")[2][:1].isupper():
            owner, _, klass = module.rpartition(".")
            return hasattr(getattr(importlib.import_module(owner), klass), last)
        if hasattr(importlib.import_module(module), last):
            return True
        importlib.import_module(name)
    except Exception:
        return False
    return True


def _is_taken(owner: str, argument: str) -> bool:
    """Whether the installed release takes an argument all the same: by `**kwargs`, or where no source has it."""
    module, names = owner, list[str]()
    while module:
        module, _, last = module.rpartition(".")
        names.insert(0, last)
        try:
            found = reduce(getattr, names, importlib.import_module(module))
            makers = (found, found.__post_init__) if hasattr(found, "__post_init__") else (found,)
            given = [each for maker in makers for each in inspect.signature(maker).parameters.values()]
        except Exception:
            continue
        return any(each.name == argument or each.kind is each.VAR_KEYWORD for each in given)
    return False


def cached(library: Library, cache: Path) -> list[Version]:
    """The releases that are unpacked already."""
    distribution = DISTRIBUTIONS.get(library.name, library.name)
    names = (path.name.removeprefix(f"{distribution}-") for path in cache.glob(f"{distribution}-[0-9]*"))
    return sorted(each for name in names if not (each := Version(name)).is_prerelease)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.gone_names", description="Write the lists of gone names.")
    parser.add_argument("--library", nargs="+", default=sorted(NEWEST), metavar="NAME")
    parser.add_argument("--lists", nargs="+", choices=LISTS, default=LISTS)
    parser.add_argument("--cache", type=Path, default=CACHE, metavar="DIR")
    options = parser.parse_args()
    for name in options.library:
        library = Library(name, options.cache, offline=True)
        newest = Version(NEWEST[name])
        library.versions = sorted({*cached(library, options.cache), newest})
        known = json.loads(_file(name).read_text(encoding="utf-8")) if _file(name).exists() else {}
        lists = {
            "names": {},
            "models": {},
            "members": {},
            "arguments": {},
            "words": {},
            "defaults": {},
            "environment": {},
        }
        lists |= known
        if "names" in options.lists:
            lists["names"] = _with_known(lists["names"], gone(library, newest))
        if "models" in options.lists:
            lists["models"] = _with_known(lists["models"], gone_models(library, newest))
        if "members" in options.lists:
            members, arguments = gone_members(library, newest)
            lists["members"] = _with_known(lists["members"], members)
            lists["arguments"] = _with_known(lists["arguments"], arguments)
            lists["words"] = {"telling": telling(chain(*lists["members"].values()), newest_words())}
        if "defaults" in options.lists:
            lists["defaults"] = _with_known(lists["defaults"], changed_defaults(library, newest))
        if "environment" in options.lists:
            lists["environment"] = _with_known(lists["environment"], gone_variables(library, newest))
        write(name, lists)
    return 0


def _with_known(known: Mapping[str, list[str]], found: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """What is listed already, with the release that was found with more of them at hand, and what is new."""
    told = {name: version for version, names in known.items() for name in names}
    rows_of_tables = {row.old for row in rows() if row.place == "name"}
    new = {name: version for version, names in found.items() for name in names}
    return _by_release({name: version for name, version in (new | told).items() if as_one(name) not in rows_of_tables})


def _file(library: str) -> Path:
    return TABLES / "gone" / f"{library}.json"


def write(library: str, lists: Mapping[str, Mapping[str, Iterable[str]]]) -> None:
    """Write the lists of a library."""
    for title, found in lists.items():
        print(f"{library}: {sum(len(list(names)) for names in found.values())} {title}")
    _file(library).write_text(json.dumps(lists, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
