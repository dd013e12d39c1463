"""Who else in a program may do something: every place that so much as names it.

An absence is certain where nothing in the program names what is asked for: no attribute, no imported name, no string
for `getattr`. A place that names it, and cannot be shown to be harmless, is what makes an answer unknown.
"""

from __future__ import annotations

import ast
import builtins
import posixpath
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from codemods.analysis import instances
from codemods.analysis.optimizers import is_schedule, optimizes
from codemods.analysis.python_context import PythonContext
from codemods.model.edits import Evidence
from codemods.model.names import CALLBACKS, OPTIMIZER, TORCH_MODULE
from codemods.project.importing import IMPORTING_BY_TEXT
from codemods.project.index import Index, Ref
from codemods.sources import files
from codemods.syntax.facts import Class
from codemods.syntax.module import FUNCTIONS, Function, dotted, own

N = TypeVar("N", bound=ast.AST)
Told = TypeVar("Told")

NAMING = frozenset({"getattr", "setattr", "methodcaller", "attrgetter", "__getattribute__", "patch", "object"})
"""Functions that take the name of an attribute as a string."""
_BY_TEXT = frozenset({"getattr", "methodcaller"})
MOST_FUNCTIONS = 200
"""Functions that are looked at to tell whether one of them may run; more, and it may."""
MOST_IMPORTERS = 300
"""Files that may import one; of one with more, any file may be a part of its program."""
_STARTING = (b"run_path", b"run_module", b"spec_from_file_location", b"execfile", b"exec(open", b"exec(compile")
"""Words by which a file runs another one in its own process."""
_GIVEN = re.compile(r"""\s-c[ =]*(?:"([^"]*)"|'([^']*)')""")
_WORD = re.compile(r"[A-Za-z_]\w*")
_QUOTED = re.compile(r"""["'}](\.*[A-Za-z_][\w.]*)""")
_COMPUTED = (b"getattr", b"vars(", b"__dict__")
_ALWAYS_RUN = frozenset({"sitecustomize.py", "usercustomize.py"})
_IMPLICIT = frozenset({"forward", "__call__"})
"""Methods that run without being named."""
_PLAIN = frozenset({"float", "int", "abs", "round", "min", "max", "str", "repr", "bool", "len"})
"""Functions of Python whose result is a new value made of their arguments."""


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A place that names something."""

    ctx: PythonContext
    node: ast.expr | ast.stmt
    """An attribute, a name, or the string that is given to `getattr` or the like."""
    word: str

    @property
    def receiver(self) -> ast.expr | None:
        """Of what the attribute is; None for a plain name."""
        if isinstance(self.node, ast.Attribute):
            return self.node.value
        if isinstance(self.node, ast.Constant):
            call = self.ctx.parent(self.node)
            if isinstance(call, ast.Call) and call.args[0] is self.node:  # methodcaller("step")(optimizer)
                applied = self.ctx.parent(call)
                found = applied.args if isinstance(applied, ast.Call) and applied.func is call else ()
                return found[0] if found else None
            return call.args[0] if isinstance(call, ast.Call) else None
        return None

    @property
    def call(self) -> ast.Call | None:
        """The call of what is named; None where it is only named."""
        above = self.ctx.parent(self.node)
        if isinstance(self.node, ast.Constant):
            above, called = self.ctx.parent(above) if above is not None else None, above
        else:
            called = self.node
        return above if isinstance(above, ast.Call) and above.func is called else None

    @property
    def is_kept(self) -> bool:
        """Whether a method is taken without being called: it is put away, handed on or returned, and may run anywhere.

        What is compared or computed with is no method.
        """
        if self.call is not None:
            return False
        place = self.ctx.parent(self.node) if isinstance(self.node, ast.Constant) else self.node
        match self.ctx.parent(place) if place is not None else None:
            case ast.Assign(value=value) | ast.AnnAssign(value=value) | ast.NamedExpr(value=value):
                return value is place
            case ast.List() | ast.Tuple() | ast.Set() | ast.Dict() | ast.Starred() | ast.Call() | ast.keyword():
                return True
            case ast.Return() | ast.Yield() | ast.Lambda() | ast.IfExp() | ast.BoolOp():
                return True
        return False

    def evidence(self, why: str) -> Evidence:
        return self.ctx.evidence(self.node, why)


def mentions(ctx: PythonContext, *words: str) -> list[Occurrence]:
    """The places that name one of some words, in the files of the program around one file.

    What is only assigned or defined under the name is left out.
    """
    return _in_the_program(ctx, mentions, words, words, _in_file)


def told(ctx: PythonContext, tell: Callable[[Sequence[Occurrence]], tuple[Told, ...]], *words: str) -> list[Told]:
    """What the files of the program around one file tell of the places that name some words, in plain data.

    Found once for each file, whoever asks: what holds for a program is asked for each file of it.
    """
    asked, found = frozenset(words), ctx.index.search(ctx.path, tuple(word.encode() for word in words))
    known: list[Told] = []
    for path in dict.fromkeys((ctx.path, *found)):
        if are_connected(ctx.index, ctx.path, path):
            key = (told, tell, words, path)
            known += ctx.index.recall(key, partial(_tell, ctx, tell, path, asked))
    return known


def _tell(
    ctx: PythonContext, tell: Callable[[Sequence[Occurrence]], tuple[Told, ...]], path: str, words: frozenset[str]
) -> tuple[Told, ...]:
    return tell([*_in_file(ctx, path, words)])


def is_mentioned(ctx: PythonContext, word: str) -> bool:
    """Whether a file of the project names a word, or has an attribute that is called so: without a syntax tree."""
    found = (ctx.index.facts(path) for path in dict.fromkeys((ctx.path, *ctx.index.search(ctx.path, (word.encode(),)))))
    return any(facts is not None and (word in facts.mentioned or word in facts.loads) for facts in found)


def _in_file(ctx: PythonContext, path: str, words: frozenset[str]) -> Iterator[Occurrence]:
    facts = ctx.index.facts(path)
    if facts is None or (facts.mentioned.isdisjoint(words) and not any(word in facts.loads for word in words)):
        return
    if (other := ctx.other(path)) is None:
        return
    for attribute in other.all(ast.Attribute):
        if attribute.attr in words and isinstance(attribute.ctx, ast.Load):
            yield Occurrence(other, attribute, attribute.attr)
    for name in other.all(ast.Name):
        if name.id in words and isinstance(name.ctx, ast.Load):
            yield Occurrence(other, name, name.id)
    for text in other.all(ast.Constant):
        if isinstance(text.value, str) and (word := text.value.rpartition(".")[2]) in words:
            call = other.parent(text)
            if isinstance(call, ast.Call) and (other.name(call.func) or "").rpartition(".")[2] in NAMING:
                yield Occurrence(other, text, word)


def stores_none(store: Occurrence) -> bool:
    """Whether what is put into an attribute surely is None: `p.grad = None`."""
    above = store.ctx.parent(store.node)
    given = store.node.args[2] if isinstance(store.node, ast.Call) else getattr(above, "value", None)
    return isinstance(given, ast.Constant) and given.value is None


def stores(ctx: PythonContext, *attributes: str) -> list[Occurrence]:
    """The places that put something into an attribute, in the files of the program around one file.

    `x.step = f`, `setattr(x, "step", f)`; and `setattr(x, name, f)` of another object, which may be any attribute.
    """
    return _in_the_program(ctx, stores, attributes, (*attributes, "setattr", "__dict__"), _stored)


def _in_the_program(
    ctx: PythonContext,
    ask: Callable[..., list[Occurrence]],
    words: tuple[str, ...],
    named: tuple[str, ...],
    look: Callable[[PythonContext, str, frozenset[str]], Iterator[Occurrence]],
) -> list[Occurrence]:
    """What each file of the program around one file holds, found once for the file that asks.

    Args:
        named: one of these stands in every file that is looked at.
    """
    key = (ask, words)
    if key not in ctx.memo:
        found = ctx.index.search(ctx.path, tuple(word.encode() for word in named))
        paths = dict.fromkeys((ctx.path, *(path for path in found if are_connected(ctx.index, ctx.path, path))))
        ctx.memo[key] = [each for path in paths for each in look(ctx, path, frozenset(words))]
    known: list[Occurrence] = ctx.memo[key]
    return known


def _stored(ctx: PythonContext, path: str, attributes: frozenset[str]) -> Iterator[Occurrence]:
    facts = ctx.index.facts(path)
    if facts is None or (facts.mentioned.isdisjoint((*attributes, "__dict__")) and "setattr" not in facts.called):
        return
    if (other := ctx.other(path)) is None:
        return
    for node in other.all(ast.Attribute):
        if node.attr in attributes and isinstance(node.ctx, ast.Store):
            yield Occurrence(other, node, node.attr)
    for call in other.all(ast.Call):
        if isinstance(call.func, ast.Name) and call.func.id == "setattr" and len(call.args) == 3:
            name = call.args[1]
            word = name.value if isinstance(name, ast.Constant) else None
            method = other.method(call)
            own_attribute = method is not None and other.name(call.args[0]) == method.self
            if word in attributes or (word is None and not own_attribute):
                yield Occurrence(other, call, str(word or "setattr"))
        # `self.__dict__.update(step=f)` (put_into_a_dictionary)
        if isinstance(call.func, ast.Attribute) and getattr(call.func.value, "attr", None) == "__dict__":
            for each in call.keywords:
                if each.arg in attributes:
                    yield Occurrence(other, call, str(each.arg))


def definers(ctx: PythonContext, *methods: str) -> Iterator[tuple[str, Class, str]]:
    """The classes of the program that define one of some methods: their file, the class, the method."""
    key = (definers, methods)
    if key not in ctx.memo:
        found = ctx.index.search(ctx.path, tuple(f"def {method}".encode() for method in methods))
        ctx.memo[key] = [
            (path, klass, method)
            for path in found
            if (facts := ctx.index.facts(path)) is not None and are_connected(ctx.index, ctx.path, path)
            for klass in facts.classes.values()
            for method in methods
            if method in klass.methods
        ]
    known: list[tuple[str, Class, str]] = ctx.memo[key]
    return iter(known)


# -- which files are one program


def are_connected(index: Index, a: str, b: str) -> bool:
    """Whether two files may be parts of one running program.

    Some file imports both, directly or by way of others; or both are importable by programs that are not in sight.
    """
    one, other = importers(index, a), importers(index, b)
    if a == b or not one.isdisjoint(other) or max(len(one), len(other)) >= MOST_IMPORTERS:
        return True
    if is_run_with(one, other) or is_run_with(other, one) or are_started_together(index, one, other):
        return True
    return is_a_library(index, a) and is_a_library(index, b)


def importers(index: Index, path: str) -> frozenset[str]:
    """A file, and the files that may import or run it, directly or by way of others."""

    def found() -> frozenset[str]:
        starters = index.search(path, _STARTING)  # which file they run is a text (started_by_another)
        importing = index.search(path, IMPORTING_BY_TEXT)
        if posixpath.splitext(posixpath.basename(path))[0] in _in_quotes(index, tuple(importing)):  # named_by_a_text
            starters = (*starters, *importing)
        else:  # a name that is read from a file, or given (a law: "named in a file")
            starters = (*starters, *(each for each in importing if _imports_anything(index, each)))
        seen, waiting = {path, *starters}, [path, *starters]
        while waiting and len(seen) < MOST_IMPORTERS:
            new = [each for each in index.importing(waiting.pop()) if each not in seen]
            seen.update(new)
            waiting += new
        return frozenset(seen)

    return index.recall((importers, path), found)


def _in_quotes(index: Index, importing: tuple[str, ...]) -> frozenset[str]:
    """The words that begin or go on a text in files that import what a text names, and in those that use these."""

    def found() -> frozenset[str]:
        users = {*importing, *(user for each in importing for user in index.importing(each))}
        texts = (named for each in users for named in _QUOTED.findall(index.text(each) or ""))
        return frozenset(part for text in texts for part in text.split("."))

    return index.recall((_in_quotes, importing), found)


def _imports_anything(index: Index, path: str) -> bool:
    """Whether a file imports a module whose name is no text, made of none, and in no list of texts."""

    def found() -> bool:
        module = index.syntax(path)
        calls = module.all(ast.Call) if module is not None else ()
        named = [
            call for call in calls if (dotted(call.func) or "").rpartition(".")[2] in ("import_module", "__import__")
        ]
        loops = module.all(ast.For) if module is not None else ()
        listed = {
            each.target.id
            for each in loops
            if isinstance(each.target, ast.Name) and isinstance(each.iter, (ast.Tuple, ast.List, ast.Set))
        }
        return any(call.args and not _is_told(call.args[0], listed) for call in named)

    return index.recall((_imports_anything, path), found)


def _is_told(name: ast.expr, listed: Collection[str]) -> bool:
    if isinstance(name, ast.Name):
        return name.id in listed
    return isinstance(name, (ast.Constant, ast.JoinedStr, ast.BinOp))


def is_run_with(first: Collection[str], second: Collection[str]) -> bool:
    """Whether one of the first runs whenever one of the second does, and nobody imports it.

    Before a module of a package its `__init__.py` runs (`package_patches`), and before everything `sitecustomize.py`.
    """
    names = [path.rpartition("/")[::2] for path in first]
    packages = tuple(f"{folder}/" for folder, name in names if name == "__init__.py" and folder)
    return any(name in _ALWAYS_RUN for _, name in names) or any(path.startswith(packages) for path in second)


def are_started_together(index: Index, one: Collection[str], other: Collection[str]) -> bool:
    """Whether a command imports two files, or what imports them: `python -c "import patches, train"` (a law)."""
    mine, others = ({posixpath.splitext(posixpath.basename(path))[0] for path in each} for each in (one, other))
    return any(not mine.isdisjoint(names) and not others.isdisjoint(names) for names in _imported_by_commands(index))


def _imported_by_commands(index: Index) -> tuple[frozenset[str], ...]:
    """The words of each program that a file which is no program of Python gives to `python -c`."""

    def found() -> tuple[frozenset[str], ...]:
        paths = (path for path in index.holding("", (b"import ",), ("",)) if not path.endswith((*files.PYTHON, ".md")))
        programs = (given for path in paths for given in _GIVEN.findall(index.text(path) or ""))
        return tuple(frozenset(_WORD.findall("".join(program))) for program in programs)

    return index.recall((_imported_by_commands,), found)


def is_a_library(index: Index, path: str) -> bool:
    """Whether a file may be used by a program that is not in sight: one that nobody imports, and that runs nothing."""

    def found() -> bool:
        known = importers(index, path)
        roots = (each for each in known if all(user == each for user in index.importing(each)))
        return any(not _runs(index, root) for root in roots)

    return index.recall((is_a_library, path), found)


def _runs(index: Index, path: str) -> bool:
    """Whether a file does something when it is run, beside defining and importing."""
    module = index.syntax(path)
    if module is None:
        return False
    return any(_works(statement) for statement in module.tree.body)


def _works(statement: ast.stmt) -> bool:
    match statement:
        case ast.Expr(value=ast.Constant()):
            return False
        case ast.Expr() | ast.For() | ast.While() | ast.With():
            return True
        case ast.If(test=ast.Compare(left=ast.Name(id="__name__"))):
            return True
    return False


# -- what may run while a function runs


def mentions_during(ctx: PythonContext, scopes: Mapping[N, PythonContext], *words: str) -> Iterator[Occurrence]:
    """The places that name one of some words, and may run while one of some functions runs."""
    return (each for each in mentions(ctx, *words) if may_run_during(each, scopes))


def may_run_during(mention: Occurrence, scopes: Mapping[N, PythonContext]) -> bool:
    """Whether a place may run while one of some functions, or the body of a `with`, runs.

    Functions are followed from the place outward, by every mention of their names. One that is handed on, or that
    nobody in sight calls, may run where a function hands on its own object to code that cannot be looked into: an
    unresolved call reaches what it is given, and nothing else.
    """
    ctx, node = mention.ctx, mention.node
    if mention.is_kept or any(above in scopes for above in ctx.ancestors(node)):
        return True
    waiting = [(ctx, _function(ctx, node))]
    seen: set[ast.AST] = set()
    around = set(map(id, scopes.values()))
    while waiting:
        where, function = waiting.pop()
        if isinstance(function, ast.Module) or function in seen:
            continue
        if len(seen) > MOST_FUNCTIONS or (isinstance(function, FUNCTIONS) and _is_implicit(where, function)):
            return True
        seen.add(function)
        words = _names(where, function)
        handed_on = not words
        named = [pair for word in words for pair in _uses(where, function, word)]
        for each, user in named:
            if id(each.ctx) in around and any(above in scopes for above in each.ctx.ancestors(each.node)):
                return True
            if each.is_kept and not _is_given_to_a_library(each):
                return True
            handed_on = handed_on or (each.call is None and not _decorates(each))
            waiting += [] if user in seen else [(each.ctx, user)]
        if (handed_on or not named) and any(_hands_on_itself(there, scope) for scope, there in scopes.items()):
            return True
        is_method = isinstance(function, FUNCTIONS) and isinstance(where.scope(function), ast.ClassDef)
        if not named and is_method and called_by_text(ctx):
            return True
    return False


def called_by_text(ctx: PythonContext) -> list[Evidence]:
    """The places that call a method by a name which only a run can tell: `getattr(callback, f"on_{event}")()`.

    What they take from a library's module is none of the program's.
    """
    key = (called_by_text,)
    if key not in ctx.memo:
        paths = dict.fromkeys((ctx.path, *ctx.index.search(ctx.path, (b"getattr", b"methodcaller"))))
        near = (path for path in paths if _by_text(ctx, path) and are_connected(ctx.index, ctx.path, path))
        ctx.memo[key] = [place for path in near for place in _by_text(ctx, path)]
    known: list[Evidence] = ctx.memo[key]
    return known


def read_by_computed_names(ctx: PythonContext) -> list[Evidence]:
    """The places that read an attribute whose name only a run can tell, of what may be an object of any class.

    `getattr(args, name)`, `vars(args)[key]` (`read_by_a_computed_name`).
    """
    key = (read_by_computed_names,)
    if key not in ctx.memo:
        found = ctx.index.search(ctx.path, _COMPUTED)
        paths = dict.fromkeys((ctx.path, *(path for path in found if are_connected(ctx.index, ctx.path, path))))
        ctx.memo[key] = [each for path in paths for each in _computed(ctx, path)]
    known: list[Evidence] = ctx.memo[key]
    return known


def _computed(ctx: PythonContext, path: str) -> tuple[Evidence, ...]:
    """Those of one file, found once for whoever asks."""

    def found() -> tuple[Evidence, ...]:
        facts = ctx.index.facts(path)
        if facts is None or (other := ctx.other(path)) is None:
            return ()
        read = ((node, _read_of(node)) for node in other.all(ast.Call, ast.Subscript))
        return tuple(
            other.evidence(node, "any attribute may be read here")
            for node, of in read
            if of is not None and not other.origin(of) and not _is_itself(other, of)
        )

    return ctx.index.recall((_computed, path), found)


def _read_of(node: ast.AST) -> ast.expr | None:
    """The object of which an attribute is read by a computed name."""
    match node:
        case ast.Call(func=ast.Name(id="getattr"), args=[of, name, *_]) if not isinstance(name, ast.Constant):
            return of
        case (
            ast.Call(func=ast.Attribute(value=held, attr="get" | "pop"), args=[name, *_])
            | ast.Subscript(value=held, slice=name)
        ) if not isinstance(name, ast.Constant):
            match held:
                case ast.Call(func=ast.Name(id="vars"), args=[of]) | ast.Attribute(value=of, attr="__dict__"):
                    return of
    return None


def _is_itself(ctx: PythonContext, node: ast.expr) -> bool:
    method = ctx.method(node)
    return method is not None and ctx.name(node) == method.self


def _by_text(ctx: PythonContext, path: str) -> tuple[Evidence, ...]:
    """Those of one file, found once for whoever asks."""

    def found() -> tuple[Evidence, ...]:
        facts = ctx.index.facts(path)
        if facts is None or (facts.called.isdisjoint(_BY_TEXT) and facts.mentioned.isdisjoint(_BY_TEXT)):
            return ()
        if (other := ctx.other(path)) is None:
            return ()
        calls = other.all(ast.Call)
        called = {name for each in calls for name in _handed(other, each)}
        return tuple(other.evidence(c, "what is called here is not known") for c in calls if _tells(other, c, called))

    return ctx.index.recall((_by_text, path), found)


def _handed(ctx: PythonContext, call: ast.Call) -> Iterator[str]:
    """The names that a call calls, or hands to what is none of a library's, nor of Python's own."""
    if (name := ctx.name(call.func)) is not None:
        yield name
    if name is None or (not hasattr(builtins, name) and not any(":" not in each for each in ctx.origin(call.func))):
        given = (*call.args, *(each.value for each in call.keywords))
        yield from (node.id for value in given for node in ast.walk(value) if isinstance(node, ast.Name))


def _tells(ctx: PythonContext, call: ast.Call, called: Collection[str | None]) -> bool:
    """Whether what a call gives is called, and has a name that is not written there.

    Args:
        called: the names that the file calls, or hands to functions of the project.
    """
    name = (ctx.name(call.func) or "").rpartition(".")[2]
    if name == "methodcaller":
        return True
    if name != "getattr" or len(call.args) < 2 or isinstance(call.args[1], ast.Constant):
        return False
    if any(":" not in each for each in ctx.origin(call.args[0])):
        return False
    match ctx.parent(call):
        case ast.Call(func=func):
            return func is call
        case ast.Assign(targets=[ast.Name() | ast.Attribute() as target]):
            return ctx.name(target) in called
    return False


def _names(ctx: PythonContext, function: ast.AST) -> list[str]:
    """The names under which a function is called; none for a lambda that is handed on."""
    if isinstance(function, FUNCTIONS):
        return [function.name]
    above = ctx.parent(function)
    targets = above.targets if isinstance(above, ast.Assign) else []
    return [name.rpartition(".")[2] for target in targets if (name := ctx.name(target)) is not None]


def _uses(ctx: PythonContext, function: ast.AST, word: str) -> list[tuple[Occurrence, ast.AST]]:
    """The places outside of a function that name it, or may, each with what runs it: not methods of other objects that
    are called alike.
    """
    key = (_uses, function, word)
    if key not in ctx.memo:
        klass = ctx.klass(function) if isinstance(ctx.parent(function), ast.ClassDef) else None
        ctx.memo[key] = [
            (each, _function(each.ctx, each.node))
            for each in mentions(ctx, word)
            if not (each.ctx is ctx and ctx.module.contains(function, each.node))
            if (_may_be_a_function(each) if klass is None else _may_be_of(each, klass))
        ]
    found: list[tuple[Occurrence, ast.AST]] = ctx.memo[key]
    return found


def _may_be_a_function(mention: Occurrence) -> bool:
    """Whether a place may name a function that stands in no class: by its name, or as one of an imported module."""
    if not isinstance(mention.node, ast.Attribute):
        return True
    head = (mention.ctx.name(mention.node) or "").partition(".")[0]
    return any(mention.ctx.facts.named(head))


def _may_be_of(mention: Occurrence, klass: Ref) -> bool:
    """Whether a place may name a method of a class, or of one that descends from it or that it descends from."""
    ctx, receiver = mention.ctx, mention.receiver
    if receiver is None or isinstance(mention.node, ast.Constant):
        return True
    if mention.word == "step" and (optimizes(ctx, receiver) or is_schedule(ctx, receiver)):
        return ctx.index.descends(klass, OPTIMIZER) is not False
    method = ctx.method(receiver)
    if method is not None and ctx.name(receiver) == method.self:
        known = {method.owner}
    else:
        kind = instances.of(ctx, receiver)
        if kind is None:
            return True
        known = {Ref.of(name) for name in kind.names if ":" in name}
        if not known:
            return False
    lineage = ctx.index.lineage(klass)
    mine = {klass, *lineage.refs}
    lines = [ctx.index.lineage(each) for each in known]
    related = any(not mine.isdisjoint({each, *line.refs}) for each, line in zip(known, lines, strict=True))
    return related or not lineage.complete or not all(line.complete for line in lines)


def _hands_on_itself(ctx: PythonContext, scope: ast.AST) -> bool:
    """Whether a method gives its own object to a call that cannot be looked into."""
    method = ctx.method(scope)
    if method is None:
        return False
    for node in own(scope):
        if isinstance(node, ast.Call) and ctx.callee(node) is None and not ctx.origin(node.func):
            given = [*node.args, *(k.value for k in node.keywords)]
            if any(isinstance(each, ast.Name) and each.id == method.self for each in given):
                return True
    return False


def _function(ctx: PythonContext, node: ast.AST) -> ast.AST:
    """What runs a node: a function, a lambda or the module; for a decorator that is what it wraps."""
    for above in ctx.ancestors(node):
        if isinstance(above, FUNCTIONS) and any(ctx.module.contains(each, node) for each in above.decorator_list):
            return above
        if isinstance(above, ast.stmt):
            break
    scope = ctx.scope(node)
    while isinstance(scope, ast.ClassDef):
        scope = ctx.scope(scope)
    return scope


def _is_implicit(ctx: PythonContext, function: Function) -> bool:
    """Whether a method may run without being named: of a module that is called, of an operator, of a property."""
    if not isinstance(ctx.scope(function), ast.ClassDef):
        return bool(function.decorator_list)
    dunder = function.name.startswith("__") and function.name != "__init__"
    return function.name in _IMPLICIT or dunder or bool(function.decorator_list) or _is_in_a_callback(ctx, function)


def _is_in_a_callback(ctx: PythonContext, function: Function) -> bool:
    """Whether a method is one of a callback, a data module, a plugin: what a Trainer calls between the steps."""
    klass = ctx.klass(function)
    if klass is None:
        return False
    lineage = ctx.index.lineage(klass)
    return not lineage.complete or any(
        base in CALLBACKS or (base.startswith("lightning.") and base not in TORCH_MODULE) for base in lineage.external
    )


def _is_given_to_a_library(mention: Occurrence) -> bool:
    """Whether a function is given to a library's, which may run it there."""
    above = mention.ctx.parent(mention.node)
    call = mention.ctx.parent(above) if isinstance(above, ast.keyword) else above
    return isinstance(call, ast.Call) and any(":" not in origin for origin in mention.ctx.origin(call.func))


def _decorates(mention: Occurrence) -> bool:
    above = mention.ctx.parent(mention.node)
    return mention.node in getattr(above, "decorator_list", ())


# -- what becomes of a value


def is_spent(ctx: PythonContext, value: ast.expr, ends: Callable[[PythonContext, ast.expr], bool | None]) -> bool:
    """Whether a value is used up in its own function: compared, shown, or taken by what `ends` knows.

    Args:
        ends: whether an expression that the value has reached ends its way: the receiver of `backward`, say. None: it
            must not come there.
    """
    waiting, seen = [value], set[ast.AST]()
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        if len(seen) > MOST_FUNCTIONS:
            return False
        if (end := ends(ctx, node)) is None:
            return False
        if end:
            continue
        match above := ctx.parent(node):
            case ast.Expr() | ast.Compare() | ast.FormattedValue() | ast.If() | ast.While() | ast.Assert():
                continue
            case ast.BinOp() | ast.UnaryOp() | ast.IfExp() | ast.BoolOp() | ast.NamedExpr() | ast.Starred():
                waiting.append(above)
            case ast.Tuple() | ast.List() | ast.Attribute() | ast.Subscript():
                waiting.append(above)
            case ast.Call(func=func) if func is node or ctx.name(func) in _PLAIN:
                waiting.append(above)
            case ast.Call(func=ast.Name(id="print")):
                continue
            case ast.Assign(targets=targets):
                for target in targets:
                    if (read := _read(ctx, target)) is None or is_written_in_place(ctx, target):
                        return False
                    waiting += read
            case ast.AnnAssign(target=target) | ast.AugAssign(target=target):
                if (read := _read(ctx, target)) is None:
                    return False
                waiting += read
            case _:
                return False
        if isinstance(above, ast.NamedExpr):
            read = _read(ctx, above.target)
            waiting += read or ()
    return True


def is_written_in_place(ctx: PythonContext, target: ast.expr) -> bool:
    """Whether a scope has `value *= 2` of what is assigned: an array writes into the memory it shares (`in_place`)."""
    scope = ctx.scope(target)
    return isinstance(target, ast.Name) and any(
        isinstance(each.target, ast.Name) and each.target.id == target.id and ctx.scope(each) is scope
        for each in ctx.all(ast.AugAssign)
    )


def _read(ctx: PythonContext, target: ast.expr) -> list[ast.expr] | None:
    """The places that read what is assigned to a target; None where it is kept for others."""
    if isinstance(target, (ast.Tuple, ast.List)):
        parts = [_read(ctx, each.value if isinstance(each, ast.Starred) else each) for each in target.elts]
        return None if None in parts else [use for part in parts if part for use in part]
    scope = ctx.scope(target)
    if not isinstance(target, ast.Name) or isinstance(scope, ast.ClassDef):
        return None
    if isinstance(scope, ast.Module) and ctx.index.imported_elsewhere(ctx.path, target.id):
        return None
    declared: list[ast.Global | ast.Nonlocal] = [*ctx.all(ast.Global), *ctx.all(ast.Nonlocal)]
    if any(target.id in each.names for each in declared):
        return None
    return [
        name
        for name in ctx.all(ast.Name)
        if name.id == target.id and isinstance(name.ctx, ast.Load) and ctx.module.contains(scope, name)
    ]
