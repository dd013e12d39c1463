"""What an expression may call: functions, lambdas and modules of the project, followed to where they are made.

Only what is sure counts. Everything else raises `Unseen` with the reason. What a parameter or an attribute holds
depends here on the one call, and the one object, that is followed (`frames.py`); `values.py` tells neither apart.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.calls import default
from codemods.analysis.python_context import PythonContext
from codemods.analysis.values import looped
from codemods.frameworks.checkpointing.attributes import attribute
from codemods.frameworks.checkpointing.containers import appended, contents, grown
from codemods.frameworks.checkpointing.frames import (
    Bound,
    Callee,
    Frame,
    Instance,
    Library,
    Part,
    Unseen,
    bind,
    is_method,
)
from codemods.project.index import Lineage, Ref
from codemods.syntax.module import FUNCTIONS, Function, is_none, own

MOST_STEPS = 40_000
"""Nodes looked at for one checkpointed call; what needs more is not in sight."""

ACTIVATIONS = frozenset({"transformers.ACT2FN", "transformers.activations.ACT2FN"})

Held = tuple["ast.expr | Function", Frame]


class Tracer:
    """Follows expressions to what calling them runs, within a budget of steps."""

    def __init__(self, root: PythonContext) -> None:
        self.root, self.index, self.steps = root, root.index, 0
        self._lineages: dict[Ref, Lineage] = {}
        self._descendants: dict[Ref, tuple[Ref, ...]] = {}

    def step(self) -> None:
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise Unseen("too much code runs inside it")

    def open(self, path: str) -> PythonContext:
        context = self.root.other(path)
        if context is None:
            raise Unseen(f"`{path}` cannot be read")
        return context

    # -- what can be called

    def parts(self, expr: ast.expr, frame: Frame) -> Iterator[Part]:
        """What calling `expr` may run."""
        self.step()
        ctx = frame.ctx
        match expr:
            case ast.Lambda():
                yield Callee(expr, frame)
                return
            case ast.IfExp(body=body, orelse=orelse):
                for arm in (body, orelse):
                    if not is_none(arm):
                        yield from self.parts(arm, frame)
                return
            case ast.Call():
                yield from self.made_by(expr, frame)
                return
            case ast.Subscript(value=value) if ctx.means(value, ACTIVATIONS):
                yield Library("torch.nn.Module", None, frame)
                return
            case ast.Subscript(value=value):
                for made, where in contents(self, value, frame):
                    yield from self.parts(made, where)
                return
            case ast.Name() if held := list(self.named(expr, frame)):
                for each, where in [*held, *appended(self, ctx, expr.id, ctx.function(expr), frame)]:
                    yield from [Callee(each, where)] if isinstance(each, FUNCTIONS) else self.parts(each, where)
                return
            case ast.Attribute(value=value, attr=name) if owners := self.objects(value, frame):
                for owner in owners:
                    yield from [owner] if name in ("forward", "__call__") else self.member(owner, name)
                return
            case ast.Name() | ast.Attribute() if origins := ctx.origin(expr):
                for origin in sorted(origins):
                    yield self.function(origin) if ":" in origin else Library(origin, None, frame)
                return
        raise Unseen(f"`{ctx.written(expr)}` is not in sight")

    def function(self, origin: str) -> Callee:
        """A function of the project by `path:name`."""
        path, name = origin.split(":", 1)
        context = self.open(path)
        owner, _, last = name.rpartition(".")
        if last == "apply" and any(b.startswith("torch.autograd.") for b in self.lineage(Ref(path, owner)).external):
            raise Unseen(f"`{owner}` is an autograd.Function of its own")
        if (definition := context.definition(name)) is None:
            raise Unseen(f"`{name}` is not in sight")
        return Callee(definition[1], Frame(context))

    def lineage(self, ref: Ref) -> Lineage:
        if ref not in self._lineages:
            self._lineages[ref] = self.index.lineage(ref)
        return self._lineages[ref]

    def objects(self, expr: ast.expr, frame: Frame) -> list[Instance]:
        """`expr` as objects of project classes: `self`, `self.attention`, `block`; empty where it is no such thing."""
        method = frame.ctx.method(expr)
        if method is not None and frame.ctx.name(expr) == method.self:
            if frame.self is None:
                raise Unseen(f"the class of `{method.self}` is not in sight")
            return [frame.self]
        local = isinstance(expr, ast.Name) and next(self.named(expr, frame), None) is not None
        if local or isinstance(expr, ast.Subscript) or self._is_member(expr, frame):
            return [part for part in self.parts(expr, frame) if isinstance(part, Instance)]
        return []

    def _is_member(self, expr: ast.expr, frame: Frame) -> bool:
        """Whether `expr` is an attribute of `self`, or of one."""
        method = frame.ctx.method(expr)
        return (
            isinstance(expr, ast.Attribute)
            and method is not None
            and ((frame.ctx.name(expr) or "").startswith(method.self + "."))
        )

    def member(self, owner: Instance, name: str) -> Iterator[Part]:
        """A method of an object, or what its attribute of that name holds."""
        defined = [r for r in self.classes(owner) if (k := self.index.klass(r)) and name in k.methods]
        above, lineage = self.index.method(owner.ref, name), self.lineage(owner.ref)
        below = [r for r in defined if r not in lineage.refs]
        if above not in (None, owner.ref) and not lineage.complete:
            raise Unseen(f"`{owner.ref.name}` is not fully in sight")
        held = [*attribute(self, owner, name), *grown(self, owner, name)]
        for ref in dict.fromkeys([*below, *([above] if above else [])]):
            yield self.method(owner, ref, name)
        for expr, frame in held:
            yield from self.parts(expr, frame)
        if not defined and not held:
            raise Unseen(f"`{owner.ref.name}.{name}` is not in sight")

    def method(self, owner: Instance, ref: Ref, name: str) -> Callee:
        """A method as `ref` defines it, run on an object."""
        context = self.open(ref.path)
        if (definition := context.definition(f"{ref.name}.{name}")) is None:
            raise Unseen(f"`{ref.name}.{name}` is not in sight")
        return Callee(definition[1], Frame(context, owner))

    def classes(self, owner: Instance) -> Iterator[Ref]:
        """The classes that have a say in an object: its lineage; for `self` its descendants too."""
        if owner.made is None:
            if owner.ref not in self._descendants:
                self._descendants[owner.ref] = tuple(self.index.subclasses(owner.ref))
            yield from self._descendants[owner.ref]
        yield from self.lineage(owner.ref).refs

    def constructor(self, ref: Ref) -> Function | None:
        """The `__init__` that making an object of a class runs."""
        owner = self.index.method(ref, "__init__")
        definition = self.open(owner.path).definition(f"{owner.name}.__init__") if owner else None
        return definition[1] if definition else None

    # -- what is made

    def made_by(self, call: ast.Call, frame: Frame) -> Iterator[Part]:
        """What the result of a call runs when it is called in turn: `Block(dim)`, `partial(f, x)`, `make(block)`."""
        if frame.ctx.means(call.func, "functools.partial") and call.args and not isinstance(call.args[0], ast.Starred):
            yield from self.parts(call.args[0], frame)
            return
        for maker in self.makers(call.func, frame):
            match maker:
                case str() if ":" not in maker:
                    yield Library(maker, call, frame)
                case str():
                    yield from self.made_here(maker, call, frame)
                case Callee():
                    yield from self.returned(maker, call, frame)

    def made_here(self, origin: str, call: ast.Call, frame: Frame) -> Iterator[Part]:
        path, name = origin.split(":", 1)
        ref = Ref(path, name)
        if self.index.klass(ref) is not None:
            yield Instance(ref, bind(call, self.constructor(ref), frame, skip=1))
        else:
            yield from self.returned(self.function(origin), call, frame)

    def makers(self, func: ast.expr, frame: Frame) -> Iterator[str | Callee]:
        """What is behind the name in a call, also through parameters (`norm_layer=nn.LayerNorm`)."""
        self.step()
        ctx = frame.ctx
        match func:
            case ast.Call() if ctx.means(func.func, "functools.partial") and func.args:
                yield from self.makers(func.args[0], frame)
                return
            case ast.IfExp(body=body, orelse=orelse):
                yield from self.makers(body, frame)
                yield from self.makers(orelse, frame)
                return
            case ast.Name() if held := list(self.named(func, frame)):
                for each, where in held:
                    yield from [Callee(each, where)] if isinstance(each, FUNCTIONS) else self.makers(each, where)
                return
            case ast.Attribute(value=value, attr=name) if owners := self.objects(value, frame):
                for owner in owners:
                    for ref in self.classes(owner):
                        if (klass := self.index.klass(ref)) and name in klass.methods:
                            yield self.method(owner, ref, name)
                            return
            case _ if origins := ctx.origin(func):
                yield from sorted(origins)
                return
        raise Unseen(f"what `{ctx.written(func)}(…)` makes is not in sight")

    def returned(self, code: Callee, call: ast.Call, frame: Frame) -> Iterator[Part]:
        """What a function that makes callables returns."""
        function = code.node
        assert isinstance(function, FUNCTIONS)
        bound = bind(call, function, frame, skip=int(is_method(code.frame.ctx, function)))
        inner = Frame(code.frame.ctx, code.frame.self, {**code.frame.calls, function: bound})
        values = [n.value for n in own(function) if isinstance(n, ast.Return) and n.value is not None]
        if not values:
            raise Unseen(f"what `{frame.ctx.written(call.func)}(…)` makes is not in sight")
        for value in values:
            yield from self.parts(value, inner)

    # -- what a name or attribute holds

    def named(self, name: ast.Name, frame: Frame) -> Iterator[Held]:
        """What a name bound in a function around may hold: a function defined there, a value, an argument."""
        ctx, scope = frame.ctx, frame.ctx.scope(name)
        while not isinstance(scope, ast.Module):
            if isinstance(scope, (ast.Lambda, *FUNCTIONS)):
                if name.id in ctx.parameter_names(scope):
                    yield from self.argument(scope, name.id, frame)
                    return
                if bindings := ctx.bindings(scope).get(name.id):
                    for binding in bindings:
                        yield from self._bound(name.id, binding.node, binding.value, frame)
                    return
            scope = ctx.scope(scope)

    def _bound(self, name: str, node: ast.AST, value: ast.expr | None, frame: Frame) -> Iterator[Held]:
        if isinstance(node, FUNCTIONS):
            yield node, frame
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
            if (source := looped(frame.ctx, node, name)) is None:
                raise Unseen(f"what `{name}` holds is not in sight")
            yield from contents(self, source, frame)
        elif isinstance(node, ast.AugAssign):
            return  # what a container gains; `contents` looks for it
        elif value is None or frame.ctx.name(value) == name:
            raise Unseen(f"what `{name}` holds is not in sight")
        elif not is_none(value):
            yield value, frame

    def argument(self, function: Function | ast.Lambda, name: str, frame: Frame) -> Iterator[Held]:
        """What a parameter may hold, by the call that is followed; for `__init__` of `self` by every call in sight."""
        calls: list[Bound] = []
        if isinstance(function, FUNCTIONS) and function in frame.calls:
            calls = [frame.calls[function]]
        elif frame.self and frame.self.made is None and self.constructor(frame.self.ref) is function:
            calls = list(self.constructions(frame.self.ref, self.constructor(frame.self.ref)))
        for call in calls:
            otherwise = default(function, name)
            if name in call.values:
                yield call.values[name]
            elif call.open or otherwise is None:
                raise Unseen(f"what `{name}` holds is not in sight")
            elif not is_none(otherwise):
                yield otherwise, Frame(frame.ctx)
        if not calls:
            raise Unseen(f"what `{name}` holds is not in sight")

    def constructions(self, ref: Ref, function: Function | None) -> Iterator[Bound]:
        """Every call in the project that makes an object of a class."""
        key = (Tracer.constructions, ref)
        if key not in self.root.memo:
            contexts = map(self.root.other, self.index.search(ref.path, (ref.name.encode(),)))
            self.root.memo[key] = [
                (context, call)
                for context in contexts
                if context is not None
                for call in context.all(ast.Call)
                if context.origin(call.func) == {str(ref)}
            ]
        for context, call in self.root.memo[key]:
            method = context.method(call)
            yield bind(call, function, Frame(context, Instance(method.owner) if method else None), skip=1)
