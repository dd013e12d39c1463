"""One Python file as a rule sees it: its syntax tree, what names stand for, who calls whom, and the project."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from codemods.analysis.regions import SWITCHES, Block, Manager, in_force
from codemods.flow.control_flow import ControlFlow
from codemods.model.edits import Evidence, Lines, Need
from codemods.model.names import ACCELERATOR, FABRIC
from codemods.project.index import NONE, Index, Ref
from codemods.rules.file_context import FileContext
from codemods.syntax import imports
from codemods.syntax.facts import Facts
from codemods.syntax.module import FUNCTIONS, LOOPS, TRIES, Function, Module, Scope, dotted, own, parameters

N = TypeVar("N", bound=ast.AST)
_LONGEST = 40
"""Characters of code in a message."""


@dataclass(frozen=True, slots=True)
class Method:
    """The method that a node stands in (also from inside a nested function)."""

    node: Function
    klass: ast.ClassDef
    owner: Ref
    self: str
    """Name of the first parameter."""

    @property
    def name(self) -> str:
        return self.node.name


@dataclass(frozen=True, slots=True)
class Binding:
    """One assignment to a name: `value` is None where it is no plain expression (loop target, `as`, unpacking)."""

    value: ast.expr | None
    node: ast.AST
    conditional: bool


@dataclass(frozen=True, slots=True)
class Spelled:
    """Code that means a library object at one place, and the import it still needs (None: none)."""

    code: str
    need: Need | None


class PythonContext(FileContext):
    """One Python file, judged on `ast`. Other files are reached with `other`."""

    def __init__(
        self,
        path: str,
        text: str,
        module: Module,
        facts: Facts,
        index: Index,
        strategies: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(path, text, index, strategies)
        self.module, self.facts = module, facts
        self.others: dict[str, PythonContext | None] = {path: self}
        self.memo: dict[tuple[object, ...], Any] = {}
        """Answers about this file that take long to find; keys start with the function that asks."""
        self._origins: dict[str, frozenset[str]] = {}
        self._bindings: dict[ast.AST, dict[str, list[Binding]]] = {}
        self._methods: dict[Function, Method | None] = {}
        self._flows: dict[Scope, ControlFlow] = {}
        self._definitions: dict[str, list[ast.ClassDef | Function]] | None = None

    # -- position in the tree

    def parent(self, node: ast.AST) -> ast.AST | None:
        """The node directly around `node`."""
        return self.module.parent(node)

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around `node`, innermost first."""
        return self.module.ancestors(node)

    def enclosing(self, node: ast.AST, *types: type[N]) -> N | None:
        """The nearest node of these types around `node`."""
        return self.module.enclosing(node, *types)

    def all(self, *types: type[N]) -> list[N]:
        """Every node of exactly these types in the file."""
        return self.module.all(*types)

    def source(self, node: ast.stmt | ast.expr | ast.keyword | ast.arg) -> str:
        """The text of a node."""
        return self.module.source(node)

    def operand(self, node: ast.expr) -> str:
        """The text of an expression, in parentheses where it may need them beside an operator or a dot."""
        plain = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.List, ast.Tuple, ast.Dict)
        return self.source(node) if isinstance(node, plain) else f"({self.source(node)})"

    @cached_property
    def lines(self) -> Lines:
        """The lines of the file."""
        return Lines(self.text)

    @cached_property
    def _mark(self) -> str:
        return "'" if self.text.count("'") > self.text.count('"') else '"'

    def quoted(self, text: str) -> str:
        """A string literal with the quotes that the file prefers."""
        return f"{self._mark}{text}{self._mark}"

    def annotates(self, node: ast.AST) -> bool:
        """Whether a node stands in an annotation: of a parameter, of a variable, of what a function returns."""
        below = node
        for above in self.ancestors(node):
            match above:
                case ast.arg():
                    return True
                case ast.AnnAssign(annotation=written) if written is below:
                    return True
                case ast.FunctionDef(returns=written) | ast.AsyncFunctionDef(returns=written) if written is below:
                    return True
                case ast.stmt():
                    return False
            below = above
        return False

    def written(self, node: ast.stmt | ast.expr) -> str:
        """The text of a node on one line, shortened for a message."""
        text = " ".join(self.source(node).split())
        return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "…"

    def statement(self, node: ast.AST) -> ast.stmt | None:
        """The statement that `node` belongs to: a simple one, or the compound one whose header it stands in."""
        return self.module.statement(node)

    def scope(self, node: ast.AST) -> Scope:
        """The function, lambda, class or module whose body runs `node`."""
        return self.module.scope(node)

    def function(self, node: ast.AST) -> Function | None:
        """The nearest function around `node`."""
        return next((a for a in self.ancestors(node) if isinstance(a, FUNCTIONS)), None)

    def scope_name(self, node: ast.AST) -> str:
        """Qualified name of the scope around `node` ("" is the module): `Net.forward.helper`."""
        names = [a.name for a in self.ancestors(node) if isinstance(a, (ast.ClassDef, *FUNCTIONS))]
        return ".".join(reversed(names))

    def qualified(self, node: Function | ast.ClassDef) -> str:
        """Qualified name of a function or class: `Net.forward`."""
        around = self.scope_name(node)
        return f"{around}.{node.name}" if around else node.name

    def klass(self, node: ast.AST) -> Ref | None:
        """The class whose body (at any depth) holds `node`."""
        found = self.enclosing(node, ast.ClassDef)
        return self.ref(found) if found is not None else None

    def ref(self, klass: ast.ClassDef) -> Ref:
        """The index's handle of a class of this file."""
        return Ref(self.path, self.qualified(klass))

    def method(self, node: ast.AST) -> Method | None:
        """The method around `node`, through nested functions; None in static methods and where `self` is rebound."""
        below = node
        for above in (node, *self.ancestors(node)):
            if isinstance(above, FUNCTIONS) and (above is node or isinstance(below, ast.stmt)):
                if above not in self._methods:
                    self._methods[above] = self._method(above)
                return self._methods[above]
            if isinstance(above, ast.ClassDef):
                return None
            below = above
        return None

    def _method(self, nested: Function) -> Method | None:
        """The method that a function is, or that is around it."""
        inner = [nested]
        for above in self.ancestors(nested):
            if isinstance(above, FUNCTIONS):
                inner.append(above)
            elif isinstance(above, ast.ClassDef):
                function = inner[-1]
                given = [*function.args.posonlyargs, *function.args.args]
                if not given or "staticmethod" in map(dotted, function.decorator_list) or function.name == "__new__":
                    return None
                name = given[0].arg
                if any(name in self.parameter_names(each) for each in inner[:-1]):
                    return None
                return None if name in self.bindings(function) else Method(function, above, self.ref(above), name)
        return None

    def regions(self, node: ast.AST, *, nested: bool = False) -> list[Manager]:
        """The context managers in force at `node` in its function, outermost first: `with`, decorators, switches.

        Args:
            nested: those around the functions and classes that hold the node, too.
        """
        return in_force(self.module, node, self._switches, nested=nested)

    @cached_property
    def _switches(self) -> dict[Block, list[ast.Expr]]:
        """The statements that switch a mode for what follows in their block."""
        found: dict[Block, list[ast.Expr]] = {}
        for each in self.all(ast.Expr):
            if self.calls(each.value, SWITCHES):
                found.setdefault(self.module.block(each), []).append(each)
        return found

    # -- names and what they mean

    def name(self, node: ast.AST | None) -> str | None:
        """`a.b.c` for a name or a chain of attributes on one, else None."""
        return dotted(node)

    def parameter_names(self, function: Function | ast.Lambda) -> set[str]:
        """The names of all parameters."""
        return {each.arg for each in parameters(function)}

    def origin(self, node: ast.AST | None) -> frozenset[str]:
        """What an expression may name: canonical names of library objects, `path.py:Name` for the project's own.

        Several where imports differ by branch (`try`/`except ImportError`); empty where it cannot be told.
        """
        name = dotted(node)
        if name is None or node is None:
            return NONE
        if name not in self._origins:
            self._origins[name] = self.index.resolve(self.path, name)
        return self._origins[name] or self._imported(name, node)

    def _imported(self, name: str, node: ast.AST) -> frozenset[str]:
        """What an imported name means that functions of the file bind as well, where `node` stands outside of these."""
        head = name.partition(".")[0]
        first = self.scope(node) if self.parent(node) is not None else None
        if first is None or not self.facts.rebound.get(head) or next(self.facts.named(head), None) is None:
            return NONE
        key = (PythonContext.origin, name, first)
        if key not in self.memo:
            declared = any(head in each.names for each in self.all(ast.Global))
            hidden = declared or self._binds(head, first)
            self.memo[key] = NONE if hidden else self.index.imported(self.path, name)
        found: frozenset[str] = self.memo[key]
        return found

    def _binds(self, name: str, first: Scope) -> bool:
        """Whether a scope, or one around it that it sees, binds a name in another way than by an import."""
        scope = first
        while True:
            if isinstance(scope, (ast.Lambda, *FUNCTIONS)) and name in self.parameter_names(scope):
                return True
            if (scope is first or not isinstance(scope, ast.ClassDef)) and name in self.bindings(scope):
                return True
            if isinstance(scope, ast.Module):
                return False
            scope = self.scope(scope)

    def means(self, node: ast.AST | None, *names: str | frozenset[str]) -> bool:
        """Whether an expression surely names one of these library objects."""
        wanted = frozenset().union(*(frozenset({n}) if isinstance(n, str) else n for n in names))
        found = self.origin(node)
        return bool(found) and found <= wanted

    def calls(self, node: ast.AST | None, *names: str | frozenset[str]) -> bool:
        """Whether `node` is a call of one of these library objects."""
        return isinstance(node, ast.Call) and self.means(node.func, *names)

    def bindings(self, scope: ast.AST) -> Mapping[str, Sequence[Binding]]:
        """What a function (parameters left out), class or module assigns, by dotted target: `loss`, `self.scaler`."""
        if scope not in self._bindings:
            found: dict[str, list[Binding]] = {}
            for node in own(scope):
                for target, value in _targets(node):
                    name = target if isinstance(target, str) else dotted(target)
                    if name is not None:
                        found.setdefault(name, []).append(Binding(value, node, self._conditional(node, scope)))
            self._bindings[scope] = found
        return self._bindings[scope]

    def _conditional(self, node: ast.AST, scope: ast.AST) -> bool:
        branching = (ast.If, *LOOPS, *TRIES, ast.Match, ast.IfExp)
        for above in self.ancestors(node):
            if above is scope:
                return False
            if isinstance(above, branching):
                return True
        return False

    def assigned(self, node: ast.AST, at: ast.AST | None = None) -> list[Binding] | None:
        """Every assignment that may give a plain name its value, in the innermost scope that binds it.

        None where it is a parameter, or bound nowhere in sight; for `self.x`, use `kind` or the index.
        """
        name = dotted(node)
        first = scope = self.scope(at or node)
        while name:
            if isinstance(scope, (ast.Lambda, *FUNCTIONS)) and name in self.parameter_names(scope):
                return None
            seen = scope is first or not isinstance(scope, ast.ClassDef)
            if seen and (found := self.bindings(scope).get(name)):
                return list(found)
            if isinstance(scope, ast.Module):
                return None
            scope = self.scope(scope)
        return None

    # -- order

    def flow_of(self, scope: Scope) -> ControlFlow:
        """The control-flow graph of a function, lambda, class or module."""
        if scope not in self._flows:
            self._flows[scope] = ControlFlow(scope)
        return self._flows[scope]

    # -- new code

    def spell(self, dotted: str, at: ast.AST) -> Spelled | None:
        """How to write a library object at `at`: by the imports in force there, else with an import it needs.

        None where its name is taken by something else.
        """
        top = next((a for a in (at, *self.ancestors(at)) if self.parent(a) is self.module.tree), None)
        line = top.lineno if isinstance(top, ast.stmt) else 1
        found = imports.spelling(self.facts, dotted, self.scope_name(at), line)
        return Spelled(*found) if found is not None else None

    # -- evidence, calls and other files

    def evidence(self, node: ast.expr | ast.stmt, why: str) -> Evidence:
        """The line of this file that a node begins on, as what shows a claim: `why` says what stands there."""
        return Evidence(self.path, node.lineno, why)

    def other(self, path: str) -> PythonContext | None:
        """Another file of the project; None where it cannot be read."""
        if path not in self.others:
            self.others[path] = found = program(self.index, path, self.strategies)
            if found is not None:
                found.others = self.others
        return self.others[path]

    def forget(self) -> None:
        """Let go of what was found about this file and those reached from it, which refer to each other."""
        for context in self.others.values():
            if context is not None:
                context.memo.clear()
        self.others.clear()

    def callee(self, call: ast.Call) -> tuple[PythonContext, Function] | None:
        """The project's function or method that a call surely runs: `self.helper()`, `helper()`, `module.helper()`."""
        name = dotted(call.func)
        if name is None:
            return None
        method = self.method(call)
        if method and name.startswith(method.self + ".") and name.count(".") == 1:
            attribute = name.partition(".")[2]
            if next(self.index.assigned(method.owner, attribute), None) is not None:
                return None
            return self.method_of(method.owner, attribute)
        local = self.scope(call)
        while not isinstance(local, ast.Module):
            if isinstance(local, FUNCTIONS) and (given := self.bindings(local).get(name)):
                inner = given[0].node
                return (self, inner) if len(given) == 1 and isinstance(inner, FUNCTIONS) else None
            local = self.scope(local)
        origins = self.origin(call.func)
        return self.function_at(next(iter(origins))) if len(origins) == 1 else None

    def method_of(self, owner: Ref, name: str) -> tuple[PythonContext, Function] | None:
        """The method of a class of the project, its own or inherited; None where no class in sight defines it."""
        place = self.index.method(owner, name)
        program = self.other(place.path) if place else None
        return program.definition(f"{place.name}.{name}") if program and place else None

    def function_at(self, origin: str) -> tuple[PythonContext, Function] | None:
        """The one function of the project with a canonical name, `path:name`."""
        path, inside, qualified = origin.partition(":")
        program = self.other(path) if inside else None
        return program.definition(qualified) if program else None

    def definition(self, qualified: str) -> tuple[PythonContext, Function] | None:
        """The one function of this file with a qualified name."""
        functions = [node for node in self.definitions(qualified) if isinstance(node, FUNCTIONS)]
        return (self, functions[0]) if len(functions) == 1 else None

    def classes(self, qualified: str) -> list[ast.ClassDef]:
        """The classes of this file with a qualified name; more than one where it is defined by condition."""
        return [node for node in self.definitions(qualified) if isinstance(node, ast.ClassDef)]

    def definitions(self, qualified: str) -> list[ast.ClassDef | Function]:
        """The classes and functions of this file with a qualified name; several where it is defined by condition."""
        if self._definitions is None:
            self._definitions = {}
            for node in self.all(ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef):
                assert isinstance(node, (ast.ClassDef, *FUNCTIONS))
                self._definitions.setdefault(self.qualified(node), []).append(node)
        return self._definitions.get(qualified, [])

    # -- roles

    def loss_of(self, call: ast.AST) -> ast.expr | None:
        """What a call differentiates, whichever way it is written.

        `x.backward()`, `torch.autograd.backward(x)`, `self.manual_backward(x)`, `fabric.backward(x)`,
        `accelerator.backward(x)`, `scaler.scale(x).backward()`. None where the call differentiates nothing.
        """
        if not isinstance(call, ast.Call):
            return None
        first = call.args[0] if call.args and not isinstance(call.args[0], ast.Starred) else None
        if self.means(call.func, "torch.autograd.backward"):
            return first
        if not isinstance(call.func, ast.Attribute):
            return None
        receiver, attribute = call.func.value, call.func.attr
        if attribute == "manual_backward":
            return first
        if attribute != "backward" or (isinstance(receiver, ast.Call) and dotted(receiver.func) == "super"):
            return None
        if (
            isinstance(receiver, ast.Call)
            and isinstance(receiver.func, ast.Attribute)
            and receiver.func.attr == "scale"
        ):
            given = [*receiver.args, *(k.value for k in receiver.keywords)]
            if len(given) == 1 and not isinstance(given[0], ast.Starred) and all(k.arg for k in receiver.keywords):
                return given[0]
        if first is not None and self.owns_backward(receiver):
            return first
        method = self.method(call)
        if method and dotted(receiver) == method.self:
            return None
        return receiver

    def owns_backward(self, receiver: ast.expr) -> bool:
        """Whether `receiver.backward(loss)` is a Fabric, Accelerator, engine or strategy call (by kind, else name)."""
        if self.is_a(receiver, FABRIC | ACCELERATOR):
            return True
        last = (dotted(receiver) or "").rpartition(".")[2].lower()
        return last.endswith(("fabric", "accelerator", "engine", "strategy", "deepspeed", "accel", "model"))

    def is_a(self, node: ast.expr, names: frozenset[str]) -> bool:
        """Whether an expression's value is surely an instance of one of these library classes."""
        from codemods.analysis import instances

        kind = instances.of(self, node)
        return kind is not None and kind.names <= names


def program(index: Index, path: str, strategies: Mapping[str, str] | None = None) -> PythonContext | None:
    """A Python file of a project; None where it cannot be read."""
    facts, module = index.facts(path), index.syntax(path)
    if facts is None or module is None:
        return None
    return PythonContext(path, module.text, module, facts, index, strategies)


def _targets(node: ast.AST) -> Iterator[tuple[ast.AST | str, ast.expr | None]]:
    """The targets that a node binds, each with its value where that is one expression."""
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from _unpacked(target, value)
        case ast.AnnAssign(target=target, value=value) if value is not None:
            yield target, value
        case ast.AugAssign(target=target):
            yield target, None
        case ast.NamedExpr(target=target, value=value):
            yield target, value
        case ast.For(target=target) | ast.AsyncFor(target=target) | ast.comprehension(target=target):
            yield from _unpacked(target, None)
        case ast.withitem(optional_vars=target) if target is not None:
            yield from _unpacked(target, None)
        case ast.ExceptHandler(name=name) if name is not None:
            yield name, None
        case ast.Delete(targets=targets):
            for target in targets:
                yield from _unpacked(target, None)
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name, None
        case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name, None


def _unpacked(target: ast.AST, value: ast.expr | None) -> Iterator[tuple[ast.AST, ast.expr | None]]:
    if not isinstance(target, (ast.Tuple, ast.List)):
        yield target, value
        return
    values: list[ast.expr | None] = [None] * len(target.elts)
    if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(values):
        if not any(isinstance(e, ast.Starred) for e in (*value.elts, *target.elts)):
            values = list(value.elts)
    for element, each in zip(target.elts, values, strict=True):
        yield from _unpacked(element.value if isinstance(element, ast.Starred) else element, each)
