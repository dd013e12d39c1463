"""What the sources of a library's releases define, read without importing: names, members, parameters.

Wheels come from pip's index, and their `*.py` files stay in a cache. Where the installed release is meant, it is read.
"""

from __future__ import annotations

import ast
import importlib.metadata
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from packaging.version import Version

CACHE = Path.home() / ".cache/fixer-names"
COMPANIONS = {"trl": "transformers"}  # whose classes a library builds on
DISTRIBUTIONS = {"lightning": "pytorch-lightning"}  # which has the releases before 1.8 too
OTHER = {"lightning.pytorch": "pytorch_lightning", "transformers.PreTrainedConfig": "transformers.PretrainedConfig"}
WARNING = re.compile(r"deprecat|be removed|removed in|FutureWarning", re.IGNORECASE)


@dataclass
class Module:
    """The names that the source of a module gives it: a node, or the dotted name that an import stands for."""

    name: str
    text: str
    package: bool
    names: dict[str, ast.AST | str] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.lazy = "_LazyModule" in self.text
        self._read(ast.parse(self.text).body)

    def _read(self, body: list[ast.stmt]) -> None:
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                self.names[node.name] = node
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                self.names.update({target.id: node for target in targets if isinstance(target, ast.Name)})
            elif isinstance(node, ast.Import):
                self.names.update(
                    {each.asname or each.name.split(".")[0]: each.name for each in node.names if each.asname}
                )
            elif isinstance(node, ast.ImportFrom):
                here = (
                    self.name.split(".")[: len(self.name.split(".")) - node.level + self.package] if node.level else []
                )
                source = ".".join([*here, *filter(None, [node.module])])
                self.stars += [source for each in node.names if each.name == "*"]
                self.names.update({each.asname or each.name: f"{source}.{each.name}" for each in node.names})
            elif isinstance(node, ast.If | ast.Try | ast.With):
                if not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test) and not self.lazy):
                    self._read(node.body)
                for more in (getattr(node, "orelse", []), getattr(node, "finalbody", [])):
                    self._read(more)
                for handler in getattr(node, "handlers", []):
                    self._read(handler.body)
        if isinstance(getattr_ := self.names.get("__getattr__"), ast.FunctionDef):
            for each in ast.walk(getattr_):  # names that are deprecated, or imported when asked for
                if isinstance(each, ast.Constant) and isinstance(each.value, str) and each.value.isidentifier():
                    self.names.setdefault(each.value, each)


@dataclass(frozen=True)
class Found:
    """A definition, or a name of which no more can be read (`node` is None), and the module that it stands in."""

    module: Module
    node: ast.AST | None


@dataclass(frozen=True)
class Parameters:
    """The parameters of a call with the sources of their defaults; with `rest`, any other name is accepted too."""

    defaults: dict[str, str]
    rest: bool

    def positions(self) -> list[str]:
        return [name for name in self.defaults if name != "*"][: list(self.defaults).index("*")]


class Release:
    """The sources of one release of a library: the folders that hold its packages, and those of its companion."""

    def __init__(self, version: Version, roots: Mapping[str, Path]) -> None:
        self.version, self.roots = version, roots
        self._modules: dict[str, Module | None] = {}
        self._options: dict[str, list[set[str]]] = {}
        self._members: dict[ast.AST, dict[str, Found]] = {}

    def module(self, name: str) -> Module | None:
        """The module of this dotted name, if there is one."""
        if name not in self._modules:
            self._modules[name] = None
            if root := self.roots.get(name.split(".")[0]):
                place = root.joinpath(*name.split("."))
                file = place.with_name(place.name + ".py")
                if (path := place / "__init__.py").is_file() or (path := file).is_file():
                    self._modules[name] = Module(name, path.read_text(encoding="utf-8"), path != file)
                elif place.is_dir() and any(place.glob("*.py")):
                    self._modules[name] = Module(name, "", True)  # a package without a file of its own
        return self._modules[name]

    @cached_property
    def _models(self) -> dict[str, str]:
        """Where the names stand that packages collect from the `__all__` of the modules below them."""
        found: dict[str, str] = {}
        if root := self.roots.get("transformers"):
            for path in sorted(root.glob("transformers/models/**/*.py")):
                if exported := re.search(
                    r"^__all__ = \[(.*?)\]", path.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
                ):
                    module = ".".join(path.relative_to(root).with_suffix("").parts)
                    found |= {name: f"{module}.{name}" for name in re.findall(r"[\"'](\w+)[\"']", exported[1])}
        return found

    def find(self, dotted: str, seen: frozenset[str] = frozenset()) -> Found | None:
        """What a dotted name means: a module, or what a module, or a class of one, defines or imports."""
        if dotted in seen:
            return None
        for prefix, other in OTHER.items():
            if dotted == prefix or dotted.startswith(prefix + "."):
                return self.find(other + dotted.removeprefix(prefix), seen)
        if module := self.module(dotted):
            return Found(module, None)
        owner, _, name = dotted.rpartition(".")
        if not owner or not (outer := self.find(owner, seen | {dotted})):
            return None
        if isinstance(outer.node, ast.ClassDef):
            return self.members(outer).get(name)
        if outer.node is not None or (outer.module.name != owner and not self.module(outer.module.name)):
            return None
        what = outer.module.names.get(name)
        if isinstance(what, ast.Assign) and isinstance(what.value, ast.Name):
            return self.find(f"{owner}.{what.value.id}", seen | {dotted}) or Found(outer.module, what)
        if isinstance(what, ast.AST):
            return Found(outer.module, what)
        if isinstance(what, str):
            return self.find(what, seen | {dotted}) or Found(Module(what, "", False), None)
        for star in outer.module.stars:
            if name in self._models and star.endswith(".models"):
                return self.find(self._models[name], seen | {dotted})
            if not star.endswith(".models") and (found := self.find(f"{star}.{name}", seen | {dotted})):
                return found
        return None

    def lineage(self, found: Found) -> Iterator[Found]:
        """The class, then its bases, depth first."""
        yield found
        assert isinstance(found.node, ast.ClassDef)
        for base in found.node.bases:
            above = self.find(f"{found.module.name}.{ast.unparse(base).split('[')[0]}")
            if above and isinstance(above.node, ast.ClassDef) and above.node is not found.node:
                yield from self.lineage(above)

    def members(self, found: Found) -> dict[str, Found]:
        """The methods, properties and attributes of a class by name, its own before those of its bases."""
        members: dict[str, Found] = {}
        for each in self.lineage(found):
            members = self._own_members(each) | members
        return members

    def _own_members(self, found: Found) -> dict[str, Found]:
        assert isinstance(found.node, ast.ClassDef)
        if found.node not in self._members:
            own = self._members[found.node] = {}
            for node in ast.walk(found.node):
                match node:
                    case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()):
                        own.setdefault(name, Found(found.module, node))
            inside = Module(found.module.name, "", False)
            inside._read(found.node.body)
            for name, what in inside.names.items():
                own.setdefault(name, Found(found.module, what if isinstance(what, ast.AST) else None))
        return self._members[found.node]

    def parameters(self, found: Found) -> Parameters | None:
        """The parameters of a function, or of the constructor of a class; None where they cannot be read."""
        if isinstance(found.node, ast.FunctionDef):
            return _of_function(found.node)
        if not isinstance(found.node, ast.ClassDef):
            return None
        fields: dict[str, str] = {}
        for each in reversed(lineage := list(self.lineage(found))):
            assert isinstance(each.node, ast.ClassDef)
            if any(ast.unparse(one).split("(")[0].endswith("dataclass") for one in each.node.decorator_list):
                fields |= _of_dataclass(each.node)
        for at, each in enumerate(lineage):
            assert isinstance(each.node, ast.ClassDef)
            if any(ast.unparse(one).split("(")[0].endswith("dataclass") for one in each.node.decorator_list):
                return Parameters({**fields, "*": ""}, False)
            for node in each.node.body:
                if isinstance(node, ast.FunctionDef) and node.name == "__init__":
                    own = _of_function(node)
                    to_base = re.search(r"super\(.*\)\.__init__\([^)]*\*\*", ast.unparse(node))
                    if own.rest and to_base and lineage[at + 1 :] and (base := self.parameters(lineage[at + 1])):
                        return Parameters(own.defaults | base.defaults, base.rest)
                    return own
        return None

    def accepts(self, owner: str, name: str) -> bool | None:
        """Does `owner` accept this keyword? None where it takes any and its source does not name this one."""
        found = self.find(owner)
        if not found:
            return False
        if (parameters := self.parameters(found)) is None:
            return None
        if name in parameters.defaults or not parameters.rest:
            return name in parameters.defaults
        quoted = rf"[\"']{name}[\"']"
        taken = rf"kwargs\.(?:pop|get|setdefault)\(\s*{quoted}|{quoted} (?:not )?in \w*kwargs|kwargs\[{quoted}\]"
        return True if re.search(taken, ast.unparse(found.node) if found.node else "") else None

    def options(self, owner: str, hints: set[str]) -> set[str]:
        """The strings of the enumerations and literal types with one of `hints`, in the module and those it imports."""
        if not (found := self.find(owner)):
            return set()
        if (name := found.module.name) not in self._options:
            places = {what.rpartition(".")[0] for what in found.module.names.values() if isinstance(what, str)}
            modules = filter(None, [found.module, *map(self.module, sorted(places))])
            self._options[name] = [each for module in modules for each in _enumerations(module)]
        return {each for options in self._options[name] if options & hints for each in options}

    def warns(self, owner: str, old: str) -> bool:
        """Does the source name the old name near a warning?"""
        name = old.rpartition(".")[2]
        places = [found for each in (owner or old.rpartition(".")[0], old) if (found := self.find(each))]
        if places and isinstance(places[0].node, ast.ClassDef):
            places += self.lineage(places[0])
        for each in places:
            lines = each.module.text.splitlines()
            for at, line in enumerate(lines):
                if re.search(rf"\b{name}\b", line) and WARNING.search("\n".join(lines[max(at - 2, 0) : at + 4])):
                    return True
        return False


def _enumerations(module: Module) -> Iterator[set[str]]:
    for node in ast.walk(ast.parse(module.text)):
        enumeration = isinstance(node, ast.ClassDef) and any("Enum" in ast.unparse(base) for base in node.bases)
        if enumeration or (isinstance(node, ast.Subscript) and ast.unparse(node.value).endswith("Literal")):
            body = node.body if isinstance(node, ast.ClassDef) else [node]
            inside = (one for each in body if not isinstance(each, ast.Expr) for one in ast.walk(each))
            yield {one.value for one in inside if isinstance(one, ast.Constant) and isinstance(one.value, str)}


def _of_function(node: ast.FunctionDef) -> Parameters:
    args = node.args
    positional = [*args.posonlyargs, *args.args]
    given = [""] * (len(positional) - len(args.defaults)) + [ast.unparse(each) for each in args.defaults]
    defaults = {each.arg: default for each, default in zip(positional, given, strict=True)}
    if positional and positional[0].arg in ("self", "cls"):
        del defaults[positional[0].arg]
    defaults["*"] = ""
    defaults |= {
        each.arg: ast.unparse(d) if d else "" for each, d in zip(args.kwonlyargs, args.kw_defaults, strict=True)
    }
    for each in node.decorator_list:  # `deprecate_kwarg("old", …)` accepts it too
        if isinstance(each, ast.Call) and "deprecate" in ast.unparse(each.func) and each.args:
            defaults.setdefault(str(ast.literal_eval(each.args[0])), "")
    return Parameters(defaults, args.kwarg is not None)


def _of_dataclass(node: ast.ClassDef) -> dict[str, str]:
    fields = {}
    for each in node.body:
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
            value = each.value
            keywords = {}
            if isinstance(value, ast.Call) and ast.unparse(value.func).endswith("field"):
                keywords = {one.arg: ast.unparse(one.value) for one in value.keywords}
            if "ClassVar" not in ast.unparse(each.annotation) and keywords.get("init") != "False":
                plain = ast.unparse(value) if value else ""
                fields[each.target.id] = keywords.get("default", "") if keywords else plain
    return fields


class Library:
    """The releases of a library: all published ones, or (`offline`) the installed one."""

    def __init__(self, name: str, cache: Path = CACHE, offline: bool = False) -> None:
        self.name, self.cache = name, cache
        self.distribution = DISTRIBUTIONS.get(name, name)
        try:
            self.installed = importlib.metadata.distribution(self.distribution)
            self.versions = [Version(self.installed.version.split("+")[0])]
        except importlib.metadata.PackageNotFoundError:
            self.versions = []
        if not offline and name != "torch":
            said = _pip("index", "versions", self.distribution).split("Available versions: ")[1].splitlines()[0]
            self.versions = sorted(map(Version, said.split(", ")))
        self._releases: dict[Version, Release] = {}

    def before(self, version: Version) -> Version | None:
        """The release before this one."""
        return max((each for each in self.versions if each < version), default=None)

    def release(self, version: Version) -> Release:
        """The sources of a release."""
        if version not in self._releases:
            roots = {self.distribution.replace("-", "_"): self._root(self.distribution, version)}
            if self.name == "lightning" and version >= Version("1.9.0"):  # Fabric is there only
                roots["lightning"] = self._root("lightning", version)
            if companion := COMPANIONS.get(self.name):
                roots[companion] = self._root(companion, Version(importlib.metadata.version(companion)))
            self._releases[version] = Release(version, roots)
        return self._releases[version]

    def _root(self, distribution: str, version: Version) -> Path:
        try:
            installed = importlib.metadata.distribution(distribution)
            if Version(installed.version.split("+")[0]) == version:
                return Path(str(installed.locate_file("")))
        except importlib.metadata.PackageNotFoundError:
            pass
        place = self.cache / f"{distribution}-{version}"
        if not place.is_dir():
            self.cache.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=self.cache) as folder:
                wanted = f"{distribution}=={version}"
                _pip("download", "-q", "--no-deps", "--only-binary", ":all:", "-d", folder, wanted)
                with zipfile.ZipFile(next(Path(folder).glob("*.whl"))) as wheel:
                    wheel.extractall(unpacked := Path(folder, "py"), [n for n in wheel.namelist() if n.endswith(".py")])
                unpacked.rename(place)
        return place


def _pip(*arguments: str) -> str:
    done = subprocess.run([sys.executable, "-m", "pip", *arguments], capture_output=True, text=True, check=True)
    return done.stdout
