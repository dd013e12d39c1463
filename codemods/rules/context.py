"""What a check may ask about the Python it looks at, and about the project around it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

import libcst as cst

from codemods.model.edits import Evidence, Lines, Need, Skip
from codemods.model.names import ACCELERATOR, FABRIC
from codemods.project.index import NONE, Index, Ref
from codemods.rules import kinds
from codemods.rules.file_context import FileContext
from codemods.rules.kinds import Kind
from codemods.syntax import flow, imports
from codemods.syntax.facts import Facts
from codemods.syntax.lazy_parse import Deferred, outside, parents
from codemods.syntax.tree import children, parameter_names, spans

N = TypeVar("N", bound=cst.CSTNode)
_ByType = dict[type[cst.CSTNode], list[cst.CSTNode]]


@dataclass(frozen=True, slots=True)
class Method:
    """The method that a node stands in (also from inside a nested function)."""

    node: cst.FunctionDef
    klass: cst.ClassDef
    owner: Ref
    self: str
    """Name of the first parameter."""

    @property
    def name(self) -> str:
        return self.node.name.value


@dataclass(frozen=True, slots=True)
class Binding:
    """One assignment to a name: `value` is None where it is no plain expression (loop target, `as`, unpacking)."""

    value: cst.BaseExpression | None
    node: cst.CSTNode
    conditional: bool


@dataclass(frozen=True, slots=True)
class Spelled:
    """An expression that means a library object at one place, and the import it still needs (None: none)."""

    node: cst.BaseExpression
    need: Need | None


class Context(FileContext):
    """One Python file, or notebook, as a check sees it. Trees of other files are reached with `other`."""

    def __init__(
        self,
        path: str,
        text: str,
        module: cst.Module,
        facts: Facts,
        index: Index,
        strategies: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(path, text, index, strategies)
        self.module, self.facts = module, facts
        self.parents = parents(module)
        self.others: dict[str, Context | None] = {path: self}
        self.memo: dict[tuple[object, ...], Any] = {}
        """Answers about this file that are dear to find; keys start with the function that asks."""
        self._origins: dict[str, frozenset[str]] = {}
        self._bindings: dict[cst.CSTNode, dict[str, list[Binding]]] = {}
        self._pieces: dict[cst.CSTNode, Sequence[_ByType | Deferred]] = {}
        self._names: dict[cst.CSTNode, str] = {}

    # -- position in the tree

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        return self.parents.get(node)

    def ancestors(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """The nodes around `node`, innermost first."""
        return flow.ancestors(self.parents, node)

    def enclosing(self, node: cst.CSTNode, *types: type[N]) -> N | None:
        """The nearest node of these types around `node`."""
        return next((a for a in self.ancestors(node) if isinstance(a, types)), None)

    def all(self, kind: type[N], *texts: str | re.Pattern[str]) -> list[N]:
        """Every node of exactly this type in the file, in source order.

        Args:
            texts: one of them stands (or matches) in each class and function where such a node is looked for; others
                need not be parsed.
        """
        found: list[N] = []
        waiting = list(reversed(self._stretches(self.module)))
        while waiting:
            stretch = waiting.pop()
            if not isinstance(stretch, Deferred):
                found += stretch.get(kind, ())  # type: ignore[arg-type]
            elif not texts or any(_stands(text, stretch.definition) for text in texts):
                waiting += reversed(self._stretches(stretch))
        return found

    def named_calls(self, *names: str) -> list[cst.Call]:
        """The calls of functions, methods and classes with one of these last names: `name(…)`, `x.name(…)`."""
        called = self.all(cst.Call, *map(_called, names))
        return [call for call in called if (self.name(call.func) or "").rpartition(".")[2] in names]

    def says(self, function: cst.FunctionDef, text: str) -> bool:
        """Whether a text stands in a function, decorators included, as far as that can be told without parsing it."""
        body = function.body
        return not isinstance(body, Deferred) or body.opened or text in body.definition

    def spellings(self, *names: str) -> tuple[str, ...]:
        """Texts of which one stands wherever this file names one of these library objects."""
        last = {name.rpartition(".")[2] for name in names}
        renamed = {i.name for i in self.facts.imports if i.target.rpartition(".")[2] in last}
        for name, given in self.facts.assignments.items():
            if any((a.value.dotted or "").rpartition(".")[2] in last for a in given):
                renamed.add(name)
        return tuple(last | renamed)

    def _stretches(self, root: cst.Module | Deferred) -> Sequence[_ByType | Deferred]:
        """A file or body in pieces: nodes by type, and the bodies in it that may not be parsed yet."""
        if root not in self._pieces:
            found: list[_ByType | Deferred] = []
            nodes: list[cst.CSTNode] = []
            for node in outside(*children(root)):
                if type(node) is Deferred:
                    found += _by_type(nodes), node
                    nodes = []
                else:
                    nodes.append(node)
            self._pieces[root] = [*found, _by_type(nodes)]
        return self._pieces[root]

    def statement(self, node: cst.CSTNode) -> cst.BaseSmallStatement | cst.BaseCompoundStatement | None:
        """The statement that `node` belongs to: a small one, or the compound one whose header it stands in."""
        for each in (node, *self.ancestors(node)):
            if isinstance(each, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
                return each
        return None

    def scope(self, node: cst.CSTNode) -> cst.CSTNode:
        """The function, lambda, class or module whose body runs `node`."""
        return flow.scope(self.parents, node)

    def function(self, node: cst.CSTNode) -> cst.FunctionDef | None:
        """The nearest function around `node`."""
        return self.enclosing(node, cst.FunctionDef)

    def scope_name(self, node: cst.CSTNode) -> str:
        """Qualified name of the scope around `node` ("" is the module): `Net.forward.helper`."""
        names = [a.name.value for a in self.ancestors(node) if isinstance(a, (cst.FunctionDef, cst.ClassDef))]
        return ".".join(reversed(names))

    def klass(self, node: cst.CSTNode) -> Ref | None:
        """The class whose body (at any depth) holds `node`."""
        found = self.enclosing(node, cst.ClassDef)
        return self.ref(found) if found is not None else None

    def ref(self, klass: cst.ClassDef) -> Ref:
        """The index's handle of a class of this file."""
        around = self.scope_name(klass)
        return Ref(self.path, f"{around}.{klass.name.value}" if around else klass.name.value)

    def method(self, node: cst.CSTNode) -> Method | None:
        """The method around `node`, through nested functions; None in static methods and where `self` is rebound."""
        inner: list[cst.FunctionDef] = []
        below = node
        for above in (node, *self.ancestors(node)):
            if isinstance(above, cst.FunctionDef) and (above is node or below is above.body):
                inner.append(above)
            elif isinstance(above, cst.ClassDef):
                if not inner:
                    return None
                function = inner[-1]
                decorated = {self.name(d.decorator) for d in function.decorators}
                params = [*function.params.posonly_params, *function.params.params]
                if not params or "staticmethod" in decorated or function.name.value == "__new__":
                    return None
                name = params[0].name.value
                for nested in inner[:-1]:
                    if name in parameter_names(nested):
                        return None
                if name in self.bindings(function):
                    return None
                return Method(function, above, self.ref(above), name)
            below = above
        return None

    # -- names and what they mean

    def name(self, node: cst.CSTNode | None) -> str | None:
        """`a.b.c` for a name or a chain of attributes on one, else None."""
        parts: list[str] = []
        while isinstance(node, cst.Attribute):
            parts.append(node.attr.value)
            node = node.value
        return ".".join([node.value, *reversed(parts)]) if isinstance(node, cst.Name) else None

    def origin(self, node: cst.CSTNode | None) -> frozenset[str]:
        """What an expression may name: canonical names of library objects, `path.py:Name` for the project's own.

        Several where imports differ by branch (`try`/`except ImportError`); empty where it cannot be told.
        """
        name = self.name(node)
        if name is None:
            return NONE
        if name not in self._origins:
            self._origins[name] = self.index.resolve(self.path, name)
        return self._origins[name]

    def means(self, node: cst.CSTNode | None, *names: str | frozenset[str]) -> bool:
        """Whether an expression surely names one of these library objects."""
        wanted = frozenset().union(*(frozenset({n}) if isinstance(n, str) else n for n in names))
        found = self.origin(node)
        return bool(found) and found <= wanted

    def calls(self, node: cst.CSTNode | None, *names: str | frozenset[str]) -> bool:
        """Whether `node` is a call of one of these library objects."""
        return isinstance(node, cst.Call) and self.means(node.func, *names)

    def bindings(self, scope: cst.CSTNode) -> Mapping[str, Sequence[Binding]]:
        """What a function (parameters left out), class or module assigns, by dotted target: `loss`, `self.scaler`."""
        if scope not in self._bindings:
            found: dict[str, list[Binding]] = {}
            body = scope.body if isinstance(scope, (cst.FunctionDef, cst.ClassDef, cst.Lambda)) else scope
            for node in flow.own(body):
                for target, value in _targets(node):
                    if (name := self.name(target)) is not None:
                        found.setdefault(name, []).append(Binding(value, node, self._conditional(node, scope)))
            self._bindings[scope] = found
        return self._bindings[scope]

    def _conditional(self, node: cst.CSTNode, scope: cst.CSTNode) -> bool:
        for above in self.ancestors(node):
            if above is scope:
                return False
            if isinstance(above, (cst.If, cst.For, cst.While, cst.Try, cst.TryStar, cst.Match, cst.IfExp)):
                return True
        return False

    def assigned(self, node: cst.CSTNode, at: cst.CSTNode | None = None) -> list[Binding] | None:
        """Every assignment that may give a plain name its value, in the innermost scope that binds it.

        None where it is a parameter, or bound nowhere in sight; for `self.x`, use `kind` or the index.
        """
        name = self.name(node)
        first = scope = self.scope(at or node)
        while name:
            if isinstance(scope, (cst.FunctionDef, cst.Lambda)) and name in parameter_names(scope):
                return None
            seen = scope is first or not isinstance(scope, cst.ClassDef)
            if seen and (found := self.bindings(scope).get(name)):
                return list(found)
            if isinstance(scope, cst.Module):
                return None
            scope = self.scope(scope)
        return None

    def kind(self, node: cst.CSTNode) -> Kind | None:
        """What an expression's value is an instance of, by constructor, annotation or protocol. None: unknown."""
        return kinds.of(self, node)

    def is_a(self, node: cst.CSTNode, names: frozenset[str]) -> bool:
        """Whether an expression's value is surely an instance of one of these library classes."""
        kind = self.kind(node)
        return kind is not None and kind.names <= names

    # -- roles

    def loss_of(self, call: cst.CSTNode) -> cst.BaseExpression | None:
        """What a call differentiates, whichever way it is written.

        `x.backward()`, `torch.autograd.backward(x)`, `self.manual_backward(x)`, `fabric.backward(x)`,
        `accelerator.backward(x)`, `scaler.scale(x).backward()`. None where the call differentiates nothing.
        """
        if not isinstance(call, cst.Call):
            return None
        first = call.args[0].value if call.args and not call.args[0].star and call.args[0].keyword is None else None
        if self.means(call.func, "torch.autograd.backward"):
            return first
        if not isinstance(call.func, cst.Attribute):
            return None
        receiver, attribute = call.func.value, call.func.attr.value
        if attribute == "manual_backward":
            return first
        if attribute != "backward" or (isinstance(receiver, cst.Call) and self.name(receiver.func) == "super"):
            return None
        if isinstance(receiver, cst.Call) and isinstance(receiver.func, cst.Attribute):
            scaled = receiver.func.attr.value == "scale" and len(receiver.args) == 1
            if scaled and not receiver.args[0].star:
                return receiver.args[0].value
        if first is not None and self.owns_backward(receiver):
            return first
        method = self.method(call)
        if method and self.name(receiver) == method.self:
            return None
        return receiver

    def owns_backward(self, receiver: cst.BaseExpression) -> bool:
        """Whether `receiver.backward(loss)` is a Fabric, Accelerator, engine or strategy call (by kind, else name)."""
        if self.is_a(receiver, FABRIC | ACCELERATOR):
            return True
        last = (self.name(receiver) or "").rpartition(".")[2].lower()
        return last.endswith(("fabric", "accelerator", "engine", "strategy", "deepspeed", "accel", "model"))

    # -- new code

    def spell(self, dotted: str, at: cst.CSTNode) -> Spelled | None:
        """How to write a library object at `at`: by the imports in force there, else with an import it needs.

        None where its name is taken by something else.
        """
        found = imports.spelling(self.facts, dotted, self.scope_name(at), self._line(at))
        return Spelled(cst.parse_expression(found[0]), found[1]) if found is not None else None

    def _line(self, node: cst.CSTNode) -> int:
        """The line on which the statement of the module that holds a node begins."""
        if ("lines",) not in self.memo:
            where = spans(self.path, self.text, self.module, self.module.body)
            self.memo["lines",] = {each: self.text.count("\n", 0, where[each].inner_start) + 1 for each in where}
        while node not in self.memo["lines",] and (above := self.parent(node)) is not None:
            node = above
        return int(self.memo["lines",].get(node, 1))

    def evidence(self, node: cst.CSTNode, why: str) -> Evidence:
        """The line of this file that a node begins on, as what shows a claim: `why` says what stands there."""
        start = spans(self.path, self.text, self.module, [node])[node].inner_start
        return Evidence(self.path, Lines(self.text).position(start)[0], why)

    # -- calls and other files

    def other(self, path: str) -> Context | None:
        """Another file of the project, parsed; None where it cannot be."""
        if path == self.path:
            return self
        if path not in self.others:
            facts, text = self.index.facts(path), self.index.text(path)
            tree = self.index.trees.get(path, text, facts) if facts is not None and text is not None else None
            if tree is None or isinstance(tree, Skip) or facts is None or text is None:
                self.others[path] = None
            else:
                context = Context(path, text, tree, facts, self.index, self.strategies)
                context.others = self.others
                self.others[path] = context
        return self.others[path]

    def callee(self, call: cst.Call) -> tuple[Context, cst.FunctionDef] | None:
        """The project's function or method that a call surely runs: `self.helper()`, `helper()`, `module.helper()`."""
        name = self.name(call.func)
        if name is None:
            return None
        method = self.method(call)
        if method and name.startswith(method.self + ".") and name.count(".") == 1:
            attribute = name.partition(".")[2]
            if next(self.index.assigned(method.owner, attribute), None) is not None:
                return None
            owner = self.index.method(method.owner, attribute)
            context = self.other(owner.path) if owner else None
            return context.definition(f"{owner.name}.{attribute}") if context and owner else None
        local = self.scope(call)
        while not isinstance(local, cst.Module):
            if isinstance(local, cst.FunctionDef) and (given := self.bindings(local).get(name)):
                inner = given[0].node
                return (self, inner) if len(given) == 1 and isinstance(inner, cst.FunctionDef) else None
            local = self.scope(local)
        origins = self.origin(call.func)
        if len(origins) != 1 or ":" not in (origin := next(iter(origins))):
            return None
        path, qualified = origin.split(":", 1)
        context = self.other(path)
        return context.definition(qualified) if context else None

    def definition(self, qualified: str) -> tuple[Context, cst.FunctionDef] | None:
        """The one function of this file with a qualified name."""
        functions = [node for node in self.definitions(qualified) if isinstance(node, cst.FunctionDef)]
        return (self, functions[0]) if len(functions) == 1 else None

    def classes(self, qualified: str) -> list[cst.ClassDef]:
        """The classes of this file with a qualified name; more than one where it is defined by condition."""
        return [node for node in self.definitions(qualified) if isinstance(node, cst.ClassDef)]

    def definitions(self, qualified: str) -> list[cst.ClassDef | cst.FunctionDef]:
        """The classes and functions of this file with a qualified name."""
        found: list[cst.ClassDef | cst.FunctionDef] = []
        waiting: list[cst.Module | Deferred] = [self.module]
        around = [qualified[:at] for at, letter in enumerate(qualified) if letter == "."]
        while waiting:
            named = self._named(waiting.pop())
            found += named.get(qualified, ())
            waiting += (n.body for name in around for n in named.get(name, ()) if isinstance(n.body, Deferred))
        return found

    def _named(self, root: cst.Module | Deferred) -> Mapping[str, Sequence[cst.ClassDef | cst.FunctionDef]]:
        """The classes and functions of a file or body by qualified name, those in bodies left for later apart."""
        if ("named", root) not in self.memo:
            found: dict[str, list[cst.ClassDef | cst.FunctionDef]] = {}
            for stretch in self._stretches(root):
                if not isinstance(stretch, Deferred):
                    for node in (*stretch.get(cst.ClassDef, ()), *stretch.get(cst.FunctionDef, ())):
                        assert isinstance(node, (cst.ClassDef, cst.FunctionDef))
                        found.setdefault(self.qualified(node), []).append(node)
            self.memo["named", root] = found
        named: dict[str, list[cst.ClassDef | cst.FunctionDef]] = self.memo["named", root]
        return named

    def qualified(self, node: cst.FunctionDef | cst.ClassDef) -> str:
        around = self.scope_name(node)
        return f"{around}.{node.name.value}" if around else node.name.value

    def callers(self, function: cst.FunctionDef) -> list[cst.Call]:
        """The calls in this file that surely run `function`."""
        targets = ((call, self.callee(call)) for call in self.named_calls(function.name.value))
        return [call for call, target in targets if target is not None and target[1] is function]


def _stands(text: str | re.Pattern[str], code: str) -> bool:
    return text in code if isinstance(text, str) else text.search(code) is not None


@cache
def _called(name: str) -> re.Pattern[str]:
    """Matches wherever something of this name is called. It begins with the name itself: so `re` finds it fast."""
    return re.compile(rf"{name}(?<!\w{name})(?<!def {name})(?<!class {name})(?:[\s)\\]|#[^\n]*\n)*\(")


def _by_type(nodes: Iterable[cst.CSTNode]) -> _ByType:
    found: _ByType = {}
    for node in nodes:
        found.setdefault(type(node), []).append(node)
    return found


def _targets(node: cst.CSTNode) -> Iterator[tuple[cst.CSTNode, cst.BaseExpression | None]]:
    """The targets that a node binds, each with its value where that is one expression."""
    match node:
        case cst.Assign(targets=targets, value=value):
            for target in targets:
                yield from _unpacked(target.target, value)
        case cst.AnnAssign(target=target, value=value) if value is not None:
            yield target, value
        case cst.AugAssign(target=target):
            yield target, None
        case cst.NamedExpr(target=target, value=value):
            yield target, value
        case cst.For(target=target) | cst.CompFor(target=target):
            yield from _unpacked(target, None)
        case cst.AsName(name=name):
            yield from _unpacked(name, None)
        case cst.Del(target=target):
            yield from _unpacked(target, None)
        case cst.FunctionDef(name=name) | cst.ClassDef(name=name):
            yield name, None
        case cst.MatchAs(name=cst.Name() as name) | cst.MatchStar(name=cst.Name() as name):
            yield name, None


def _unpacked(
    target: cst.CSTNode, value: cst.BaseExpression | None
) -> Iterator[tuple[cst.CSTNode, cst.BaseExpression | None]]:
    if not isinstance(target, (cst.Tuple, cst.List)):
        yield target, value
        return
    values: list[Any] = [None] * len(target.elements)
    if isinstance(value, (cst.Tuple, cst.List)) and len(value.elements) == len(values):
        if not any(isinstance(e, cst.StarredElement) for e in (*value.elements, *target.elements)):
            values = [e.value for e in value.elements]
    for element, each in zip(target.elements, values, strict=True):
        yield from _unpacked(element.value, each)
