"""What an expression may call: functions, lambdas and modules of the project, followed to where they are made.

Only what is sure counts. Everything else raises `Unseen` with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from codemods.frameworks.checkpointing.attributes import attribute
from codemods.frameworks.checkpointing.containers import appended, contents, grown
from codemods.frameworks.checkpointing.frames import (
    Bound,
    Code,
    Frame,
    Instance,
    Library,
    Part,
    Unseen,
    bind,
    is_method,
    looped,
    parameters,
    written,
)
from codemods.project.index import Lineage, Ref
from codemods.rules.context import Context
from codemods.syntax import flow

MOST_STEPS = 40_000
"""Nodes looked at for one checkpointed call; what needs more is not in sight."""

ACTIVATIONS = frozenset({"transformers.ACT2FN", "transformers.activations.ACT2FN"})

Held = tuple["cst.BaseExpression | cst.FunctionDef", Frame]


class Tracer:
    """Follows expressions to what calling them runs, within a budget of steps."""

    def __init__(self, root: Context) -> None:
        self.root, self.index, self.steps = root, root.index, 0
        self._lineages: dict[Ref, Lineage] = {}
        self._descendants: dict[Ref, tuple[Ref, ...]] = {}

    def step(self) -> None:
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise Unseen("too much code runs inside it")

    def open(self, path: str) -> Context:
        context = self.root.other(path)
        if context is None:
            raise Unseen(f"`{path}` cannot be read")
        return context

    # -- what can be called

    def parts(self, expr: cst.BaseExpression, frame: Frame) -> Iterator[Part]:
        """What calling `expr` may run."""
        self.step()
        ctx = frame.ctx
        match expr:
            case cst.Lambda():
                yield Code(expr, frame)
                return
            case cst.IfExp(body=body, orelse=orelse):
                for arm in (body, orelse):
                    if ctx.name(arm) != "None":
                        yield from self.parts(arm, frame)
                return
            case cst.Call():
                yield from self.made_by(expr, frame)
                return
            case cst.Subscript(value=value) if ctx.means(value, ACTIVATIONS):
                yield Library("torch.nn.Module", None, frame)
                return
            case cst.Subscript(value=value):
                for made, where in contents(self, value, frame):
                    yield from self.parts(made, where)
                return
            case cst.Name() if held := list(self.named(expr, frame)):
                for each, where in [*held, *appended(self, ctx, expr.value, ctx.function(expr), frame)]:
                    yield from [Code(each, where)] if isinstance(each, cst.FunctionDef) else self.parts(each, where)
                return
            case cst.Attribute(value=value, attr=cst.Name(value=name)) if owners := self.objects(value, frame):
                for owner in owners:
                    yield from [owner] if name in ("forward", "__call__") else self.member(owner, name)
                return
            case cst.Name() | cst.Attribute() if origins := ctx.origin(expr):
                for origin in sorted(origins):
                    yield self.function(origin) if ":" in origin else Library(origin, None, frame)
                return
        raise Unseen(f"`{written(ctx, expr)}` is not in sight")

    def function(self, origin: str) -> Code:
        """A function of the project by `path:name`."""
        path, name = origin.split(":", 1)
        context = self.open(path)
        owner, _, last = name.rpartition(".")
        if last == "apply" and any(b.startswith("torch.autograd.") for b in self.lineage(Ref(path, owner)).external):
            raise Unseen(f"`{owner}` is an autograd.Function of its own")
        if (definition := context.definition(name)) is None:
            raise Unseen(f"`{name}` is not in sight")
        return Code(definition[1], Frame(context))

    def lineage(self, ref: Ref) -> Lineage:
        if ref not in self._lineages:
            self._lineages[ref] = self.index.lineage(ref)
        return self._lineages[ref]

    def objects(self, expr: cst.BaseExpression, frame: Frame) -> list[Instance]:
        """`expr` as objects of project classes: `self`, `self.attention`, `block`; empty where it is no such thing."""
        method = frame.ctx.method(expr)
        if method is not None and frame.ctx.name(expr) == method.self:
            if frame.self is None:
                raise Unseen(f"the class of `{method.self}` is not in sight")
            return [frame.self]
        local = isinstance(expr, cst.Name) and next(self.named(expr, frame), None) is not None
        if local or isinstance(expr, cst.Subscript) or self._is_member(expr, frame):
            return [part for part in self.parts(expr, frame) if isinstance(part, Instance)]
        return []

    def _is_member(self, expr: cst.BaseExpression, frame: Frame) -> bool:
        """Whether `expr` is an attribute of `self`, or of one."""
        method = frame.ctx.method(expr)
        return (
            isinstance(expr, cst.Attribute)
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

    def method(self, owner: Instance, ref: Ref, name: str) -> Code:
        """A method as `ref` defines it, run on an object."""
        context = self.open(ref.path)
        if (definition := context.definition(f"{ref.name}.{name}")) is None:
            raise Unseen(f"`{ref.name}.{name}` is not in sight")
        return Code(definition[1], Frame(context, owner))

    def classes(self, owner: Instance) -> Iterator[Ref]:
        """The classes that have a say in an object: its lineage; for `self` its descendants too."""
        if owner.made is None:
            if owner.ref not in self._descendants:
                self._descendants[owner.ref] = tuple(self.index.subclasses(owner.ref))
            yield from self._descendants[owner.ref]
        yield from self.lineage(owner.ref).refs

    def constructor(self, ref: Ref) -> cst.FunctionDef | None:
        """The `__init__` that making an object of a class runs."""
        owner = self.index.method(ref, "__init__")
        definition = self.open(owner.path).definition(f"{owner.name}.__init__") if owner else None
        return definition[1] if definition else None

    # -- what is made

    def made_by(self, call: cst.Call, frame: Frame) -> Iterator[Part]:
        """What the result of a call runs when it is called in turn: `Block(dim)`, `partial(f, x)`, `make(block)`."""
        if frame.ctx.means(call.func, "functools.partial") and call.args and not call.args[0].star:
            yield from self.parts(call.args[0].value, frame)
            return
        for maker in self.makers(call.func, frame):
            match maker:
                case str() if ":" not in maker:
                    yield Library(maker, call, frame)
                case str():
                    yield from self.made_here(maker, call, frame)
                case Code():
                    yield from self.returned(maker, call, frame)

    def made_here(self, origin: str, call: cst.Call, frame: Frame) -> Iterator[Part]:
        path, name = origin.split(":", 1)
        ref = Ref(path, name)
        if self.index.klass(ref) is not None:
            yield Instance(ref, bind(call, self.constructor(ref), frame, skip=1))
        else:
            yield from self.returned(self.function(origin), call, frame)

    def makers(self, func: cst.BaseExpression, frame: Frame) -> Iterator[str | Code]:
        """What is behind the name in a call, also through parameters (`norm_layer=nn.LayerNorm`)."""
        self.step()
        ctx = frame.ctx
        match func:
            case cst.Call() if ctx.means(func.func, "functools.partial") and func.args and not func.args[0].star:
                yield from self.makers(func.args[0].value, frame)
                return
            case cst.IfExp(body=body, orelse=orelse):
                yield from self.makers(body, frame)
                yield from self.makers(orelse, frame)
                return
            case cst.Name() if held := list(self.named(func, frame)):
                for each, where in held:
                    yield from [Code(each, where)] if isinstance(each, cst.FunctionDef) else self.makers(each, where)
                return
            case cst.Attribute(value=value, attr=cst.Name(value=name)) if owners := self.objects(value, frame):
                for owner in owners:
                    for ref in self.classes(owner):
                        if (klass := self.index.klass(ref)) and name in klass.methods:
                            yield self.method(owner, ref, name)
                            return
            case _ if origins := ctx.origin(func):
                yield from sorted(origins)
                return
        raise Unseen(f"what `{written(ctx, func)}(…)` makes is not in sight")

    def returned(self, code: Code, call: cst.Call, frame: Frame) -> Iterator[Part]:
        """What a function that makes callables returns."""
        function = code.node
        assert isinstance(function, cst.FunctionDef)
        bound = bind(call, function, frame, skip=int(is_method(code.frame.ctx, function)))
        inner = Frame(code.frame.ctx, code.frame.self, {**code.frame.calls, function: bound})
        values = [n.value for n in flow.own(function.body) if isinstance(n, cst.Return) and n.value is not None]
        if not values:
            raise Unseen(f"what `{written(frame.ctx, call.func)}(…)` makes is not in sight")
        for value in values:
            yield from self.parts(value, inner)

    # -- what a name or attribute holds

    def named(self, name: cst.Name, frame: Frame) -> Iterator[Held]:
        """What a name bound in a function around may hold: a function defined there, a value, an argument."""
        ctx, scope = frame.ctx, frame.ctx.scope(name)
        while isinstance(scope, (cst.FunctionDef, cst.Lambda, cst.ClassDef)):
            if not isinstance(scope, cst.ClassDef):
                if any(p.name.value == name.value for p in parameters(scope)):
                    yield from self.argument(scope, name.value, frame)
                    return
                if bindings := ctx.bindings(scope).get(name.value) if isinstance(scope, cst.FunctionDef) else None:
                    for binding in bindings:
                        yield from self._bound(name.value, binding.node, binding.value, frame)
                    return
            scope = ctx.scope(scope)

    def _bound(self, name: str, node: cst.CSTNode, value: cst.BaseExpression | None, frame: Frame) -> Iterator[Held]:
        if isinstance(node, cst.FunctionDef):
            yield node, frame
        elif isinstance(node, (cst.For, cst.CompFor)) and (source := looped(frame.ctx, node, name)) is not None:
            yield from contents(self, source, frame)
        elif isinstance(node, cst.AugAssign):
            return  # what a container gains; `contents` looks for it
        elif value is not None and frame.ctx.name(value) != name:
            if frame.ctx.name(value) != "None":
                yield value, frame
        else:
            raise Unseen(f"what `{name}` holds is not in sight")

    def argument(self, function: cst.FunctionDef | cst.Lambda, name: str, frame: Frame) -> Iterator[Held]:
        """What a parameter may hold, by the call that is followed; for `__init__` of `self` by every call in sight."""
        calls: list[Bound] = []
        if isinstance(function, cst.FunctionDef) and function in frame.calls:
            calls = [frame.calls[function]]
        elif frame.self and frame.self.made is None and self.constructor(frame.self.ref) is function:
            calls = list(self.constructions(frame.self.ref, self.constructor(frame.self.ref)))
        for call in calls:
            default = next((p.default for p in parameters(function) if p.name.value == name), None)
            if name in call.values:
                yield call.values[name]
            elif call.open or default is None:
                raise Unseen(f"what `{name}` holds is not in sight")
            elif frame.ctx.name(default) != "None":
                yield default, Frame(frame.ctx)
        if not calls:
            raise Unseen(f"what `{name}` holds is not in sight")

    def constructions(self, ref: Ref, function: cst.FunctionDef | None) -> Iterator[Bound]:
        """Every call in the project that makes an object of a class."""
        for path in self.index.search(ref.path, (ref.name.encode(),)):
            context = self.root.other(path)
            for call in context.all(cst.Call) if context else ():
                if context and context.origin(call.func) == {str(ref)}:
                    method = context.method(call)
                    yield bind(call, function, Frame(context, Instance(method.owner) if method else None), skip=1)
