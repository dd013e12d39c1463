"""What all files say together: where a name comes from, what a class descends from, what a project is set to.

Lazy: a file is summarised when a question leads to it. Paths are POSIX, relative to the reader's root. A symbol of the
project is written `path.py:Name`; everything else is a canonical dotted name (`codemods.model.names`). Unknown is
the empty set, never a guess.
"""

from __future__ import annotations

import ast
import posixpath
import sys
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

from codemods.model.edits import Skip
from codemods.model.names import SETTINGS, STARS, canonical, is_a_plain_base
from codemods.model.plan import Project, Target
from codemods.model.profile import SILENT, Recorder
from codemods.project import versions
from codemods.project.asked_facts import AskedFacts
from codemods.project.dependencies import (
    Answered,
    Asked,
    Code,
    Content,
    Existence,
    Fact,
    Holding,
    Importing,
    Noted,
    Packaging,
    Question,
    Questions,
    Replacing,
    Search,
    Using,
    Words,
    entries,
    identity,
    unpacked,
)
from codemods.project.importing import IMPORTING_BY_TEXT, Importers, module_of
from codemods.sources import files
from codemods.sources.document import Document, Reader
from codemods.syntax.facts import MISSING, UNKNOWN, Assignment, Class, Facts, Literal, Setting, Unknown, parse
from codemods.syntax.module import Module

if TYPE_CHECKING:
    from codemods.sources.manifest import Requirement

T = TypeVar("T")
NONE: frozenset[str] = frozenset()
_MODULES_BY_NAME = ("import_module", "__import__", "sys.modules", "run_path", "run_module", "spec_from_file_location")
"""What gives a program a module whose name is a text."""
_NAMES_BY_TEXT = ("getattr", "vars(", "__dict__", "attrgetter", "methodcaller", "globals(", "getmembers")
_LONGEST = 20
"""Dots in a name; more are no answer."""
_KNOWN = (
    sys.stdlib_module_names | {each.replace("-", "_") for each in versions.PACKAGES} | {"numpy", "torchvision", "yaml"}
)
"""Modules that are no folder of the project, wherever a folder of that name lies."""
_MOST_TEXT = 5_000_000
"""Characters of text that are kept."""
_MOST_TREES = 6_000_000
"""Characters of text whose syntax trees are kept."""


class _Rewritten:
    """A reader of a tree in which some files hold another text by now."""

    def __init__(self, reader: Reader, texts: Mapping[str, str]) -> None:
        self._reader, self._texts = reader, texts

    def read(self, path: str, /) -> bytes | None:
        return self._texts[path].encode() if path in self._texts else self._reader.read(path)

    def exists(self, path: str, /) -> bool:
        return self._reader.exists(path)

    def files(self) -> Sequence[str]:
        return self._reader.files()


@dataclass(frozen=True, slots=True)
class Ref:
    """A class of the project."""

    path: str
    name: str

    @classmethod
    def of(cls, origin: str) -> Ref:
        """The class that a canonical name of the project's own, `path.py:Name`, is that of."""
        return cls(*origin.split(":", 1))

    def __str__(self) -> str:
        return f"{self.path}:{self.name}"


@dataclass(frozen=True, slots=True)
class Lineage:
    """A class with all its ancestors in the order in which attributes are looked up."""

    refs: tuple[Ref, ...]
    external: frozenset[str]
    complete: bool
    """False where a base could not be followed."""


def _stem(path: str) -> str:
    return posixpath.basename(path).removesuffix(".py")


class _Once(dict[str, str]):
    """Values that are found when they are first asked for."""

    def __init__(self, find: Callable[[str], str]) -> None:
        super().__init__()
        self._find = find

    def __missing__(self, key: str) -> str:
        found = self[key] = self._find(key)
        return found


class _Trees:
    """The syntax trees that were used last."""

    def __init__(self) -> None:
        self._modules: OrderedDict[str, Module] = OrderedDict()
        self._size = 0
        """Characters of text that the kept trees are of."""

    def get(self, path: str, text: str) -> Module | None:
        """The tree of a file, if it is kept and of this text."""
        module = self._modules.get(path)
        if module is None or module.text != text:
            return None
        self._modules.move_to_end(path)
        return module

    def keep(self, path: str, module: Module) -> None:
        old = self._modules.pop(path, None)
        self._size += len(module.text) - (len(old.text) if old is not None else 0)
        self._modules[path] = module
        while self._size > _MOST_TREES and len(self._modules) > 1:
            self._size -= len(self._modules.popitem(last=False)[1].text)


class Index:
    """Answers questions that lead to other files. One per run and per version of the texts."""

    def __init__(
        self,
        reader: Reader,
        overrides: Mapping[str, str | Target] | None = None,
        *,
        recorder: Recorder = SILENT,
        noting: bool = False,
    ) -> None:
        """`noting`: what is found will be remembered, with the questions that led there."""
        self.reader, self.recorder = reader, recorder
        self.overrides = dict(overrides or {})
        self.questions = Questions(noting)
        self._answers: dict[Question, str] = {}
        self.contents: Mapping[str, str] = _Once(partial(identity, reader))
        """What stands for the content of each file."""
        self.entries: Mapping[str, str] = _Once(partial(entries, reader))
        """What stands for what is in each directory; "" where nobody knows."""
        self._texts: dict[str, str] = {}
        """Of the files read last."""
        self._size = 0
        self._new: dict[str, str] = {}
        """Of files that hold another text by now."""
        self._facts: dict[str, Facts | None] = {}
        self._documents: dict[str, Document | Skip] = {}
        self._changed: dict[str, str] = {}
        """Packaging files with another text by now."""
        self._roots: dict[str, str] = {}
        self._versions = versions.Versions(reader, self.overrides)
        self._trees = _Trees()
        self._resolved: dict[tuple[str, str], tuple[frozenset[str], frozenset[Noted]]] = {}
        self._asking: dict[tuple[str, str], frozenset[str]] = {}
        self._holders: dict[Search, tuple[str, ...]] = {}
        self._importers: Importers | None = None
        self._files: frozenset[str] | None = None
        self._recalled: dict[tuple[object, ...], tuple[Any, frozenset[Noted]]] = {}
        self.past: Callable[[str], bytes | None] = lambda identity: None
        """What a file held by the identity of that content, where anybody knows."""
        self.searched_together: tuple[bytes, ...] = ()
        """Literals that will be searched for sooner or later, in one reading of the files."""
        self.packages: tuple[str, ...] = ()
        """Packages whose imports will be looked for sooner or later."""
        self._users: Mapping[str, frozenset[str]] | None = None
        """The files that import such packages, with these."""
        self.searched: Callable[[Search], tuple[str, ...] | None] = lambda question: None
        """The files that a search finds, where somebody knows without reading them all."""
        self._still: dict[tuple[Asked, str], bool] = {}
        self._still_answered: dict[Answered, bool] = {}
        self._answered: dict[frozenset[Noted], Answered] = {}
        self._paths: dict[frozenset[Noted], frozenset[str]] = {}
        self._texts_before: dict[tuple[str, str], str | None] = {}
        self._facts_before: dict[tuple[str, str], Facts | None] = {}
        self._asked_facts: dict[str, Facts] = {}

    def derive(self, changed: Mapping[str, tuple[str, Facts | None]]) -> Index:
        """The same project with other texts for some files; facts only for those that are Python."""
        index = Index(self.reader, self.overrides, recorder=self.recorder, noting=self.questions.wanted)
        index._texts, index._size = self._texts, self._size
        index._new = {**self._new, **{path: text for path, (text, _) in changed.items()}}
        index._facts = {**self._facts, **{path: facts for path, (_, facts) in changed.items()}}
        index._documents = {path: known for path, known in self._documents.items() if path not in changed}
        index._roots, index._versions = self._roots, self._versions
        index._trees = self._trees
        index.packages, index._users = self.packages, self._users
        index._changed = {
            **self._changed,
            **{path: text for path, (text, _) in changed.items() if files.is_manifest(path)},
        }
        for question, holders in self._holders.items():
            kept = [path for path in holders if path not in changed]
            looked = (path for path in changed if question.covers(path) and path in self._listed())
            holding = (path for path in looked if index.holds(path, question))
            index._holders[question] = tuple(sorted((*kept, *holding)))
        index._files, index._importers = self._files, self._importers
        if index._changed != self._changed:
            index._versions = versions.Versions(_Rewritten(self.reader, index._changed), self.overrides)
        return index

    def answer(self, question: Question) -> str:
        """The answer to a question, as what is remembered is compared by."""
        if question not in self._answers:
            self._answers[question] = question.answer(self)
        return self._answers[question]

    def text_of(self, path: str, identity: str | None = None) -> str | None:
        """The text of a file as it is, or as it was with a content of that identity; nobody asks for it."""
        if identity is None:
            return self._text(path)
        if (path, identity) not in self._texts_before:
            data = self.past(identity)
            source = files.decode(path, data) if data is not None else None
            text = None if source is None or isinstance(source, Skip) else source.text
            self._texts_before[path, identity] = text
        return self._texts_before[path, identity]

    def facts_of(self, path: str, identity: str | None = None) -> Facts | None:
        """The same for the facts of a file."""
        if identity is None:
            return self._read_facts(path)
        if (path, identity) not in self._facts_before:
            text = self.text_of(path, identity)
            found = parse(path, text) if text is not None else None
            self._facts_before[path, identity] = None if found is None or isinstance(found, Skip) else found[0]
        return self._facts_before[path, identity]

    def all_still(self, answers: Sequence[tuple[Asked, str]]) -> bool:
        """Whether all of these questions have the answers that they had."""
        known = self._still
        for each in answers:
            if (same := known.get(each)) is None:
                same = known[each] = unpacked(each[0]).still(each[1], self)
            if not same:
                return False
        return True

    def holds_still(self, answered: Answered) -> bool:
        """The same for what several results were found by."""
        if answered not in self._still_answered:
            self._still_answered[answered] = answered.still(self)
        return self._still_answered[answered]

    def answered(self, questions: frozenset[Noted]) -> Answered:
        """A set of questions with their answers."""
        if questions not in self._answered:
            further = [self.answered(each) for each in questions if isinstance(each, frozenset)]
            self._answered[questions] = Answered.of(questions, further, self)
        return self._answered[questions]

    def paths_asked(self, questions: frozenset[Noted]) -> frozenset[str]:
        """The files whose content a set of questions is about."""
        if questions not in self._paths:
            inner = (self.paths_asked(each) for each in questions if isinstance(each, frozenset))
            own = (each.path for each in questions if isinstance(each, (Content, Code, Fact, Words)))
            self._paths[questions] = frozenset(own).union(*inner)
        return self._paths[questions]

    def searches(self) -> Mapping[Search, tuple[str, ...]]:
        """The searches that were made, with the files that were found."""
        return self._holders

    # -- files

    @property
    def versions(self) -> versions.Versions:
        """What the packaging files of the tree say."""
        self.questions.ask(Packaging())
        return self._versions

    def syntax(self, path: str) -> Module | None:
        """The syntax tree of a file; None where it cannot be read, or has line ends that `ast` does not count.

        Those looked at last are kept.
        """
        self.questions.ask(Code(path))
        text = self._text(path)
        if text is None or self._read_facts(path) is None or "\r" in text.replace("\r\n", ""):
            return None
        module = self._trees.get(path, text)
        if module is None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                module = Module(text)
            self._trees.keep(path, module)
        return module

    def text(self, path: str) -> str | None:
        """The text of a file, comments included; who needs less asks for `facts`, `syntax` or `says`."""
        self.questions.ask(Content(files.container(path)))
        return self._text(path)

    def says(self, path: str, *words: str) -> bool:
        """Whether the text of a file holds one of some words; comments count."""
        question = Words(path, words)
        self.questions.ask(question)
        return question.held(self._text(path) or "")

    def _text(self, path: str) -> str | None:
        if path in self._new:
            return self._new[path]
        if path not in self._texts:
            data = self.reader.read(files.container(path))
            source = files.decode(path, data) if data is not None else None
            if source is None or isinstance(source, Skip):
                return None
            self._texts[path] = source.text
            self._size += len(source.text)
            while self._size > _MOST_TEXT and len(self._texts) > 1:
                self._size -= len(self._texts.pop(next(iter(self._texts))))
        return self._texts[path]

    def facts(self, path: str) -> Facts | None:
        """The facts of a file of the project; None where there is no such file or it cannot be read."""
        facts = self._read_facts(path)
        if not self.questions.wanted:
            return facts
        self.questions.ask(Fact(path))
        if facts is None:
            return None
        if path not in self._asked_facts:
            self._asked_facts[path] = cast("Facts", AskedFacts(facts, self.questions))
        return self._asked_facts[path]

    def _read_facts(self, path: str) -> Facts | None:
        if path not in self._facts:
            text = self._text(path)
            with self.recorder.phase("facts"):
                parsed = parse(path, text) if text is not None else None
            if parsed is None or text is None or isinstance(parsed, Skip):
                self._facts[path] = None
            else:
                self._facts[path] = parsed[0]
                self._trees.keep(path, Module(text, parsed[1]))
        return self._facts[path]

    def document(self, path: str) -> Document | None:
        """A file that is not (only) Python, read; None where there is none or it cannot be read."""
        document = self.reading(path)
        return None if isinstance(document, Skip) else document

    def reading(self, path: str) -> Document | Skip | None:
        """The same, with the reason why it cannot be read."""
        if files.is_manifest(path):
            return self.versions.manifest(path)
        self.questions.ask(Content(files.container(path)))
        if path not in self._documents:
            text = self.text(path) if files.is_document(path) else None
            if text is None:
                return None
            self._documents[path] = files.read(path, text)
        return self._documents[path]

    def root(self, path: str) -> str:
        """The directory of the project that a file belongs to ("" is the root)."""
        self.questions.ask(Packaging())
        directory = posixpath.dirname(path)
        if directory not in self._roots:
            self._roots[directory] = self._versions.root(path)
        return self._roots[directory]

    def project(self, path: str) -> Project:
        """The project that a file belongs to, and the versions it allows."""
        return self.versions.project(self.root(path))

    def target(self, path: str, package: str) -> Target | None:
        """The versions of a package that the project of `path` (or a notebook itself) allows; None: nobody says.

        Of a project that asks for `lightning` and `pytorch-lightning`, a file is told of the one that it imports.
        """
        target = self.versions.allowed(path).get(package)
        if target is None or not target.either or (facts := self.facts(path)) is None:
            return target
        imported = {each.target.partition(".")[0].replace("_", "-") for each in facts.imports}
        named = [each for each in target.either if each.package in imported]
        return named[0] if len(named) == 1 else target

    def nearest(self, path: str) -> str:
        """The directory that has or lacks `path`, or the way to it: nobody asks for it."""
        directory = path.rpartition("/")[0]
        while directory and not self.reader.exists(directory):
            directory = directory.rpartition("/")[0]
        return directory

    def exists(self, path: str) -> bool:
        """Whether there is a file or directory of that name."""
        self.questions.ask(Existence(path))
        return self.reader.exists(path)

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
        if not found and not head_is_ours:
            started = (self._file(base, dotted) for base in self._starts(importer, dotted.partition(".")[0]))
            found.update(path for path in started if path)
        if len(found) == 1:
            return found.pop()
        return UNKNOWN if found or head_is_ours else None

    def _starts(self, importer: str, head: str) -> tuple[str, ...]:
        """The other folders around a file that hold a module of this name: a program may be started in one.

        Not where a library is called so (`started_in_a_folder_between`).
        """
        directory = posixpath.dirname(importer)
        around = () if head in _KNOWN else tuple(each for each in self._between(directory) if each != directory)

        def found() -> tuple[str, ...]:
            return tuple(
                base
                for base in around
                if self.exists(posixpath.join(base, f"{head}.py")) or self.exists(posixpath.join(base, head))
            )

        return self.recall((Index._starts, directory, head), found) if around else ()

    def _between(self, directory: str) -> Iterator[str]:
        """A directory, and those above it, below the root of its project."""
        root = self.root(posixpath.join(directory, "_"))
        while directory and directory != root:
            yield directory
            directory = posixpath.dirname(directory)

    def _bases(self, importer: str) -> Iterator[str]:
        directory = posixpath.dirname(importer)
        package = directory
        while package and self.exists(posixpath.join(package, "__init__.py")):
            package = posixpath.dirname(package)
        root = self.root(importer)
        yield from dict.fromkeys((directory, package, root, posixpath.join(root, "src")))

    def _file(self, base: str, dotted: str) -> str | None:
        stem = posixpath.join(base, *dotted.split(".")) if dotted else base
        for path in (posixpath.join(stem, "__init__.py"), f"{stem}.py" if dotted else ""):
            if path and self.exists(path):
                return path
        return None

    def resolve(self, path: str, name: str) -> frozenset[str]:
        """What a dotted name, as written in `path`, may mean. Empty: unknown."""
        key, first = (path, name), not self._asking
        if key in self._resolved:
            known, before = self._resolved[key]
            self.questions.repeat(before)
            return known
        if name.count(".") > _LONGEST:  # `a = a.b` leads from a to a.b to a.b.b and so on
            return NONE
        if not first:
            return self._resolve_once(key)
        try:
            with self.questions.noted() as asked:
                found = self._resolve_once(key)
        finally:
            self._asking.clear()
        self._resolved[key] = found, self.questions.together(asked)
        return found

    def _resolve_once(self, key: tuple[str, str]) -> frozenset[str]:
        if key not in self._asking:
            self._asking[key] = NONE  # a name that leads to itself adds nothing
            self._asking[key] = self._resolve(*key)
        return self._asking[key]

    def _resolve(self, path: str, name: str) -> frozenset[str]:
        facts = self.facts(path)
        if facts is None:
            return NONE
        head, _, rest = name.partition(".")
        bound = facts.rebound.get(head, 0)
        imports = list(facts.named(head))
        if imports and bound == 1 and self._is_extended_under_its_name(facts, head):
            return frozenset({f"{path}:{name}"})
        if imports:
            if bound or self._star_may_rebind(path, facts, head, min(i.line for i in imports)):
                return NONE
            return self._union(self._import(path, i.target, rest) for i in imports)
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
                self.resolve(path, a.value.dotted + ("." + rest if rest else ""))
                if a.value.dotted and not a.value.call
                else NONE
                for a in given
            )
        return NONE if bound else self._starred(path, facts, name)

    def _is_extended_under_its_name(self, facts: Facts, name: str) -> bool:
        """`class Trainer(Trainer)` of an imported class: the name means the new one (`under_the_same_name`)."""
        klass = facts.classes.get(name)
        if klass is None or klass.conditional or name not in klass.bases:
            return False
        return all(each.line < klass.line for each in facts.named(name))

    def _star_may_rebind(self, path: str, facts: Facts, name: str, line: int) -> bool:
        """Whether a star import of a module of the project, after a line, brings another meaning of a name.

        `torch` of a module that imports torch itself is the same (starred_over, starred_the_same).
        """
        later = (star for star in facts.named("*") if star.line > line)
        modules = (self.module(path, star.target) for star in later)
        found = [module for module in modules if isinstance(module, str) and self._binds(module, name)]
        own = self.imported(path, name) if found else NONE
        return any(not own or self.resolve(module, name) != own for module in found)

    def imported(self, path: str, name: str) -> frozenset[str]:
        """What a dotted name, as written in `path`, may mean where nothing but the imports of the file binds it."""
        facts = self.facts(path)
        head, _, rest = name.partition(".")
        return self._union(self._import(path, i.target, rest) for i in facts.named(head)) if facts else NONE

    def _starred(self, path: str, facts: Facts, name: str) -> frozenset[str]:
        """What star imports make of a name that nothing else binds."""
        answers: set[str] = set()
        head = name.partition(".")[0]
        for star in facts.named("*"):
            target = star.target
            module = self.module(path, target)
            if isinstance(module, str):
                found = self.resolve(module, name)
                if not found and self._binds(module, head):
                    return NONE
                answers |= found
            elif module is None and head in STARS.get(target, ()):
                answers.add(canonical(f"{target}.{name}"))
        return frozenset(answers)

    def _binds(self, path: str, name: str, seen: set[str] | None = None) -> bool:
        """Whether a module binds a name, or takes it by a star from one that does (`starred_by_a_package`)."""
        facts, seen = self.facts(path), seen if seen is not None else set()
        if facts is None or path in seen:
            return False
        seen.add(path)
        if name in facts.rebound or any(facts.named(name)):
            return True
        modules = [self.module(path, star.target) for star in facts.named("*")]
        return any(self._binds(module, name, seen) for module in modules if isinstance(module, str))

    @staticmethod
    def _union(parts: Iterable[frozenset[str]]) -> frozenset[str]:
        """All answers together; unknown if one of them is."""
        answers = list(parts)
        return frozenset().union(*answers) if answers and all(answers) else NONE

    def _import(self, path: str, target: str, rest: str) -> frozenset[str]:
        """The meaning of `rest` on what `import target` of `path` binds."""
        dotted = f"{target}.{rest}" if rest else target
        lead = len(dotted) - len(dotted.lstrip("."))
        parts = dotted[lead:].split(".")
        ours = bool(lead)
        for split in range(len(parts), -1 if lead else 0, -1):
            module = self.module(path, dotted[:lead] + ".".join(parts[:split]))
            if isinstance(module, str):
                symbol = ".".join(parts[split:])
                return self.resolve(module, symbol) if symbol else frozenset({module})
            ours = ours or module is UNKNOWN
        return NONE if ours else frozenset({canonical(dotted)})

    def imported_elsewhere(self, path: str, name: str) -> bool:
        """Whether another file of the repository takes `name` from the module `path`, or might."""
        candidates = self.holding("", (name.encode(),), (*files.PYTHON, files.NOTEBOOK))
        takers = self.recall((Index.imported_elsewhere, name), lambda: frozenset(self._takers(name, candidates)))
        if any(module == path and taker != path for module, taker in takers):
            return True
        others = [each for each in candidates if each != path]
        if others and any(self._takes_all(user, path) for user in self.importing(path) if user != path):
            return True  # who imports the one that takes all has the name too (`public_by_a_star`)
        written = (f"{_stem(path)}.{name}", f"{_stem(path)}:{name}")
        others = [each for each in others if self.facts(each) is not None]
        if any(self.says(each, *written, *_MODULES_BY_NAME) for each in others):
            return True
        if any(not files.is_python(each) for each in self.holding("", tuple(map(str.encode, written)), ("",))):
            return True  # `_target_: train.autocast`, `train:autocast`
        quoted = (f'"{name}"', f"'{name}'")
        if any(self.says(each, *quoted) and self.says(each, *_NAMES_BY_TEXT) for each in others):
            return True
        stem = _stem(path)
        asking = self.holding("", IMPORTING_BY_TEXT, files.PYTHON)  # any file may say which names (named_in_yaml)
        if any(self.says(each, f'"{stem}', f"'{stem}", f'.{stem}"', f".{stem}'") for each in asking if each != path):
            return True
        return any(self._hands_on(user, path) for user in self.importing(path) if user != path)

    def _hands_on(self, path: str, module: str) -> bool:
        """Whether a file gives a module to a function, `getattr(train, name)`, or reads its `__dict__`."""
        facts = self.facts(path)
        bound = {each.name for each in facts.imports if self.module(path, each.target) == module} if facts else set()
        syntax = self.syntax(path) if bound else None
        for node in syntax.all(ast.Name) if syntax is not None else ():
            above = syntax.parent(node) if syntax is not None and node.id in bound else None
            if isinstance(above, (ast.Call, ast.keyword)) and getattr(above, "func", None) is not node:
                return True
            if isinstance(above, ast.Attribute) and above.attr == "__dict__":
                return True
        return False

    def _takes_all(self, path: str, module: str) -> bool:
        """Whether a file has a star import of a module."""
        facts = self.facts(path)
        return facts is not None and any(self.module(path, each.target) == module for each in facts.named("*"))

    def _takers(self, name: str, candidates: Sequence[str]) -> Iterator[tuple[str, str]]:
        """The modules that some files import, or from which they take a name or all names; each with the file."""
        stems = set(map(_stem, candidates))
        for candidate in candidates:
            facts = self.facts(candidate)
            for i in facts.imports if facts is not None else ():
                base, _, last = i.target.rpartition(".")
                from_there = [base] if last == name else []
                for dotted in (*from_there, *([i.target] if i.name == "*" or last in stems else [])):
                    if isinstance(module := self.module(candidate, dotted), str):
                        yield module, candidate

    # -- classes

    def klass(self, ref: Ref) -> Class | None:
        facts = self.facts(ref.path)
        return facts.classes.get(ref.name) if facts else None

    def lineage(self, ref: Ref) -> Lineage:
        """All ancestors of a class."""
        return self.recall((Index.lineage, ref), lambda: self._lineage(ref))

    def _lineage(self, ref: Ref) -> Lineage:
        """Depth first, each class once, the last base first: turned round, an ancestor follows all its descendants."""
        left: dict[Ref, None] = {}
        entered: set[Ref] = set()
        external: set[str] = set()
        complete = True
        stack = [(ref, False)]
        while stack:
            current, leaving = stack.pop()
            if leaving:
                left[current] = None
                continue
            if current in entered:
                complete = complete and current in left  # else it is its own ancestor
                continue
            klass = self.klass(current)
            if klass is None:
                complete = False
                continue
            entered.add(current)
            stack.append((current, True))
            complete = complete and not klass.conditional
            for base in klass.bases:
                origins = self.base(current, base)
                complete = complete and bool(origins)
                stack += [(Ref.of(o), False) for o in sorted(origins) if ":" in o]
                external |= {o for o in origins if ":" not in o}
        return Lineage(tuple(reversed(left)), frozenset(external), complete)

    def base(self, ref: Ref, written: str | None) -> frozenset[str]:
        """What a base, as written in the class statement, means."""
        if written is None:
            return NONE
        facts = self.facts(ref.path)
        if facts and written == ref.name and self._is_extended_under_its_name(facts, written):
            return self.imported(ref.path, written)
        if (origins := self.resolve(ref.path, written)) or "." in written:
            return origins
        if facts and not any(facts.named("*")) and written not in facts.rebound:
            return frozenset({f"builtins.{written}"}) if not any(facts.named(written)) else NONE
        return NONE

    def descends(self, ref: Ref, names: frozenset[str]) -> bool | None:
        """Whether a class has an ancestor of these canonical names; None where that cannot be told."""
        lineage = self.lineage(ref)
        if lineage.external & names:
            return True
        return False if lineage.complete and all(map(is_a_plain_base, lineage.external)) else None

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
        classes = [klass for each in lineage.refs if (klass := self.klass(each))]
        for number, klass in enumerate(classes):
            if (method := klass.methods.get(name)) is not None:
                return method.returns.literal if method.is_property and not method.conditional else UNKNOWN
            given = klass.attributes.get(name, ())
            if not given:
                continue
            if any(a.method for a in given):
                given = tuple(a for a in given if a.method or a.conditional)
            else:  # what an ancestor gives to the instance comes before what this class gives to the class
                above = (a for each in classes[number + 1 :] for a in each.attributes.get(name, ()))
                given = (*given, *(a for a in above if a.method))
            if any(a.conditional or (a.method and a.method not in methods) for a in given):
                return UNKNOWN
            values = {(type(a.value.literal), a.value.literal) for a in given}
            return given[0].value.literal if len(values) == 1 else UNKNOWN
        return MISSING if lineage.complete else UNKNOWN

    def method(self, ref: Ref, name: str) -> Ref | None:
        """The nearest known class in the lineage that defines a method."""
        for each in self.lineage(ref).refs:
            klass = self.klass(each)
            if klass is not None and name in klass.methods:
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

    def recall(self, key: tuple[object, ...], make: Callable[[], T]) -> T:
        """An answer about the project that is dear to find, found once; the key starts with the function that asks."""
        if key not in self._recalled:
            with self.questions.noted() as asked:
                made = make()
            self._recalled[key] = made, self.questions.together(asked)
            return made
        known, before = self._recalled[key]
        self.questions.repeat(before)
        found: T = known
        return found

    def search(
        self, path: str, literals: tuple[bytes, ...], suffixes: tuple[str, ...] = files.PYTHON
    ) -> tuple[str, ...]:
        """The files of the project of `path` that hold any of the literals, sorted.

        A notebook is an island: no other file's question finds it, and its own finds it too.
        """
        question = Holding(self.root(path), literals, suffixes)
        found = self._in_project(question)
        own = files.is_python(path) and suffixes == files.PYTHON and files.container(path).endswith(files.NOTEBOOK)
        if own:
            self.questions.ask(Content(files.container(path)))
        return (path, *found) if own and self.holds(path, question) else found

    def using(self, path: str, packages: tuple[str, ...]) -> tuple[str, ...]:
        """The files of the project of `path` that may import one of some packages, sorted; a notebook is an island."""
        question = Using(self.root(path), packages)
        found = self._in_project(question)
        if files.container(path).endswith(files.NOTEBOOK):
            self.questions.ask(Content(files.container(path)))
            return (path, *found) if self.holds(path, question) else found
        return found

    def replacing(self, path: str) -> tuple[str, ...]:
        """The files of its project that may put something into what they import, sorted."""
        return self._in_project(Replacing(self.root(path)))

    def importing(self, path: str) -> tuple[str, ...]:
        """The files of its project that may import a file, sorted: nearly all of them do."""
        return self._in_project(Importing(self.root(path), module_of(path)))

    def _in_project(self, question: Search) -> tuple[str, ...]:
        """The files that a search finds in the project that lies in its directory, and in no other."""
        root = question.directory
        return self.recall(
            (Index._in_project, question), lambda: tuple(f for f in self.found(question) if self.root(f) == root)
        )

    def holding(self, directory: str, literals: tuple[bytes, ...], suffixes: tuple[str, ...]) -> tuple[str, ...]:
        """The files below a directory that hold any of the literals, sorted."""
        return self.found(Holding(directory, literals, suffixes))

    def found(self, question: Search) -> tuple[str, ...]:
        """The files that a search finds, sorted."""
        self.questions.ask(question)
        return self._found(question)

    def _found(self, question: Search) -> tuple[str, ...]:
        if question not in self._holders:
            with self.recorder.phase("searching"):
                known = self.searched(question)
                if known is None:
                    match question:
                        case Holding():
                            known = self._holding(question)
                        case Importing():
                            known = self._importing(question)
                        case Using():
                            known = self._using(question)
                        case Replacing():
                            looked = (path for path in self.reader.files() if question.covers(path))
                            known = tuple(path for path in looked if self.holds(path, question))
                self._holders[question] = known
        return self._holders[question]

    def _holding(self, question: Holding) -> tuple[str, ...]:
        """Look into all files, or into those that a wider question has found."""
        together = replace(question, literals=self.searched_together)
        if together.includes(question) and not question.includes(together):
            self._found(together)
        wider = (found for other, found in self._holders.items() if other.includes(question))
        looked = min(wider, key=len, default=None)
        candidates = self.reader.files() if looked is None else looked
        return tuple(path for path in candidates if question.covers(path) and self.holds(path, question))

    def _using(self, question: Using) -> tuple[str, ...]:
        """All packages that anybody will ask about are looked for together."""
        if not set(question.packages) <= set(self.packages):
            return tuple(path for path in self._found(question.holding) if self.holds(path, question))
        if self._users is None:
            whole = Using("", self.packages)
            sources = ((path, self._searchable(path)) for path in self._found(whole.holding))
            self._users = {path: whole.used(source) for path, source in sources if source is not None}
        users = (path for path, used in self._users.items() if not used.isdisjoint(question.packages))
        changed = {path for path in self._new if path in self._listed()}
        found = {path for path in users if path not in changed and question.covers(path)}
        return tuple(sorted(found | {path for path in changed if question.covers(path) and self.holds(path, question)}))

    def ask_together(self, packages: tuple[str, ...]) -> None:
        """Look for these packages together where one of them is asked about."""
        if not set(packages) <= set(self.packages):
            self.packages, self._users = packages, None

    def note_users(self, packages: tuple[str, ...], users: Mapping[str, frozenset[str]]) -> None:
        """Note which files import which of some packages, so that nobody looks for them."""
        self.packages, self._users = packages, users

    def _importing(self, question: Importing) -> tuple[str, ...]:
        """Imports are read together: who asks about one file will ask about another one."""
        if self._importers is None:
            listed = [path for path in self.reader.files() if path.endswith(files.PYTHON)]
            sources = ((path, data) for path in listed if (data := self._searchable(path)) is not None)
            self._importers = Importers(sources, map(module_of, listed))
        candidates = self._importers.of(question.module)
        if candidates is None:
            there = (path for path in self.reader.files() if question.covers(path))
            return tuple(path for path in there if self.holds(path, question))
        rewritten = {path for path in self._new if path in self._listed() and self.holds(path, question)}
        return tuple(sorted(filter(question.covers, (candidates - self._new.keys()) | rewritten)))

    def _listed(self) -> frozenset[str]:
        """What is searched at all."""
        if self._files is None:
            self._files = frozenset(self.reader.files())
        return self._files

    def holds(self, path: str, question: Search) -> bool:
        """Whether a search finds a file; nobody asks for it."""
        data = self._new[path].encode("utf-8", "surrogatepass") if path in self._new else self._searchable(path)
        return data is not None and question.holds(path, data)

    def _searchable(self, path: str) -> bytes | None:
        real = files.container(path)
        data = self.reader.read(real)
        return files.searchable(real, data) if data is not None else None

    def requirements(self, path: str, package: str) -> list[tuple[str, Requirement]]:
        """Every mention of a package in the packaging files of the project of `path`, each with its file."""
        return self.versions.requirements(self.root(path), package)

    def settings(self, path: str) -> tuple[tuple[str, Setting], ...]:
        """The calls in the project of `path` that may set precision or training mode, each with its file."""
        root = self.root(path)
        return self.recall((Index.settings, root), lambda: tuple(self._settings(path)))

    def _settings(self, path: str) -> Iterator[tuple[str, Setting]]:
        for candidate in self.search(path, tuple(sorted(name.encode() for name in SETTINGS))):
            facts = self.facts(candidate)
            yield from ((candidate, setting) for setting in facts.settings) if facts else ()
