"""Programs in which a fact is hidden and nothing else is changed, and what the rules say of them.

A transformation moves a piece of code into a helper, a method, a generator …, or sends its value through a container, a
second name, a conditional expression … It finds its targets itself, in the syntax tree and without `codemods`: the
calls of `backward`, `scale`, `unscale_`, `step`, `zero_grad` and of what clips gradients, their receivers and
arguments, divisions, and what a `with` enters.

    python -m tests.indirections [CODE …]                # every single transformation, and 500 pairs: writes the table
    python -m tests.indirections --check [CODE …]        # the same, and compares with the table
    python -m tests.indirections --show CODE-case NAME   # prints the programs of one transformation
"""

from __future__ import annotations

import argparse
import ast
import builtins
import json
import os
import random
import re
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from cases import Case, cases

from codemods.model.edits import Certainty, Finding, Safety, splice

TABLE = Path(__file__).parent / "indirections.json"
WORDS = frozenset({"backward", "scale", "unscale_", "step", "zero_grad", "manual_backward"})
CLIPS = re.compile(r"clip_grad\w*|clip_grads_with_norm_|get_total_norm")
MOST_TARGETS = 4
"""Of one program, for each transformation."""
OTHER_FILE = "hidden_helper.py"
_SIMPLE = (ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


# -- targets


@dataclass(frozen=True)
class Target:
    """A piece of code that decides about a finding."""

    node: ast.expr
    kind: str
    """`call`, `receiver`, `argument`, `division` or `manager`."""
    word: str
    """The method that it belongs to."""


def targets(tree: ast.Module) -> list[Target]:
    """What may be hidden, in source order; the text of each is hidden once."""
    found: dict[int, Target] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(attr=word) | ast.Name(id=word)) if word in WORDS or CLIPS.fullmatch(word):
                _note(found, Target(node, "call", word))
                if isinstance(node.func, ast.Attribute) and word in WORDS:
                    _note(found, Target(node.func.value, "receiver", word))
                for argument in node.args:
                    _note(found, Target(argument, "argument", word))
            case ast.BinOp(op=ast.Div()):
                _note(found, Target(node, "division", "/"))
            case ast.With(items=items):
                for item in items:
                    _note(found, Target(item.context_expr, "manager", "with"))
    return sorted(found.values(), key=lambda each: (each.node.lineno, each.node.col_offset, each.kind))


def _note(found: dict[int, Target], target: Target) -> None:
    if not isinstance(target.node, (ast.Starred, ast.Constant)):
        found.setdefault(id(target.node), target)


# -- the program around a target


@dataclass
class Program:
    """One file, and what is known of its syntax tree."""

    text: str
    tree: ast.Module = field(init=False)
    parents: dict[ast.AST, ast.AST] = field(init=False)
    starts: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.tree = ast.parse(self.text)
        self.parents = {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}
        self.starts = [0]
        for line in self.text.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self._lines = self.text.splitlines(keepends=True)

    def offset(self, line: int, column: int) -> int:
        """The offset of a place as the syntax tree names it: columns count bytes."""
        return self.starts[line - 1] + len(self._lines[line - 1].encode()[:column].decode())

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self.offset(node.lineno, node.col_offset), self.offset(node.end_lineno, node.end_col_offset)

    def code(self, node: ast.expr | ast.stmt) -> str:
        start, end = self.span(node)
        return self.text[start:end]

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        while (found := self.parents.get(node)) is not None:
            yield found
            node = found

    def statement(self, node: ast.AST) -> ast.stmt | None:
        """The statement that holds an expression."""
        return next((each for each in self.above(node) if isinstance(each, ast.stmt)), None)

    def whole_lines(self, statement: ast.stmt) -> tuple[int, int, str] | None:
        """The lines of a statement that has them for itself, with its indentation."""
        start, end = self.span(statement)
        begin = self.text.rfind("\n", 0, start) + 1
        stop = self.text.find("\n", end)
        stop = len(self.text) if stop < 0 else stop
        indent = self.text[begin:start]
        rest = self.text[end:stop].strip()
        if indent.strip() or (rest and not rest.startswith("#")) or "\\\n" in self.text[start:end]:
            return None
        return begin, stop, indent

    def head(self) -> int:
        """Where definitions go: behind the docstring and the imports."""
        last = 0
        for number, statement in enumerate(self.tree.body):
            docstring = number == 0 and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
            if not docstring and not isinstance(statement, (ast.Import, ast.ImportFrom)):
                break
            last = self.span(statement)[1]
        stop = self.text.find("\n", last)
        if last == 0:
            options = re.match(r"\ufeff?(#[^\n]*\n)*", self.text)
            return options.end() if options is not None else 0
        return len(self.text) if stop < 0 else stop + 1

    def outer_names(self) -> frozenset[str]:
        """What the module imports or defines: it needs not be handed on to a helper of the same file."""
        return frozenset(
            name
            for node in ast.walk(self.tree)
            for name in _bound(node)
            if isinstance(self.parents.get(node), ast.Module)
        )

    def imported(self) -> frozenset[str]:
        return frozenset(
            name for node in self.tree.body if isinstance(node, (ast.Import, ast.ImportFrom)) for name in _bound(node)
        )

    def free(self, node: ast.expr, known: frozenset[str]) -> list[str] | None:
        """The names that an expression reads and a helper cannot see; None for one that cannot be moved."""
        inside = {arg.arg for each in ast.walk(node) if isinstance(each, ast.arguments) for arg in _arguments(each)}
        inside |= {
            name.id
            for each in ast.walk(node)
            if isinstance(each, ast.comprehension)
            for name in ast.walk(each.target)
            if isinstance(name, ast.Name)
        }
        known -= {name for above in self.above(node) if isinstance(above, _FUNCTIONS) for name in _locals(above)}
        found: dict[str, None] = {}
        for each in ast.walk(node):
            match each:
                case ast.Await() | ast.Yield() | ast.YieldFrom() | ast.NamedExpr():
                    return None
                case ast.Name(id="super" | "locals" | "__class__" | "globals"):
                    return None
                case ast.Name(id=name) if name not in inside and name not in known and not hasattr(builtins, name):
                    found[name] = None
                case ast.Attribute(attr=name) if name.startswith("__") and not name.endswith("__"):
                    return None
        return list(found)


def _locals(function: ast.AST) -> Iterator[str]:
    """What a function binds, or a function inside of it."""
    for node in ast.walk(function):
        match node:
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()):
                yield name
            case _ if node is not function:
                yield from _bound(node)


def _arguments(arguments: ast.arguments) -> Iterator[ast.arg]:
    yield from (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    yield from (each for each in (arguments.vararg, arguments.kwarg) if each is not None)


def _bound(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            yield from (each.asname or each.name.partition(".")[0] for each in names)
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name


# -- what a transformation makes


Change = tuple[int, int, str]


Undo = Callable[[ast.Module, str], ast.Module]
"""Takes a transformation back, in the changed tree of the file; it is given the text of the other file."""


@dataclass(frozen=True)
class Twin:
    """A program in which something is hidden."""

    files: Mapping[str, str]
    path: str
    """The file that was changed."""
    name: str
    """Of the transformation."""
    target: str
    """The code that is hidden."""
    written: frozenset[tuple[str, int]]
    """The lines that the transformation wrote."""
    undo: Undo


class _Cannot(Exception):
    """A transformation does not apply."""


@dataclass
class Hiding:
    """A target, and what a transformation does about it."""

    program: Program
    target: Target
    changes: list[Change] = field(default_factory=list)
    others: dict[str, str] = field(default_factory=dict)

    @property
    def node(self) -> ast.expr:
        return self.target.node

    @property
    def code(self) -> str:
        """The text of the target, on one line if it can be."""
        return ast.unparse(self.node)

    def free(self, *, far: bool = False) -> list[str]:
        known = self.program.imported() if far else self.program.outer_names()
        names = self.program.free(self.node, known)
        if names is None:
            raise _Cannot
        return names

    def define(self, code: str) -> None:
        """Put a definition behind the imports."""
        at = self.program.head()
        before = "\n" if at and not self.program.text[:at].endswith("\n\n") else ""
        self.changes.append((at, at, f"{before}\n{code.rstrip()}\n\n"))

    def put(self, code: str) -> None:
        """Write something else in the place of the target."""
        start, end = self.program.span(self.node)
        self.changes.append((start, end, code))

    def before(self, code: str) -> None:
        """Put statements before the one that holds the target."""
        begin, _, indent = self._lines(self._first())
        self.changes.append((begin, begin, "".join(f"{indent}{line}\n" for line in code.splitlines())))

    def around(self, head: str, value: str) -> None:
        """Put the statement that holds the target below a head, with something else in the place of the target."""
        statement = self._first()
        begin, stop, indent = self._lines(statement)
        if any(isinstance(n, ast.Constant) and n.end_lineno != n.lineno for n in ast.walk(statement)):
            raise _Cannot
        start, end = self.program.span(self.node)
        text = self.program.text
        inner = text[begin:start] + value + text[end:stop]
        below = "".join(f"    {line}\n" for line in inner.split("\n"))
        self.changes.append((begin, stop, f"{indent}{head}\n{below}".rstrip("\n")))

    def _first(self) -> ast.stmt:
        """The statement, if the target is evaluated before everything else in it."""
        statement = self.program.statement(self.node)
        if not isinstance(statement, _SIMPLE):
            raise _Cannot
        below: ast.AST = self.node
        for above in self.program.above(self.node):
            if above is statement:
                break
            if isinstance(above, (ast.Lambda, *_COMPREHENSIONS, ast.IfExp, ast.BoolOp)):
                raise _Cannot
            if isinstance(above, ast.Call) and below is not above.func:
                earlier = [above.func, *above.args[: above.args.index(below)]] if below in above.args else [above]
                if any(isinstance(each, ast.Call) for part in earlier for each in ast.walk(part)):
                    raise _Cannot
            if isinstance(above, ast.BinOp) and below is above.right and _calls(above.left):
                raise _Cannot
            below = above
        return statement

    def _lines(self, statement: ast.stmt) -> tuple[int, int, str]:
        if (lines := self.program.whole_lines(statement)) is None:
            raise _Cannot
        if isinstance(self.program.parents.get(statement), ast.ClassDef):
            raise _Cannot
        return lines


def _calls(node: ast.AST) -> bool:
    return any(isinstance(each, ast.Call) for each in ast.walk(node))


Transform = Callable[[Hiding], None]


# -- moved into …


def _def(name: str, parameters: Iterable[str], *body: str, indent: str = "") -> str:
    lines = (f"{indent}def {name}({', '.join(parameters)}):", *(f"{indent}    {line}" for line in body))
    return "\n".join(lines)


def helper(hiding: Hiding) -> None:
    """A function of the same file."""
    names = hiding.free()
    hiding.define(_def("_hidden_moved", names, f"return {hiding.code}"))
    hiding.put(f"_hidden_moved({', '.join(names)})")


def other_file(hiding: Hiding) -> None:
    """A function of another file."""
    names = hiding.free(far=True)
    program = hiding.program
    imports = [s for s in program.tree.body if isinstance(s, (ast.Import, ast.ImportFrom))]
    if any(isinstance(s, ast.ImportFrom) and s.level for s in imports) or any(
        isinstance(n, ast.Name) and n.id in program.outer_names() - program.imported() for n in ast.walk(hiding.node)
    ):
        raise _Cannot
    code = "\n".join(program.code(s) for s in imports)
    hiding.others[OTHER_FILE] = f"{code}\n\n\n{_def('_hidden_moved', names, f'return {hiding.code}')}\n"
    hiding.define("from hidden_helper import _hidden_moved")
    hiding.put(f"_hidden_moved({', '.join(names)})")


def method(hiding: Hiding) -> None:
    """A method of another class."""
    names = hiding.free()
    inside = _def("moved", ("_this", *names), f"return {hiding.code}", indent="    ")
    hiding.define(f"class _HiddenPlace:\n{inside}")
    hiding.put(f"_HiddenPlace().moved({', '.join(names)})")


def base_class(hiding: Hiding) -> None:
    """A method that a class inherits."""
    names = hiding.free()
    inside = _def("moved", ("_this", *names), f"return {hiding.code}", indent="    ")
    hiding.define(f"class _HiddenBase:\n{inside}\n\n\nclass _HiddenPlace(_HiddenBase):\n    pass")
    hiding.put(f"_HiddenPlace().moved({', '.join(names)})")


def property_(hiding: Hiding) -> None:
    """A property."""
    names = hiding.free()
    setting = _def("__init__", ("_this", "*held"), "_this.held = held", indent="    ")
    taking = [f"{', '.join(names)}, = _this.held"] if names else []
    reading = _def("moved", ("_this",), *taking, f"return {hiding.code}", indent="    ")
    hiding.define(f"class _HiddenPlace:\n{setting}\n\n    @property\n{reading}")
    hiding.put(f"_HiddenPlace({', '.join(names)}).moved")


def lambda_(hiding: Hiding) -> None:
    """A lambda."""
    names = hiding.free()
    hiding.define(f"_hidden_moved = lambda {', '.join(names)}: {hiding.code}")
    hiding.put(f"_hidden_moved({', '.join(names)})")


def nested_function(hiding: Hiding) -> None:
    """A function inside the function."""
    if hiding.program.free(hiding.node, frozenset()) is None:
        raise _Cannot
    hiding.before(_def("_hidden_moved", (), f"return {hiding.code}"))
    hiding.put("_hidden_moved()")


def decorator(hiding: Hiding) -> None:
    """A function behind a decorator."""
    names = hiding.free()
    call = _def("call", ("*args", "**kwargs"), "return function(*args, **kwargs)", indent="    ")
    plain = f"def _hidden_plain(function):\n{call}\n\n    return call"
    moved = _def("_hidden_moved", names, f"return {hiding.code}")
    hiding.define(f"{plain}\n\n\n@_hidden_plain\n{moved}")
    hiding.put(f"_hidden_moved({', '.join(names)})")


def generator(hiding: Hiding) -> None:
    """A generator."""
    names = hiding.free()
    hiding.define(_def("_hidden_moved", names, f"yield {hiding.code}"))
    hiding.put(f"next(_hidden_moved({', '.join(names)}))")


def context_manager(hiding: Hiding) -> None:
    """A context manager that brings the value."""
    if hiding.target.kind == "manager":
        raise _Cannot
    names = hiding.free()
    moved = _def("_hidden_moved", names, f"yield {hiding.code}")
    hiding.around(f"with _hidden_moved({', '.join(names)}) as _hidden_value:", "_hidden_value")
    hiding.define(f"import contextlib as _hidden_contextlib\n\n\n@_hidden_contextlib.contextmanager\n{moved}")


def partial(hiding: Hiding) -> None:
    """`functools.partial`."""
    names = hiding.free()
    moved = _def("_hidden_moved", names, f"return {hiding.code}")
    hiding.define(f"import functools as _hidden_functools\n\n\n{moved}")
    first, rest = ", ".join(["_hidden_moved", *names[:1]]), ", ".join(names[1:])
    hiding.put(f"_hidden_functools.partial({first})({rest})")


def call_method(hiding: Hiding) -> None:
    """`__call__` of an object."""
    names = hiding.free()
    inside = _def("__call__", ("_this", *names), f"return {hiding.code}", indent="    ")
    hiding.define(f"class _HiddenPlace:\n{inside}")
    hiding.put(f"_HiddenPlace()({', '.join(names)})")


def attribute(hiding: Hiding) -> None:
    """An attribute that another method sets."""
    names = hiding.free()
    inside = _def("fill", ("_this", *names), f"_this.value = {hiding.code}", "return _this", indent="    ")
    hiding.define(f"class _HiddenPlace:\n{inside}")
    hiding.put(f"_HiddenPlace().fill({', '.join(names)}).value")


def star_args(hiding: Hiding) -> None:
    """A function that takes `*args`."""
    names = hiding.free()
    taking = [f"{', '.join(names)}, = _args"] if names else []
    hiding.define(_def("_hidden_moved", ("*_args",), *taking, f"return {hiding.code}"))
    hiding.put(f"_hidden_moved({', '.join(names)})")


# -- sent through …


def _only_values(hiding: Hiding) -> None:
    """Leave out calls that do something: sent on as a value, they are not hidden, but stand for themselves."""
    if hiding.target.kind == "call" and hiding.target.word != "scale":
        raise _Cannot


def append(hiding: Hiding) -> None:
    """A list that a loop fills."""
    _only_values(hiding)
    hiding.before(f"_hidden_items = []\nfor _hidden_each in [{hiding.code}]:\n    _hidden_items.append(_hidden_each)")
    hiding.put("_hidden_items[0]")


def comprehension(hiding: Hiding) -> None:
    """A list comprehension."""
    hiding.put(f"[_hidden_each for _hidden_each in [{hiding.code}]][0]")


def tuple_(hiding: Hiding) -> None:
    """A tuple."""
    hiding.put(f"({hiding.code}, None)[0]")


def dictionary(hiding: Hiding) -> None:
    """A dictionary that is filled and read."""
    _only_values(hiding)
    hiding.before(f"_hidden_items = {{}}\n_hidden_items['value'] = {hiding.code}")
    hiding.put("_hidden_items['value']")


def star_unpacking(hiding: Hiding) -> None:
    """Star unpacking."""
    _only_values(hiding)
    hiding.before(f"_hidden_value, *_hidden_rest = [{hiding.code}, None]")
    hiding.put("_hidden_value")


def loop_variable(hiding: Hiding) -> None:
    """The variable of a loop."""
    _only_values(hiding)
    hiding.around(f"for _hidden_value in [{hiding.code}]:", "_hidden_value")


def dataclass_field(hiding: Hiding) -> None:
    """A field of a dataclass."""
    hiding.put(f"_HiddenRecord({hiding.code}).value")
    head = "import dataclasses as _hidden_dataclasses\n\n\n@_hidden_dataclasses.dataclass\n"
    hiding.define(f"{head}class _HiddenRecord:\n    value: object")


def namedtuple(hiding: Hiding) -> None:
    """A field of a named tuple."""
    hiding.put(f"_HiddenRecord({hiding.code}).value")
    made = "_hidden_collections.namedtuple('_HiddenRecord', 'value')"
    hiding.define(f"import collections as _hidden_collections\n\n_HiddenRecord = {made}")


def add_assign(hiding: Hiding) -> None:
    """`+=` on a variable that begins with 0: for losses only."""
    call = hiding.program.parents.get(hiding.program.parents.get(hiding.node) or hiding.node)
    if hiding.target.word != "backward" or hiding.target.kind != "receiver":
        raise _Cannot
    if not isinstance(call, ast.Call) or call.args or call.keywords:
        raise _Cannot  # that of something that differentiates what it is given
    hiding.before(f"_hidden_value = 0\n_hidden_value += {hiding.code}")
    hiding.put("_hidden_value")


def walrus(hiding: Hiding) -> None:
    """An assignment expression."""
    if any(isinstance(each, _COMPREHENSIONS) for each in hiding.program.above(hiding.node)):
        raise _Cannot
    if isinstance(hiding.program.parents.get(hiding.program.statement(hiding.node) or hiding.node), ast.ClassDef):
        raise _Cannot
    hiding.put(f"(_hidden_value := {hiding.code})")


def conditional(hiding: Hiding) -> None:
    """A conditional expression."""
    hiding.put(f"({hiding.code} if len('hidden') else None)")


def match_(hiding: Hiding) -> None:
    """The name that a `match` binds."""
    _only_values(hiding)
    head = f"match {hiding.code}:"
    statement = hiding.program.statement(hiding.node)
    if statement is None:
        raise _Cannot
    hiding.around(f"{head}\n@@case _hidden_value:", "_hidden_value")
    begin, stop, text = hiding.changes.pop()
    indent = re.match(r"\s*", text)
    space = indent[0] if indent is not None else ""
    first, rest = text.split("\n@@", 1)
    case_line, body = rest.split("\n", 1)
    below = "\n".join(f"    {line}" for line in body.split("\n"))
    hiding.changes.append((begin, stop, f"{first}\n{space}    {case_line}\n{below}"))


def second_name(hiding: Hiding) -> None:
    """A second name."""
    _only_values(hiding)
    hiding.before(f"_hidden_value = {hiding.code}")
    hiding.put("_hidden_value")


def getattr_literal(hiding: Hiding) -> None:
    """`getattr` with a literal, in the place of an attribute."""
    _by_name(hiding, lambda name: repr(name))


def computed_name(hiding: Hiding) -> None:
    """`getattr` with a name that is put together, in the place of an attribute."""
    _by_name(hiding, lambda name: f"{name[: len(name) // 2]!r} + {name[len(name) // 2 :]!r}")


def _by_name(hiding: Hiding, say: Callable[[str], str]) -> None:
    node = hiding.node
    if hiding.target.kind != "call" or not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        raise _Cannot
    if not isinstance(node.func.value, (ast.Name, ast.Attribute, ast.Call, ast.Subscript)):
        raise _Cannot
    start, end = hiding.program.span(node.func)
    owner = hiding.program.code(node.func.value)
    hiding.changes.append((start, end, f"getattr({owner}, {say(node.func.attr)})"))


def _method_call(hiding: Hiding) -> tuple[ast.Call, ast.Attribute]:
    """A target that calls a method of something with a name, in an expression or statement of its own."""
    node = hiding.node
    if hiding.target.kind != "call" or not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        raise _Cannot
    if not isinstance(node.func.value, (ast.Name, ast.Attribute)):
        raise _Cannot
    return node, node.func


def bound_method(hiding: Hiding) -> None:
    """A second name for a bound method: `update = scaler.update`, and `update()`."""
    _, method = _method_call(hiding)
    hiding.before(f"_hidden_value = {hiding.program.code(method)}")
    start, end = hiding.program.span(method)
    hiding.changes.append((start, end, "_hidden_value"))


def methods_in_a_loop(hiding: Hiding) -> None:
    """A loop over bound methods that calls each."""
    _, method = _method_call(hiding)
    hiding.around(f"for _hidden_value in ({hiding.program.code(method)},):", "_hidden_value()")
    begin, stop, text = hiding.changes.pop()
    given = hiding.code[len(ast.unparse(method)) :]
    hiding.changes.append((begin, stop, text.replace("_hidden_value()", f"_hidden_value{given}")))


def method_caller(hiding: Hiding) -> None:
    """`operator.methodcaller`."""
    node, method = _method_call(hiding)
    given = [ast.unparse(each) for each in (*node.args, *node.keywords)]
    hiding.define("import operator as _hidden_operator")
    named = ", ".join([repr(method.attr), *given])
    hiding.put(f"_hidden_operator.methodcaller({named})({hiding.program.code(method.value)})")


def try_finally(hiding: Hiding) -> None:
    """`try` and `finally`."""
    if hiding.target.kind != "call":
        raise _Cannot
    hiding.around("try:", hiding.program.code(hiding.node))
    begin, stop, text = hiding.changes.pop()
    indent = re.match(r"\s*", text)
    space = indent[0] if indent is not None else ""
    hiding.changes.append((begin, stop, f"{text}\n{space}finally:\n{space}    _hidden_done = True"))


def inverted_guard(hiding: Hiding) -> None:
    """A `return` or `continue` under the opposite of the condition."""
    program = hiding.program
    guard = next((each for each in program.above(hiding.node) if isinstance(each, ast.If)), None)
    if guard is None or guard.orelse or hiding.target.kind != "call" or (lines := program.whole_lines(guard)) is None:
        raise _Cannot
    around = program.parents[guard]
    if isinstance(around, (ast.For, ast.While)) and around.body[-1] is guard:
        leave = "continue"
    elif isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef)) and around.body[-1] is guard:
        leave = "return"
    else:
        raise _Cannot
    if guard.body[0].lineno == guard.lineno or any(
        isinstance(n, ast.Constant) and n.end_lineno != n.lineno for n in ast.walk(guard)
    ):
        raise _Cannot
    begin, stop, indent = lines
    first = program.offset(guard.body[0].lineno, 0)
    deeper = guard.body[0].col_offset - guard.col_offset
    body = "\n".join(line[deeper:] if line.strip() else line for line in program.text[first:stop].split("\n"))
    between = program.text[program.span(guard.test)[1] : first]
    comment = between[between.find("#") :].rstrip() if "#" in between else ""
    if comment.count("\n"):
        raise _Cannot
    inverted = f"{indent}if not ({program.code(guard.test)}):  # _hidden{comment}\n{indent}    {leave}\n{body}"
    hiding.changes.append((begin, stop, inverted))


TRANSFORMATIONS: dict[str, Transform] = {
    each.__name__.rstrip("_").replace("_", "-"): each
    for each in (
        *(helper, other_file, method, base_class, property_, lambda_, nested_function, decorator, generator),
        *(context_manager, partial, call_method, attribute, star_args, append, comprehension, tuple_, dictionary),
        *(star_unpacking, loop_variable, dataclass_field, namedtuple, add_assign, walrus, conditional, match_),
        *(
            second_name,
            getattr_literal,
            computed_name,
            bound_method,
            methods_in_a_loop,
            method_caller,
            try_finally,
            inverted_guard,
        ),
    )
}


# -- and back


class _Back(ast.NodeTransformer):
    """Takes a transformation back, also from a program that was repaired since."""

    def __init__(self, tree: ast.Module, target: ast.expr) -> None:
        self.values: dict[str, ast.expr] = {}
        for node in ast.walk(tree):
            self._read(node)
        self.target = target

    def _read(self, node: ast.AST) -> None:
        """What stands behind the names that a transformation made."""
        match node:
            case ast.FunctionDef(name="_hidden_moved" | "moved" | "__call__" | "fill", body=body):
                if node.name == "_hidden_moved" or any(a.arg == "_this" for a in node.args.args):
                    self._body(body)
            case ast.Assign(targets=[ast.Name(id="_hidden_moved")], value=ast.Lambda(body=value)):
                self.values["moved"] = value
            case ast.Assign(targets=[ast.Name(id="_hidden_value")], value=value) if _is_not_zero(value):
                self.values["value"] = value
            case ast.AugAssign(target=ast.Name(id="_hidden_value"), value=value):
                self.values["value"] = value
            case ast.Assign(
                targets=[ast.Tuple(elts=[ast.Name(id="_hidden_value"), _])], value=ast.List(elts=[value, _])
            ):
                self.values["value"] = value
            case ast.For(target=ast.Name(id="_hidden_value" | "_hidden_each"), iter=ast.List(elts=[value])):
                self.values["value"] = value
            case ast.For(target=ast.Name(id="_hidden_value"), iter=ast.Tuple(elts=[value])):
                self.values["value"] = value
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(id="_hidden_items"))], value=value):
                self.values["value"] = value
            case ast.Match(subject=value, cases=[ast.match_case(pattern=ast.MatchAs(name="_hidden_value"))]):
                self.values["value"] = value

    def _body(self, body: list[ast.stmt]) -> None:
        for statement in body:
            match statement:
                case ast.Return(value=ast.expr() as value) if not _is_name(value, "_this"):
                    self.values["moved"] = value
                case ast.Expr(value=ast.Yield(value=ast.expr() as value)):
                    self.values["moved"] = value
                case ast.Assign(targets=[ast.Attribute(attr="value")], value=value):
                    self.values["moved"] = value

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        kept: list[ast.stmt] = []
        for number, statement in enumerate(statements):
            match statement:
                case ast.If(
                    test=ast.UnaryOp(op=ast.Not(), operand=test), body=[ast.Continue() | ast.Return(value=None)]
                ):
                    if "inverted" in self.values:
                        rest = self.block(statements[number + 1 :])
                        return [*kept, ast.If(test=self.visit(test), body=rest, orelse=[])]
                case ast.FunctionDef(name=name) | ast.ClassDef(name=name) if name.lower().startswith("_hidden"):
                    continue
                case ast.Import(names=[ast.alias(asname=str(name))]) if name.startswith("_hidden"):
                    continue
                case ast.ImportFrom(module="hidden_helper"):
                    continue
                case ast.Assign(targets=[target]) if _is_hidden(target):
                    continue
                case ast.AugAssign(target=target) if _is_hidden(target):
                    continue
                case ast.For(target=ast.Name(id="_hidden_each")):
                    continue
                case ast.For(target=ast.Name(id="_hidden_value"), body=body):
                    kept += self.block(body)
                    continue
                case ast.With(items=[ast.withitem(optional_vars=ast.Name(id="_hidden_value"))], body=body):
                    kept += self.block(body)
                    continue
                case ast.Match(cases=[ast.match_case(pattern=ast.MatchAs(name="_hidden_value"), body=body)]):
                    kept += self.block(body)
                    continue
                case ast.Try(body=body, finalbody=[ast.Assign(targets=[target])]) if _is_hidden(target):
                    kept += self.block(body)
                    continue
            kept.append(self.visit(statement))
        return kept

    def generic_visit(self, node: ast.AST) -> ast.AST:
        for name, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                setattr(node, name, self.block(value))
        return super().generic_visit(node)

    def visit(self, node: ast.AST) -> ast.AST:
        found = self._original(node)
        return self.visit(found) if found is not None else super().visit(node)

    def _original(self, node: ast.AST) -> ast.expr | None:
        match node:
            case ast.Name(id="_hidden_value", ctx=ast.Load()) | ast.Subscript(value=ast.Name(id="_hidden_items")):
                return self.values.get("value", self.values.get("moved"))
            case ast.NamedExpr(target=ast.Name(id="_hidden_value"), value=value):
                return value
            case ast.IfExp(test=ast.Call(args=[ast.Constant(value="hidden")]), body=value):
                return value
            case ast.Subscript(value=ast.Tuple(elts=[value, ast.Constant(value=None)]), slice=ast.Constant(value=0)):
                return value
            case ast.Subscript(value=ast.ListComp(elt=ast.Name(id="_hidden_each"), generators=[each])):
                return each.iter.elts[0] if isinstance(each.iter, ast.List) else None
            case ast.Attribute(value=ast.Call(func=ast.Name(id="_HiddenRecord"), args=[value]), attr="value"):
                return value
            case ast.Call(
                func=ast.Name(id="getattr"),
                args=[
                    owner,
                    ast.BinOp(left=ast.Constant(value=str(first)), op=ast.Add(), right=ast.Constant(value=str(second))),
                ],
            ):
                return ast.Attribute(value=owner, attr=first + second, ctx=ast.Load())
            case ast.Call(func=ast.Name(id="getattr"), args=[owner, ast.Constant(value=str(name))]):
                hidden = self.values.get("getattr")  # the program may have one of its own
                is_it = isinstance(hidden, ast.Call) and getattr(hidden.func, "attr", "") == name
                return ast.Attribute(value=owner, attr=name, ctx=ast.Load()) if is_it else None
            case ast.Call(
                func=ast.Call(func=ast.Attribute(value=ast.Name(id="_hidden_operator")), args=[name, *given]) as made
            ):
                if isinstance(name, ast.Constant) and len(node.args) == 1:
                    method = ast.Attribute(value=node.args[0], attr=str(name.value), ctx=ast.Load())
                    return ast.Call(func=method, args=given, keywords=made.keywords)
                return None
            case ast.Call(func=ast.Name(id="next"), args=[ast.Call(func=ast.Name(id="_hidden_moved"))]):
                return self.values.get("moved")
            case ast.Call(func=ast.Name(id="_hidden_moved")):
                return self.values.get("moved")
            case ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Name(id="_HiddenPlace")), attr="moved")):
                return self.values.get("moved")
            case ast.Attribute(value=ast.Call(func=ast.Name(id="_HiddenPlace")), attr="moved"):
                return self.values.get("moved")
            case ast.Attribute(
                value=ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Name(id="_HiddenPlace")), attr="fill")),
                attr="value",
            ):
                return self.values.get("moved")
            case ast.Call(func=ast.Call(func=ast.Name(id="_HiddenPlace"))):
                return self.values.get("moved")
            case ast.Call(func=ast.Call(func=ast.Attribute(value=ast.Name(id="_hidden_functools")))):
                return self.values.get("moved")
        return None


def _is_not_zero(value: ast.expr) -> bool:
    return not isinstance(value, ast.Constant)


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _is_hidden(target: ast.expr) -> bool:
    match target:
        case ast.Name(id=name) | ast.Subscript(value=ast.Name(id=name)):
            return name.lower().startswith("_hidden")
        case ast.Tuple(elts=[first, *_]):
            return _is_hidden(first)
    return False


def _taken_back(name: str, target: ast.expr) -> Undo:
    def back(tree: ast.Module, far: str) -> ast.Module:
        undoing = _Back(tree, target)
        if name == "other-file":
            undoing._read(ast.parse(far).body[-1])
        if name == "getattr-literal":
            undoing.values["getattr"] = target
        if name == "inverted-guard":
            undoing.values["inverted"] = target
        tree.body = undoing.block(tree.body)
        return ast.fix_missing_locations(tree)

    return back


# -- twins of a program


def twins(files: Mapping[str, str], names: Iterable[str] = TRANSFORMATIONS) -> Iterator[Twin]:
    """Every program that one transformation makes of one target."""
    for path in sorted(files):
        if not path.endswith(".py") or path == OTHER_FILE:
            continue
        try:
            program = Program(files[path])
        except SyntaxError:
            continue
        for name in names:
            for target in chosen(targets(program.tree), f"{path} {name} {zlib.crc32(files[path].encode())}"):
                if (twin := _twin(files, path, program, name, target)) is not None:
                    yield twin


def chosen(found: list[Target], seed: str) -> list[Target]:
    """Some of the targets of a program: other ones for each transformation, the same in each run."""
    return found if len(found) <= MOST_TARGETS else random.Random(seed).sample(found, MOST_TARGETS)


def _twin(files: Mapping[str, str], path: str, program: Program, name: str, target: Target) -> Twin | None:
    if "_hidden" in program.code(target.node):
        return None
    hiding = Hiding(program, target)
    try:
        TRANSFORMATIONS[name](hiding)
    except _Cannot:
        return None
    if any(other in files for other in hiding.others):
        return None
    text, lines = _changed(program.text, hiding.changes)
    try:
        ast.parse(text)
    except SyntaxError as error:
        raise AssertionError(f"{name} breaks {path} at {ast.unparse(target.node)}: {error}\n{text}") from error
    written = {(path, line) for line in lines}
    for other, code in hiding.others.items():
        written |= {(other, number) for number in range(1, code.count("\n") + 2)}
    return Twin(
        {**files, path: text, **hiding.others},
        path,
        name,
        ast.unparse(target.node),
        frozenset(written),
        _taken_back(name, target.node),
    )


def _changed(text: str, changes: list[Change]) -> tuple[str, set[int]]:
    """The text with changes made, and the lines that they wrote."""
    parts: list[str] = []
    lines: set[int] = set()
    at, line = 0, 1
    for start, end, new in sorted(changes, key=lambda change: (change[0], change[1])):
        kept = text[at:start]
        parts.append(kept)
        line += kept.count("\n")
        lines |= set(range(line, line + new.count("\n") + 1))
        parts.append(new)
        line += new.count("\n")
        at = end
    parts.append(text[at:])
    return "".join(parts), lines


# -- what is said of them


@dataclass(frozen=True)
class Judged:
    """What a rule says of a twin."""

    outcome: str
    """`applied`, `equal`, `more careful`, `silent`; of a right program `quiet` or `told`."""
    wrong: str = ""
    """What breaks the law."""


def texts(files: Mapping[str, bytes]) -> dict[str, str] | None:
    """The files of a case as text; None where one cannot be read so."""
    try:
        return {path: data.decode() for path, data in files.items()}
    except UnicodeDecodeError:
        return None


def findings(case: Case, files: Mapping[str, str]) -> list[Finding]:
    found = case.run({path: text.encode() for path, text in files.items()}, fix=False)
    return [each for each in found.findings if each.code == case.rule.code]


def is_right(case: Case) -> bool:
    return case.kind == "same"


def judged(case: Case, original: list[Finding], files: Mapping[str, str], twin: Twin) -> Judged:
    """What the rule of a case says of a twin of one of its programs.

    Args:
        original: what it says of the program itself.
        files: the program itself.
    """
    found = findings(case, twin.files)
    if is_right(case):
        return _of_right(found, twin)
    wanted = {_repaired(each, files, None): each for each in original if each.fix is not None}
    got = {_repaired(each, twin.files, twin): each for each in found if each.fix is not None}
    claims = {each.claim for each in original}
    for text, each in got.items():
        if each.path == OTHER_FILE and each.claim in claims:
            continue  # the helper's file got a copy of the import that is wrong here
        if each.safety is Safety.SAFE and text not in wanted:
            return Judged("another", f"{each.code} repairs it in another way: {each.claim}")
        if each.safety is Safety.SAFE and wanted[text].safety is not Safety.SAFE:
            return Judged("another", f"{each.code} is surer of the repair than without the indirection")
    if len(found) < len(original):
        return Judged("silent")
    same = all(text in got and got[text].safety is each.safety for text, each in wanted.items())
    certain = _certain(found) >= _certain(original)
    if same and certain:
        return Judged("applied" if wanted else "equal")
    return Judged("more careful")


def _certain(found: list[Finding]) -> int:
    return sum(each.certainty is Certainty.CERTAIN for each in found)


def _of_right(found: list[Finding], twin: Twin) -> Judged:
    for each in found:
        if each.fix is not None and each.safety is Safety.SAFE:
            return Judged("told", f"{each.code} repairs what is right, and says that it is safe: {each.claim}")
        places = {(each.path, line) for line in range(each.reported.line, each.reported.end_line + 1)}
        places |= {(place.path, place.line) for place in each.evidence}
        if places.isdisjoint(twin.written):
            return Judged("told", f"{each.code} does not name the place that it does not see through: {each.message}")
    return Judged("told" if found else "quiet")


def _repaired(finding: Finding, files: Mapping[str, str], twin: Twin | None) -> str:
    """The program as one fix alone makes it, the transformation taken back, without layout."""
    assert finding.fix is not None
    parts = []
    changed = {
        path: splice(text, [edit for edit in finding.fix.edits if edit.path == path]) for path, text in files.items()
    }
    for path in sorted({*files} - {OTHER_FILE}):
        text = changed[path]
        if path.endswith(".py"):
            tree = ast.parse(text)
            if twin is not None and path == twin.path:
                tree = twin.undo(tree, changed.get(OTHER_FILE, ""))
            text = ast.unparse(tree)
        parts.append(f"{path}\n{text}")
    return "\n".join(parts)


# -- the law, all of it or a sample


@dataclass(frozen=True)
class Trial:
    """A case and one of its twins."""

    case: Case
    files: Mapping[str, str]
    twin: Twin


def programs(codes: Iterable[str] = ()) -> list[tuple[Case, dict[str, str]]]:
    """The Python programs of the fixtures; what a fix makes of one is right, too."""
    found: list[tuple[Case, dict[str, str]]] = []
    for case in cases():
        if codes and case.rule.code not in codes:
            continue
        if (files := texts(case.files)) is None or not any(path.endswith(".py") for path in files):
            continue
        if any("\r" in text for text in files.values()):
            continue  # positions in the tree would be others
        found.append((case, files))
        if case.kind == "before" and (after := texts(case.expected)) is not None:
            right = replace(case, kind="same", name=f"{case.name}/after")
            if not findings(right, after):
                found.append((right, after))
    return found


def trials(case: Case, files: Mapping[str, str], names: Iterable[str] = TRANSFORMATIONS) -> Iterator[Trial]:
    yield from (Trial(case, files, twin) for twin in twins(files, names))


def pairs(number: int, seed: int = 1) -> Iterator[Trial]:
    """Programs that two transformations were applied to, one behind the other."""
    chance = random.Random(seed)
    known = programs()
    made = 0
    while made < number:
        case, files = chance.choice(known)
        first = chance.choice([*TRANSFORMATIONS])
        once = [*twins(files, [first])]
        if not once:
            continue
        one = _named_otherwise(chance.choice(once))
        second = chance.choice([*TRANSFORMATIONS])
        twice = [each for each in twins({**one.files}, [second]) if each.path == one.path]
        if not twice:
            continue
        both = _joined(one, chance.choice(twice))
        if _comes_back(both, files[both.path]):
            made += 1
            yield Trial(case, files, both)


def _comes_back(twin: Twin, text: str) -> bool:
    """Whether taking a transformation back gives the program as it was: else repairs cannot be compared."""
    try:
        tree = twin.undo(ast.parse(twin.files[twin.path]), twin.files.get(OTHER_FILE, ""))
    except RecursionError:
        return False  # one hides what the other one needs
    return ast.unparse(tree) == ast.unparse(ast.parse(text))


_OURS = re.compile(r"\b_(h|H)idden")
_FIRST = re.compile(r"\b_(f|F)irst")


def _named_otherwise(twin: Twin) -> Twin:
    """The same program, with names in what hides that a second transformation does not use."""
    files = {
        path: _OURS.sub(lambda match: f"_{'f' if match[1] == 'h' else 'F'}irst", text)
        for path, text in twin.files.items()
    }

    def undo(tree: ast.Module, far: str) -> ast.Module:
        text, other = (
            _FIRST.sub(lambda match: f"_{'h' if match[1] == 'f' else 'H'}idden", each)
            for each in (ast.unparse(tree), far)
        )
        return twin.undo(ast.parse(text), other)

    return replace(twin, files=files, undo=undo)


def _joined(one: Twin, two: Twin) -> Twin:
    changed = _moved_lines(one, two)
    return replace(
        two,
        name=f"{one.name}+{two.name}",
        target=f"{one.target}, {two.target}",
        written=two.written | changed,
        undo=lambda tree, far: one.undo(two.undo(tree, far), far),
    )


def _moved_lines(one: Twin, two: Twin) -> frozenset[tuple[str, int]]:
    """The lines that the first transformation wrote, where they stand now."""
    import difflib

    moved: set[tuple[str, int]] = {place for place in one.written if place[0] != two.path}
    before, after = one.files[two.path].splitlines(), two.files[two.path].splitlines()
    wrote = {line for path, line in one.written if path == two.path}
    for tag, low, high, there, end in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag == "equal":
            moved |= {(two.path, there + n + 1) for n in range(high - low) if low + n + 1 in wrote}
        elif any(line in wrote for line in range(low + 1, high + 1)):
            moved |= {(two.path, line) for line in range(there + 1, end + 1)}
    return frozenset(moved)


Table = dict[str, dict[str, dict[str, int]]]


def counted(those: Iterable[tuple[Case, dict[str, str]]]) -> tuple[Table, list[str]]:
    """How often a rule says what after a transformation, and where that breaks the law."""
    table: dict[str, dict[str, Counter[str]]] = {}
    broken: list[str] = []
    for case, files in those:
        original = findings(case, files)
        row = table.setdefault(case.rule.code, {})
        for name in TRANSFORMATIONS:
            cell = row.setdefault(name, Counter())
            found = [*trials(case, files, [name])]
            if not found:
                cell["not applicable"] += 1
            for trial in found:
                said = judged(case, original, files, trial.twin)
                cell[said.outcome] += 1
                if said.wrong:
                    broken.append(f"{told(trial)}: {said.wrong}")
    return {
        code: {name: dict(sorted(cell.items())) for name, cell in row.items()} for code, row in table.items()
    }, broken


def told(trial: Trial) -> str:
    """Which program it is."""
    return f"{trial.case.rule.code}-{trial.case.name} {trial.case.kind} {trial.twin.name} `{trial.twin.target}`"


def silence(table: Table) -> float:
    """The share of the twins of wrong programs about which nothing is said."""
    total: Counter[str] = Counter()
    for row in table.values():
        for cell in row.values():
            total.update(cell)
    wrong = sum(total[each] for each in ("applied", "equal", "more careful", "silent", "another"))
    return total["silent"] / wrong if wrong else 0.0


def _of_rule(code: str) -> tuple[Table, list[str]]:
    return counted(programs([code]))


def _broken_pairs(number: int) -> list[str]:
    found = (
        (trial, judged(trial.case, findings(trial.case, trial.files), trial.files, trial.twin))
        for trial in pairs(number)
    )
    return [f"{told(trial)}: {said.wrong}" for trial, said in found if said.wrong]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.indirections", description="Count what rules say of twins.")
    parser.add_argument("codes", nargs="*", help="rules, whose rows of the table are written; by default all")
    parser.add_argument("--check", action="store_true", help="compare with the table instead")
    parser.add_argument("--show", nargs=2, metavar=("CODE-CASE", "TRANSFORMATION"), help="print the twins of a case")
    options = parser.parse_args()
    if options.show:
        return _show(*options.show)
    codes = options.codes
    table, broken = {}, []
    asked = sorted({case.rule.code for case in cases()} & set(codes or [case.rule.code for case in cases()]))
    with ProcessPoolExecutor(os.cpu_count()) as processes:
        drawn = processes.submit(_broken_pairs, 500) if not codes else None
        for rows, wrong in processes.map(_of_rule, asked):
            table.update(rows)
            broken += wrong
        broken += drawn.result() if drawn is not None else []
    for line in broken:
        print(line)
    sums: Counter[str] = Counter()
    for row in table.values():
        for cell in row.values():
            sums.update(cell)
    print(f"{dict(sums)}; silent: {silence(table):.1%} of wrong programs; {len(broken)} break the law")
    if options.check:
        return int(bool(broken) or any(worse(json.loads(TABLE.read_text()), table)))
    if not codes or not broken:
        kept = json.loads(TABLE.read_text()) if codes else {}
        TABLE.write_text(json.dumps(dict(sorted({**kept, **table}.items())), indent=1) + "\n")
    return int(bool(broken))


def worse(old: Table, new: Table) -> Iterator[str]:
    """Where a table is worse than an older one: fewer programs repaired, or a larger share of silence."""
    for code, row in new.items():
        for name, cell in row.items():
            before = old.get(code, {}).get(name, {})
            if cell.get("applied", 0) < before.get("applied", 0):
                yield f"{code} {name}: {cell.get('applied', 0)} applied, not {before['applied']}"
    if silence(new) > silence(old):
        yield f"silent: {silence(new):.1%}, not {silence(old):.1%}"


def _show(place: str, name: str) -> int:
    for case, files in programs([place.partition("-")[0]]):
        if f"{case.rule.code}-{case.name}" != place:
            continue
        original = findings(case, files)
        for trial in trials(case, files, [name]):
            said = judged(case, original, files, trial.twin)
            print(f"### {told(trial)}: {said.outcome} {said.wrong}")
            print(trial.twin.files[trial.twin.path])
            for each in findings(case, trial.twin.files):
                print(f"    {each.location}: {each.safety} {each.message}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
