"""What one file says, read with `ast`: imports, classes, functions, assignments, and the calls that set precision.

Plain data, picklable, no trees; nothing is imported or executed.
"""

from __future__ import annotations

import ast
import enum
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeGuard

from codemods.model.edits import Skip, SkipReason
from codemods.model.names import SETTINGS


class Unknown(enum.Enum):
    """The answers that are no value: nobody sets it; somebody does, but what cannot be told."""

    MISSING = "missing"
    UNKNOWN = "unknown"

    def __bool__(self) -> bool:
        return False


MISSING, UNKNOWN = Unknown.MISSING, Unknown.UNKNOWN
Literal: TypeAlias = "bool | int | float | str | bytes | None"


@dataclass(frozen=True, slots=True)
class Value:
    """An expression, as far as it can be told without running it."""

    literal: Literal | Unknown = UNKNOWN
    dotted: str | None = None
    """`a.b.c` for a name, or for what is called."""
    call: bool = False
    args: tuple[Value, ...] = ()
    keywords: Mapping[str, Value] = field(default_factory=dict)
    splat: bool = False
    """The call has `*args` or `**kwargs`."""


@dataclass(frozen=True, slots=True)
class Import:
    """One name that an import statement binds (`name` is "*" for a star import)."""

    name: str
    target: str
    """What it means, dotted; relative imports keep their leading dots."""
    scope: str
    """Qualified name of the function or class around it; "" at module level."""
    line: int
    end_line: int
    column: int
    conditional: bool = False
    """Inside `if`, `try` or another block of its scope."""
    type_checking: bool = False
    dotted: bool = False
    """`import a.b`: binds `a`, and makes sure that `a.b` is loaded."""
    path: str = ""
    """For `dotted`: the whole `a.b`."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """A value given to a name or attribute."""

    value: Value
    method: str = ""
    """For `self.x = …`: the method; "" for class or module level."""
    conditional: bool = False
    line: int = 0


@dataclass(frozen=True, slots=True)
class Function:
    """A function or method: what can be asked without its body."""

    name: str
    line: int
    decorators: tuple[Value, ...] = ()
    parameters: tuple[str, ...] = ()
    returns: Value = field(default_factory=Value)
    """The literal of its only statement `return literal` (docstring aside)."""
    conditional: bool = False

    @property
    def is_property(self) -> bool:
        return any((d.dotted or "").rpartition(".")[2] in ("property", "cached_property") for d in self.decorators)


@dataclass(frozen=True, slots=True)
class Class:
    """A class: bases as written, methods, and what is assigned on the class and on `self`."""

    name: str
    """Qualified name within the module."""
    line: int
    bases: tuple[str | None, ...]
    """Dotted, as written; None where a base is no dotted name."""
    attributes: Mapping[str, tuple[Assignment, ...]]
    methods: Mapping[str, Function]
    conditional: bool = False
    marked: bool = False
    """Whether it has a decorator or a metaclass."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A call that may set mixed precision: Trainer, Accelerator, autocast, TrainingArguments …"""

    call: Value
    line: int
    scope: str = ""


@dataclass(frozen=True, slots=True)
class Splat:
    """A call that is handed a table: `Trainer(**config.trainer)`, `f(**config["a"]["b"])`."""

    called: str
    """Dotted, as written."""
    keys: tuple[str, ...]
    """What leads to the table, below the first name."""


@dataclass(frozen=True, slots=True)
class Facts:
    """One file."""

    path: str
    imports: tuple[Import, ...]
    classes: Mapping[str, Class]
    functions: Mapping[str, Function]
    """At module level."""
    assignments: Mapping[str, tuple[Assignment, ...]]
    """Plain names assigned at module level."""
    rebound: Mapping[str, int]
    """How often each name is bound in any way other than an import, anywhere but directly in a class body."""
    exports: frozenset[str]
    settings: tuple[Setting, ...]
    loads: Mapping[str, int]
    """How often each name is read."""
    header: int
    """Number of the line after which the first import may stand (docstring and `__future__` imports)."""
    future: bool = False
    mentioned: frozenset[str] = frozenset()
    """The names of attributes, and strings that may be such."""
    called: frozenset[str] = frozenset()
    """The last names of what is called."""
    splats: tuple[Splat, ...] = ()

    def named(self, name: str) -> Iterator[Import]:
        """The imports that bind `name`."""
        return (i for i in self.imports if i.name == name)


def dotted(node: ast.expr | None) -> str | None:
    """`a.b.c` for a chain of attributes on a name, else None."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id, *reversed(parts)])


def value_of(node: ast.expr | None, depth: int = 3) -> Value:
    """What can be told of an expression."""
    if isinstance(node, ast.Constant) and not isinstance(node.value, (complex, type(Ellipsis))):
        return Value(literal=node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        number = node.operand.value
        return Value(literal=-number) if isinstance(number, (int, float)) else Value()
    if isinstance(node, ast.Call) and depth:
        return Value(
            dotted=dotted(node.func),
            call=True,
            args=tuple(value_of(a, depth - 1) for a in node.args if not isinstance(a, ast.Starred)),
            keywords={k.arg: value_of(k.value, depth - 1) for k in node.keywords if k.arg},
            splat=any(k.arg is None for k in node.keywords) or any(isinstance(a, ast.Starred) for a in node.args),
        )
    return Value(dotted=dotted(node)) if isinstance(node, (ast.Name, ast.Attribute)) else Value()


def gather(path: str, text: str) -> Facts | Skip:
    """The facts of a file, or why there are none."""
    both = parse(path, text)
    return both if isinstance(both, Skip) else both[0]


def parse(path: str, text: str) -> tuple[Facts, ast.Module] | Skip:
    """The facts of a file and its syntax tree, or why there are none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = ast.parse(text)
        return _Reader(path).read(module), module
    except SyntaxError as error:
        return Skip(path, SkipReason.UNPARSABLE, f"line {error.lineno or 1}: {error.msg}")
    except (RecursionError, MemoryError):
        return Skip(path, SkipReason.TOO_DEEP, "nested too deeply to be read")
    except ValueError as error:
        return Skip(path, SkipReason.UNPARSABLE, str(error))


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class _Reader:
    """Collects facts in one pass over statements, and one over expressions."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.imports: list[Import] = []
        self.classes: dict[str, Class] = {}
        self.functions: dict[str, Function] = {}
        self.assignments: dict[str, list[Assignment]] = {}
        self.rebound: dict[str, int] = {}
        self.exports: set[str] = set()
        self.settings: list[Setting] = []
        self.loads: dict[str, int] = {}
        self.attributes: dict[str, dict[str, list[Assignment]]] = {}
        self.mentioned: set[str] = set()
        self.called: set[str] = set()
        self.splats: list[Splat] = []

    def read(self, module: ast.Module) -> Facts:
        header, future = 0, False
        for index, statement in enumerate(module.body):
            if index == 0 and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                header = statement.end_lineno or header
            elif isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
                header, future = statement.end_lineno or header, True
            else:
                break
        self.body(module.body, scope="", owner=None, method=None, conditional=False, checking=False)
        classes = {
            name: Class(
                c.name,
                c.line,
                c.bases,
                {a: tuple(v) for a, v in self.attributes[name].items()},
                c.methods,
                c.conditional,
                c.marked,
            )
            for name, c in self.classes.items()
        }
        return Facts(
            path=self.path,
            imports=tuple(self.imports),
            classes=classes,
            functions=self.functions,
            assignments={name: tuple(values) for name, values in self.assignments.items()},
            rebound=self.rebound,
            exports=frozenset(self.exports),
            settings=tuple(self.settings),
            loads=self.loads,
            header=header,
            future=future,
            mentioned=frozenset(self.mentioned),
            called=frozenset(self.called),
            splats=tuple(self.splats),
        )

    def bind(self, *names: str) -> None:
        for name in names:
            self.rebound[name] = self.rebound.get(name, 0) + 1

    def body(
        self,
        statements: list[ast.stmt],
        *,
        scope: str,
        owner: str | None,
        method: tuple[str, str] | None,
        conditional: bool,
        checking: bool,
    ) -> None:
        """Read a block. `owner`: the class whose body this is; `method`: (class, method name) around it."""
        for s in statements:
            inside: dict[str, Any] = {"scope": scope, "owner": owner, "method": method, "conditional": conditional}
            if isinstance(s, (ast.Import, ast.ImportFrom)):
                self.importing(s, scope, conditional, checking)
            elif isinstance(s, _FUNCTIONS):
                self.function(s, checking=checking, **inside)
            elif isinstance(s, ast.ClassDef):
                self.klass(s, scope, owner, conditional, checking)
            else:
                for expression in _own_expressions(s):
                    stored = self.expressions(expression, scope, owner is not None)
                    if method and not isinstance(s, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
                        for node in stored:
                            self.attribute(node, Value(), method, scope, conditional)
                if isinstance(s, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
                    self.assign(s, owner, method, scope, conditional)
                if isinstance(s, (ast.Global, ast.Nonlocal)):
                    self.bind(*s.names)
                for block, certain in _blocks(s):
                    now_checking = checking or (_is_type_checking(s) and block is s.body)
                    self.body(block, checking=now_checking, **{**inside, "conditional": conditional or not certain})

    def importing(self, s: ast.Import | ast.ImportFrom, scope: str, conditional: bool, checking: bool) -> None:
        where = (scope, s.lineno, s.end_lineno or s.lineno, s.col_offset, conditional, checking)
        if isinstance(s, ast.Import):
            for a in s.names:
                if a.asname:
                    self.imports.append(Import(a.asname, a.name, *where))
                else:
                    head = a.name.partition(".")[0]
                    self.imports.append(Import(head, head, *where, dotted="." in a.name, path=a.name))
            return
        base = "." * s.level + (s.module or "")
        for a in s.names:
            target = base + a.name if base.endswith(".") else f"{base}.{a.name}"
            self.imports.append(Import(a.asname or a.name, base if a.name == "*" else target, *where))

    def function(
        self,
        s: ast.FunctionDef | ast.AsyncFunctionDef,
        *,
        scope: str,
        owner: str | None,
        method: tuple[str, str] | None,
        conditional: bool,
        checking: bool,
    ) -> None:
        a = s.args
        parameters = [*a.posonlyargs, *a.args, *([a.vararg] if a.vararg else []), *a.kwonlyargs]
        parameters += [a.kwarg] if a.kwarg else []
        for expression in (*s.decorator_list, *a.defaults, *(d for d in a.kw_defaults if d)):
            self.expressions(expression, scope, owner is not None)
        for annotation in (*(p.annotation for p in parameters), s.returns):
            if annotation is not None:
                self.expressions(annotation, scope, owner is not None)
        own = [x for x in s.body if not (isinstance(x, ast.Expr) and isinstance(x.value, ast.Constant))]
        only = own[0] if len(own) == 1 else None
        returns = value_of(only.value) if isinstance(only, ast.Return) else Value()
        fact = Function(
            s.name,
            s.lineno,
            tuple(value_of(d) for d in s.decorator_list),
            tuple(p.arg for p in parameters),
            returns,
            conditional,
        )
        if owner is not None:
            methods = self.classes[owner].methods
            assert isinstance(methods, dict)
            if not (s.name in methods and fact.decorators and not fact.is_property):
                methods[s.name] = fact
        else:
            self.bind(s.name)
            if not scope:
                self.functions[s.name] = fact
        self.bind(*(p.arg for p in parameters))
        inner = f"{scope}.{s.name}" if scope else s.name
        within = (owner, s.name) if owner is not None else method
        self.body(s.body, scope=inner, owner=None, method=within, conditional=False, checking=checking)

    def klass(self, s: ast.ClassDef, scope: str, owner: str | None, conditional: bool, checking: bool) -> None:
        name = f"{scope}.{s.name}" if scope else s.name
        for expression in (*s.decorator_list, *s.bases, *(k.value for k in s.keywords)):
            self.expressions(expression, scope, owner is not None)
        if owner is None:
            self.bind(s.name)
        twice = name in self.classes
        marked = bool(s.decorator_list) or any(each.arg == "metaclass" for each in s.keywords)
        self.classes[name] = Class(
            name, s.lineno, tuple(dotted(_unsubscripted(b)) for b in s.bases), {}, {}, conditional or twice, marked
        )
        self.attributes[name] = {}
        self.body(s.body, scope=name, owner=name, method=None, conditional=False, checking=checking)

    def assign(
        self,
        s: ast.Assign | ast.AnnAssign | ast.AugAssign,
        owner: str | None,
        method: tuple[str, str] | None,
        scope: str,
        conditional: bool,
    ) -> None:
        if isinstance(s, ast.AnnAssign) and s.value is None:
            return
        for each in s.targets if isinstance(s, ast.Assign) else [s.target]:
            for target, given in _leaves(each, None if isinstance(s, ast.AugAssign) else s.value):
                if isinstance(target, ast.Attribute):
                    self.attribute(target, value_of(given), method, scope, conditional)
                if not isinstance(target, ast.Name):
                    continue
                fact = Assignment(value_of(given), "", conditional, s.lineno)
                if owner is not None:
                    self.attributes[owner].setdefault(target.id, []).append(fact)
                elif not scope:
                    self.assignments.setdefault(target.id, []).append(fact)
                    if target.id == "__all__" and isinstance(s.value, (ast.List, ast.Tuple)):
                        self.exports |= {str(e.value) for e in s.value.elts if isinstance(e, ast.Constant)}

    def attribute(
        self, target: ast.Attribute, given: Value, method: tuple[str, str] | None, scope: str, conditional: bool
    ) -> None:
        """Something is given to an attribute: of `self`, perhaps."""
        if method and isinstance(target.value, ast.Name):
            klass, name = method
            parameters = self.classes[klass].methods[name].parameters
            if target.value.id in parameters[:1]:
                fact = Assignment(given, name, conditional or scope != f"{klass}.{name}", target.lineno)
                self.attributes[klass].setdefault(target.attr, []).append(fact)

    def expressions(self, root: ast.AST, scope: str, in_class: bool) -> list[ast.Attribute]:
        """Names read and bound, and calls that set precision, in one expression; the attributes that are stored to."""
        stored: list[ast.Attribute] = []
        stack: list[Any] = [root]
        while stack:
            node = stack.pop()
            kind = type(node)
            if kind is ast.Name:
                if type(node.ctx) is ast.Load:
                    self.loads[node.id] = self.loads.get(node.id, 0) + 1
                elif not in_class:
                    self.bind(node.id)
                continue
            if kind is ast.Constant:
                if isinstance(node.value, str) and node.value.isidentifier():
                    self.mentioned.add(node.value)
                continue
            if kind is ast.Attribute:
                self.mentioned.add(node.attr)
                if type(node.ctx) is not ast.Load:
                    stored.append(node)
                stack.append(node.value)
                continue
            if kind is ast.Call:
                name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                self.called.add(name)
                if name in SETTINGS:
                    self.settings.append(Setting(value_of(node), node.lineno, scope))
                self.splats += _splats(node)
            elif kind is ast.arg:
                self.bind(node.arg)
            elif kind in _NAMING and node.name:
                self.bind(node.name)
            for name in _PARTS[type(node)]:
                part = getattr(node, name, None)
                if isinstance(part, list):
                    stack += [each for each in part if isinstance(each, ast.AST)]
                elif isinstance(part, ast.AST):
                    stack.append(part)
        return stored


_NAMING = (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)
"""What binds the name that it may have."""


class _Parts(dict[type[ast.AST], tuple[str, ...]]):
    """The fields of each type of node in which names can stand."""

    def __missing__(self, kind: type[ast.AST]) -> tuple[str, ...]:
        without = ("ctx", "op", "ops", "attr", "kind", "type_comment")
        self[kind] = tuple(name for name in kind._fields if name not in without)
        return self[kind]


_PARTS = _Parts()


def _unsubscripted(node: ast.expr) -> ast.expr:
    """`Base` of `Base[T]`."""
    return node.value if isinstance(node, ast.Subscript) else node


def _splats(call: ast.Call) -> Iterator[Splat]:
    """The tables that a call is handed with `**`, as far as keys lead to them."""
    for keyword in call.keywords:
        if keyword.arg is None and (keys := _keys(keyword.value)) and (called := dotted(call.func)):
            yield Splat(called, keys)


def _keys(node: ast.expr) -> tuple[str, ...]:
    """The attributes and keys that follow a name; none where something else stands among them."""
    keys: list[str] = []
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        match node:
            case ast.Attribute(attr=key) | ast.Subscript(slice=ast.Constant(value=str(key))):
                keys.append(key)
            case _:
                return ()
        node = node.value
    return tuple(reversed(keys)) if isinstance(node, ast.Name) else ()


def _own_expressions(s: ast.stmt) -> Iterator[ast.AST]:
    """The parts of a statement that are not blocks of statements."""
    for name, part in ast.iter_fields(s):
        if name in ("body", "orelse", "finalbody"):
            continue
        for item in part if isinstance(part, list) else [part]:
            if isinstance(item, ast.ExceptHandler):
                yield ast.ExceptHandler(type=item.type, name=item.name, body=[])
            elif isinstance(item, ast.match_case):
                yield item.pattern
                if item.guard:
                    yield item.guard
            elif isinstance(item, ast.AST):
                yield item


def _leaves(target: ast.expr, value: ast.expr | None) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """The names and attributes that a target unpacks to, each with its value where that can be told."""
    if isinstance(target, ast.Starred):
        yield target.value, None
    elif isinstance(target, (ast.Tuple, ast.List)):
        given: Sequence[ast.expr | None] = value.elts if isinstance(value, (ast.Tuple, ast.List)) else ()
        starred = any(isinstance(e, ast.Starred) for e in (*target.elts, *given))
        if starred or len(given) != len(target.elts):
            given = [None] * len(target.elts)
        for inner, each in zip(target.elts, given, strict=True):
            yield from _leaves(inner, each)
    else:
        yield target, value


def _blocks(s: ast.stmt) -> Iterator[tuple[list[ast.stmt], bool]]:
    """The blocks of a compound statement, each with whether it surely runs."""
    certain = isinstance(s, (ast.With, ast.AsyncWith))
    for name in ("body", "orelse", "finalbody"):
        block = getattr(s, name, None)
        if block and isinstance(block, list):
            yield block, certain
    for handler in getattr(s, "handlers", []):
        yield handler.body, False
    for case in getattr(s, "cases", []):
        yield case.body, False


def _is_type_checking(s: ast.stmt) -> TypeGuard[ast.If]:
    return isinstance(s, ast.If) and (dotted(s.test) or "").rpartition(".")[2] == "TYPE_CHECKING"
