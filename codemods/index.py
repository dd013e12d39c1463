"""What all files say together: where a name comes from, what a class descends from, what a project is set to.

Lazy: a file is summarised when a question leads to it. Paths are POSIX, relative to the reader's root. A symbol of the
project is written `path.py:Name`; everything else is a canonical dotted name (`codemods.known`). Unknown is the empty
set, never a guess.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from codemods import known, versions
from codemods.edits import Skip
from codemods.facts import MISSING, UNKNOWN, Assignment, Class, Facts, Literal, Setting, Unknown, gather
from codemods.plan import Project, Target
from codemods.sources.python import decode

NONE: frozenset[str] = frozenset()
_DEPTH = 12


class Reader(Protocol):
    """How the pure core sees files: a work tree, a commit, or a dictionary in a test."""

    def read(self, path: str) -> bytes | None:
        """The bytes of a regular file, None where there is none."""

    def exists(self, path: str) -> bool: ...

    def files(self) -> Sequence[str]:
        """Every Python and packaging file that may be read, sorted."""


@dataclass(frozen=True, slots=True)
class Ref:
    """A class of the project."""

    path: str
    name: str

    def __str__(self) -> str:
        return f"{self.path}:{self.name}"


@dataclass(frozen=True, slots=True)
class Lineage:
    """A class with all its ancestors, nearest first (depth first, as written)."""

    refs: tuple[Ref, ...]
    external: frozenset[str]
    complete: bool
    """False where a base could not be followed."""


class Index:
    """Answers questions that lead to other files. One per run and per version of the texts."""

    def __init__(self, reader: Reader, overrides: Mapping[str, str] | None = None) -> None:
        self.reader = reader
        self.overrides = dict(overrides or {})
        self._texts: dict[str, str] = {}
        self._facts: dict[str, Facts | None] = {}
        self._roots: dict[str, str] = {}
        self.versions = versions.Versions(reader, self.overrides)
        self._settings: dict[str, tuple[tuple[str, Setting], ...]] = {}
        self._literals: dict[tuple[str, tuple[bytes, ...]], tuple[str, ...]] = {}

    def derive(self, changed: Mapping[str, tuple[str, Facts]]) -> Index:
        """The same project with other texts for some files."""
        index = Index(self.reader, self.overrides)
        index._texts = {**self._texts, **{path: text for path, (text, _) in changed.items()}}
        index._facts = {**self._facts, **{path: facts for path, (_, facts) in changed.items()}}
        index._roots, index.versions = self._roots, self.versions
        return index

    # -- files

    def text(self, path: str) -> str | None:
        if path not in self._texts:
            data = self.reader.read(path)
            source = decode(path, data) if data is not None else None
            if source is None or isinstance(source, Skip):
                return None
            self._texts[path] = source.text
        return self._texts[path]

    def facts(self, path: str) -> Facts | None:
        """The facts of a file of the project; None where there is no such file or it cannot be read."""
        if path not in self._facts:
            text = self.text(path)
            facts = gather(path, text) if text is not None else None
            self._facts[path] = None if isinstance(facts, Skip) else facts
        return self._facts[path]

    def root(self, path: str) -> str:
        """The directory of the project that a file belongs to ("" is the root)."""
        directory = posixpath.dirname(path)
        if directory not in self._roots:
            self._roots[directory] = self.versions.root(path)
        return self._roots[directory]

    def project(self, path: str) -> Project:
        """The project that a file belongs to, and the versions it allows."""
        return self.versions.project(self.root(path))

    def target(self, path: str, package: str) -> Target | None:
        """The versions of a package that the project of `path` allows; None: nobody says."""
        return self.project(path).targets.get(package)

    # -- modules and names

    def module(self, importer: str, dotted: str) -> str | Unknown | None:
        """The file of a module as `importer` would import it.

        Returns:
            The path; None for a module outside the project; UNKNOWN where two files answer, or the package is the
            project's own but the module is not found.
        """
        if dotted.startswith("."):
            rest = dotted.lstrip(".")
            base = posixpath.dirname(importer)
            for _ in range(len(dotted) - len(rest) - 1):
                if not base:
                    return UNKNOWN
                base = posixpath.dirname(base)
            return self._file(base, rest) or UNKNOWN
        found: set[str] = set()
        head_is_ours = False
        for base in self._bases(importer):
            if path := self._file(base, dotted):
                found.add(path)
            elif self._file(base, dotted.partition(".")[0]):
                head_is_ours = True
        if len(found) == 1:
            return found.pop()
        return UNKNOWN if found or head_is_ours else None

    def _bases(self, importer: str) -> Iterator[str]:
        directory = posixpath.dirname(importer)
        package = directory
        while package and self.reader.exists(posixpath.join(package, "__init__.py")):
            package = posixpath.dirname(package)
        root = self.root(importer)
        yield from dict.fromkeys((directory, package, root, posixpath.join(root, "src")))

    def _file(self, base: str, dotted: str) -> str | None:
        stem = posixpath.join(base, *dotted.split(".")) if dotted else base
        for path in (f"{stem}.py", posixpath.join(stem, "__init__.py")):
            if (dotted or path.endswith("__init__.py")) and self.reader.exists(path):
                return path
        return None

    def resolve(self, path: str, name: str, _depth: int = 0) -> frozenset[str]:
        """What a dotted name, as written in `path`, may mean. Empty: unknown."""
        facts = self.facts(path)
        if facts is None or _depth > _DEPTH:
            return NONE
        head, _, rest = name.partition(".")
        bound = facts.rebound.get(head, 0)
        imports = list(facts.named(head))
        if imports:
            return NONE if bound else self._union(self._import(path, i.target, rest, _depth) for i in imports)
        if name in facts.classes and "." in name:
            return frozenset({f"{path}:{name}"})
        if head in facts.classes or head in facts.functions:
            definition = facts.classes.get(head) or facts.functions[head]
            return frozenset({f"{path}:{name}"}) if bound == 1 and not definition.conditional else NONE
        if head in facts.assignments:
            given = facts.assignments[head]
            if bound != len(given):
                return NONE
            return self._union(
                self.resolve(path, a.value.dotted + ("." + rest if rest else ""), _depth + 1)
                if a.value.dotted and not a.value.call and a.value.dotted.partition(".")[0] != head
                else NONE
                for a in given
            )
        return NONE if bound else self._starred(path, facts, name, _depth)

    def _starred(self, path: str, facts: Facts, name: str, depth: int) -> frozenset[str]:
        """What star imports make of a name that nothing else binds."""
        answers: set[str] = set()
        head = name.partition(".")[0]
        for star in facts.named("*"):
            target = star.target
            module = self.module(path, target)
            if isinstance(module, str):
                answers |= self.resolve(module, name, depth + 1)
            elif module is None and head in known.STARS.get(target, ()):
                answers.add(known.canonical(f"{target}.{name}"))
        return frozenset(answers)

    @staticmethod
    def _union(parts: Iterable[frozenset[str]]) -> frozenset[str]:
        """All answers together; unknown if one of them is."""
        answers = list(parts)
        return frozenset().union(*answers) if answers and all(answers) else NONE

    def _import(self, path: str, target: str, rest: str, depth: int) -> frozenset[str]:
        """The meaning of `rest` on what `import target` of `path` binds."""
        dotted = f"{target}.{rest}" if rest and not target.endswith(".") else target + rest
        lead = len(dotted) - len(dotted.lstrip("."))
        parts = dotted[lead:].split(".")
        for split in range(len(parts), 0, -1):
            module = self.module(path, dotted[:lead] + ".".join(parts[:split]))
            if isinstance(module, str):
                symbol = ".".join(parts[split:])
                return self.resolve(module, symbol, depth + 1) if symbol else frozenset({module})
            if module is None:
                break
        if lead:
            base = self.module(path, dotted[:lead])
            return self.resolve(base, ".".join(parts), depth + 1) if isinstance(base, str) else NONE
        if self.module(path, parts[0]) is not None:
            return NONE
        return frozenset({known.canonical(dotted)})

    def imported_elsewhere(self, path: str, name: str) -> bool:
        """Whether another file of the project takes `name` from the module `path`, or might."""
        for candidate in self.search(path, (name.encode(),)):
            facts = self.facts(candidate) if candidate != path else None
            for i in facts.imports if facts else ():
                base, _, last = i.target.rpartition(".")
                if i.name == "*" and self.module(candidate, i.target) == path:
                    return True
                if last == name and self.module(candidate, base or "." * len(i.target)) == path:
                    return True
                stem = posixpath.basename(path.removesuffix("/__init__.py")).removesuffix(".py")
                if last == stem and self.module(candidate, i.target) == path:
                    return True
        return False

    # -- classes

    def klass(self, ref: Ref) -> Class | None:
        facts = self.facts(ref.path)
        return facts.classes.get(ref.name) if facts else None

    def lineage(self, ref: Ref) -> Lineage:
        """All ancestors of a class."""
        refs: list[Ref] = []
        external: set[str] = set()
        complete = True
        stack = [ref]
        while stack:
            current = stack.pop(0)
            if current in refs:
                continue
            klass = self.klass(current)
            if klass is None or len(refs) > 50:
                complete = False
                continue
            refs.append(current)
            complete = complete and not klass.conditional
            parents: list[Ref] = []
            for base in klass.bases:
                origins = self.base(current, base)
                complete = complete and bool(origins)
                for origin in sorted(origins):
                    if ":" in origin:
                        parents.append(Ref(*origin.split(":", 1)))
                    else:
                        external.add(origin)
            stack[:0] = parents
        return Lineage(tuple(refs), frozenset(external), complete)

    def base(self, ref: Ref, written: str | None) -> frozenset[str]:
        """What a base, as written in the class statement, means."""
        if written is None:
            return NONE
        if (origins := self.resolve(ref.path, written)) or "." in written:
            return origins
        facts = self.facts(ref.path)
        if facts and not any(facts.named("*")) and written not in facts.rebound:
            return frozenset({f"builtins.{written}"}) if not any(facts.named(written)) else NONE
        return NONE

    def descends(self, ref: Ref, names: frozenset[str]) -> bool | None:
        """Whether a class has an ancestor of these canonical names; None where that cannot be told."""
        lineage = self.lineage(ref)
        if lineage.external & names:
            return True
        return False if lineage.complete else None

    def assigned(self, ref: Ref, name: str) -> Iterator[tuple[Ref, Assignment]]:
        """What the class and its ancestors assign to an attribute, on the class or on `self`, nearest class first."""
        for each in self.lineage(ref).refs:
            klass = self.klass(each)
            for assignment in klass.attributes.get(name, ()) if klass else ():
                yield each, assignment

    def constant(self, ref: Ref, name: str, methods: Sequence[str] = ("__init__",)) -> Literal | Unknown:
        """The literal that an attribute surely holds on instances of a class.

        `methods` are those whose unconditional `self.name = literal` counts; an assignment anywhere else, under a
        condition, of something else than a literal, or of another value, is UNKNOWN. A property that only returns a
        literal counts as that literal. MISSING: nobody in the (fully known) lineage sets it.
        """
        lineage = self.lineage(ref)
        for each in lineage.refs:
            klass = self.klass(each)
            if klass is None:
                return UNKNOWN
            if (method := klass.methods.get(name)) is not None:
                return method.returns.literal if method.is_property and not method.conditional else UNKNOWN
            given = klass.attributes.get(name, ())
            if not given:
                continue
            on_self = [a for a in given if a.method]
            if any(a.conditional or (a.method and a.method not in methods) for a in given):
                return UNKNOWN
            values = {(type(a.value.literal), a.value.literal) for a in (on_self or given)}
            return (on_self or list(given))[0].value.literal if len(values) == 1 else UNKNOWN
        return MISSING if lineage.complete or lineage.external else UNKNOWN

    def method(self, ref: Ref, name: str) -> Ref | None:
        """The nearest class in the lineage that defines a method, if every class before it is known."""
        for each in self.lineage(ref).refs:
            klass = self.klass(each)
            if klass is None:
                return None
            if name in klass.methods:
                return each
        return None

    def subclasses(self, ref: Ref) -> Iterator[Ref]:
        """Classes of the same project that descend from `ref`, among the files that mention its name."""
        for path in self.search(ref.path, (ref.name.rpartition(".")[2].encode(),)):
            facts = self.facts(path)
            for name in facts.classes if facts else ():
                candidate = Ref(path, name)
                if candidate != ref and ref in self.lineage(candidate).refs:
                    yield candidate

    # -- projects

    def search(self, path: str, literals: tuple[bytes, ...]) -> tuple[str, ...]:
        """The Python files of the project of `path` that hold any of the literals, sorted."""
        root = self.root(path)
        key = (root, literals)
        if key not in self._literals:
            found = []
            for candidate in self.reader.files():
                if candidate.endswith(".py") and (not root or candidate.startswith(root + "/")):
                    if self.root(candidate) == root:
                        known_text = self._texts.get(candidate)
                        data = known_text.encode() if known_text is not None else self.reader.read(candidate)
                        if data is not None and any(literal in data for literal in literals):
                            found.append(candidate)
            self._literals[key] = tuple(found)
        return self._literals[key]

    def settings(self, path: str) -> tuple[tuple[str, Setting], ...]:
        """The calls in the project of `path` that may set precision or training mode, each with its file."""
        root = self.root(path)
        if root not in self._settings:
            literals = tuple(sorted(name.encode() for name in known.SETTINGS))
            self._settings[root] = tuple(
                (candidate, setting)
                for candidate in self.search(path, literals)
                if (facts := self.facts(candidate))
                for setting in facts.settings
            )
        return self._settings[root]
