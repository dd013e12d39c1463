"""Whether code may be checkpointed without reentrant autograd: all that runs inside is in sight, and leaves no trace.

TorchScript, an `autograd.Function` of the project, numbers from `random`, numpy or the clock, and what is kept between
calls may crash or go wrong non-reentrant. So what is not known to be harmless counts as harmful.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from codemods.frameworks.checkpointing.callables import Tracer
from codemods.frameworks.checkpointing.clean_library import (
    BUILTINS,
    CHANGERS,
    CONTAINERS,
    METHODS,
    is_clean,
    is_idempotent,
)
from codemods.frameworks.checkpointing.containers import contents
from codemods.frameworks.checkpointing.frames import (
    Code,
    Frame,
    Instance,
    Library,
    Part,
    Unseen,
    bind,
    is_method,
    written,
)
from codemods.frameworks.checkpointing.side_effects import is_new, is_own
from codemods.model.names import AUTOCAST, NO_GRAD
from codemods.rules.context import Context
from codemods.syntax import rewrite
from codemods.syntax.tree import walk

DEEPEST = 20
"""Calls within calls."""

_DECORATORS = AUTOCAST | NO_GRAD | {"torch.enable_grad", "typing.override", "functools.wraps"}
LAYERED = frozenset({"torch.nn.TransformerEncoder", "torch.nn.TransformerDecoder"})
"""Modules that are handed a layer, as their first argument."""

CALLED = ("layer", "activation", "act", "norm", "fn", "custom_encoder", "custom_decoder")
"""How arguments end that a library module calls."""

_PLAIN_DECORATORS = ("staticmethod", "classmethod", "property")
_BASES = ("torch.nn.", "builtins.object", "typing.", "abc.ABC")


def trouble_in(ctx: Context, functions: cst.BaseExpression | cst.FunctionDef, *, several: bool = False) -> str | None:
    """Why what a checkpointed call runs may not be run non-reentrant, None where it surely may.

    Args:
        several: `functions` is a container of what is run, not what is run.
    """
    method = ctx.method(functions)
    frame = Frame(ctx, Instance(method.owner) if method else None)
    sight = _Sight(ctx)
    try:
        if isinstance(functions, cst.FunctionDef):
            sight.read(Code(functions, frame), decorated=False)
        elif several and not ctx.calls(functions, "torch.nn.Sequential"):
            for made, where in contents(sight.trace, functions, frame):
                sight.run(sight.trace.parts(made, where))
        else:
            sight.run(sight.trace.parts(functions, frame))
    except Unseen as reason:
        return str(reason)
    except RecursionError:
        return "it is made of itself"
    return None


class _Sight:
    """Reads all code that a call runs."""

    def __init__(self, ctx: Context) -> None:
        self.trace = Tracer(ctx)
        self.index = ctx.index
        self.seen: set[tuple[object, ...]] = set()
        self.depth = 0

    def run(self, parts: Iterator[Part]) -> None:
        ran = False
        for part in parts:
            ran = True
            match part:
                case Code():
                    self.read(part)
                case Instance():
                    self.forward(part)
                case Library(origin=origin, call=cst.Call() as call, frame=frame) if origin in CONTAINERS:
                    for made, where in contents(self.trace, call, frame):
                        self.run(self.trace.parts(made, where))
                case Library():
                    self.library(part)
        if not ran:
            raise Unseen("what it runs is not in sight")

    def library(self, part: Library) -> None:
        """A function or module of a library, and what of the project it is handed (layers, activations)."""
        if not is_clean(part.origin):
            raise Unseen(f"`{part.origin}` runs inside it")
        if part.call is None:
            return
        ctx = part.frame.ctx
        self.in_place(part.call, ctx)
        for position, arg in enumerate(part.call.args):
            name = arg.keyword.value if arg.keyword is not None else ""
            value = arg.value.func if isinstance(arg.value, cst.Call) else arg.value
            if part.origin in LAYERED and (name.endswith("layer") or (position == 0 and not name)):
                self.run(self.trace.parts(arg.value, part.frame))
            elif name.endswith(CALLED) and rewrite.literal(arg.value) is ...:
                for maker in self.trace.makers(value, part.frame):
                    if isinstance(maker, Code) or not is_clean(maker):
                        raise Unseen(f"`{written(ctx, part.call.func)}` is handed code of the project")
            elif isinstance(value, cst.Lambda) or any(":" in origin for origin in ctx.origin(value)):
                raise Unseen(f"`{written(ctx, part.call.func)}` is handed code of the project")

    def in_place(self, call: cst.Call, ctx: Context) -> None:
        """`inplace=True`, which a second run on the same input repeats: harmless for rectifiers alone."""
        given = rewrite.keyword(call, "inplace")
        if (
            given is not None
            and rewrite.literal(given.value) is not False
            and not is_idempotent(written(ctx, call.func))
        ):
            raise Unseen(f"`{written(ctx, call.func)}` works in place")

    def forward(self, module: Instance) -> None:
        """Calling a module of the project."""
        lineage = self.trace.lineage(module.ref)
        name = module.ref.name.rpartition(".")[2]
        if any(base.startswith("torch.autograd") for base in lineage.external):
            raise Unseen(f"`{name}` is an autograd.Function of its own")
        if not lineage.complete or not all(base.startswith(_BASES) for base in lineage.external):
            raise Unseen(f"`{name}` is not fully in sight")
        for ref in lineage.refs:
            klass = self.index.klass(ref)
            odd = {"__call__", "__getattr__", "__getattribute__"}
            if klass is None or odd & set(klass.methods) or {"forward", "__call__"} & set(klass.attributes):
                raise Unseen(f"`{name}` is not fully in sight")
            if b"register_forward" in (self.index.text(ref.path) or "").encode():
                raise Unseen(f"a forward hook may run in `{name}`")
        if owner := self.index.method(module.ref, "forward"):
            self.read(self.trace.method(module, owner, "forward"))
        elif "torch.nn.Sequential" in lineage.external:
            self.sequential(module)
        elif lineage.external <= {"torch.nn.Module"}:
            raise Unseen(f"`{name}` has no forward in sight")

    def sequential(self, module: Instance) -> None:
        """A class of the project on top of `nn.Sequential`: what its `__init__` hands to `super().__init__`."""
        constructor = self.index.method(module.ref, "__init__")
        code = self.trace.method(module, constructor, "__init__") if constructor else None
        calls = [c for c in code.frame.ctx.all(cst.Call) if _is_super_init(c)] if code else []
        inside = [c for c in calls if code and code.frame.ctx.function(c) is code.node]
        if code is None or len(inside) != 1 or not isinstance(code.node, cst.FunctionDef):
            raise Unseen(f"what `{module.ref.name}` holds is not in sight")
        frame = Frame(code.frame.ctx, module, {code.node: module.made} if module.made else {})
        for arg in inside[0].args:
            for made, where in contents(self.trace, arg.value, frame) if arg.star else [(arg.value, frame)]:
                self.run(self.trace.parts(made, where))

    # -- reading code

    def read(self, code: Code, *, decorated: bool = True) -> None:
        """One function or lambda, with the functions defined in it."""
        ctx, owner = code.frame.ctx, code.frame.self
        given = frozenset((k, id(v[0])) for bound in code.frame.calls.values() for k, v in bound.values.items())
        key = (code.node, owner and owner.ref, owner and id(owner.made), given)
        if key in self.seen:
            return
        self.seen.add(key)
        self.depth += 1
        if self.depth > DEEPEST:
            raise Unseen("calls are nested too deeply inside it")
        if isinstance(code.node, cst.FunctionDef):
            name = code.node.name.value
            if code.node.asynchronous is not None:
                raise Unseen(f"`{name}` is asynchronous")
            for decorator in code.node.decorators if decorated else ():
                plain = decorator.decorator.func if isinstance(decorator.decorator, cst.Call) else decorator.decorator
                if not ctx.means(plain, _DECORATORS) and ctx.name(plain) not in _PLAIN_DECORATORS:
                    raise Unseen(f"`{name}` is decorated with `{written(ctx, plain)}`")
        for node in walk(code.node.body):
            self.trace.step()
            self.look(node, code)
        self.depth -= 1

    def look(self, node: cst.CSTNode, code: Code) -> None:
        ctx = code.frame.ctx
        match node:
            case cst.Global() | cst.Nonlocal():
                raise Unseen(f"`{written(ctx, node)}` keeps something between calls")
            case cst.Yield() | cst.Await() | cst.ClassDef() | cst.Del():
                raise Unseen(f"`{written(ctx, node)}` runs inside it")
            case cst.AssignTarget(target=target) | cst.AnnAssign(target=target) | cst.For(target=target):
                self.write(target, code)
            case cst.AugAssign(target=target):
                if not isinstance(target, cst.Name) or not is_own(target, ctx, counting=True):
                    raise Unseen(f"`{written(ctx, target)}` is changed in place")
            case cst.Call():
                self.call(node, code)
            case cst.Attribute(value=cst.Name(), attr=cst.Name(value=name)) if ctx.method(node):
                for owner in self.trace.objects(node.value, code.frame) if self.is_self(node.value, ctx) else ():
                    method = self.index.method(owner.ref, name)
                    klass = self.index.klass(method) if method else None
                    if klass is not None and method is not None and klass.methods[name].is_property:
                        self.read(self.trace.method(owner, method, name))

    def is_self(self, node: cst.BaseExpression, ctx: Context) -> bool:
        method = ctx.method(node)
        return method is not None and ctx.name(node) == method.self

    def write(self, target: cst.BaseExpression, code: Code) -> None:
        """An assignment: to a name it is harmless, to an attribute or item only if the object was made right here."""
        match target:
            case cst.Tuple(elements=items) | cst.List(elements=items):
                for item in items:
                    self.write(item.value, code)
            case cst.Attribute():
                raise Unseen(f"`{written(code.frame.ctx, target)}` is set inside it")
            case cst.Subscript(value=held):
                if not isinstance(held, cst.Name) or not is_own(held, code.frame.ctx):
                    raise Unseen(f"`{written(code.frame.ctx, held)}` is written to")

    def call(self, call: cst.Call, code: Code) -> None:
        """A call inside: library code that is known, project code that is read in turn."""
        ctx, func = code.frame.ctx, call.func
        if any(a.keyword is not None and a.keyword.value == "generator" for a in call.args):
            raise Unseen("a random generator of its own is used inside it")
        self.in_place(call, ctx)
        match func:
            case cst.Name(value=name) if name in BUILTINS or name.endswith(("Error", "Exception")):
                if _is_builtin(name, ctx):
                    return
            case cst.Attribute(value=cst.Call(func=cst.Name(value="super")), attr=cst.Name(value=name)):
                self.parent(call, name, code)
                return
            case cst.Attribute(value=receiver, attr=cst.Name(value=name)) if not ctx.origin(func):
                if self.on_object(receiver, name, call, code):
                    return
        self.run(self.bound(self.trace.parts(func, code.frame), call, code.frame))

    def bound(self, parts: Iterator[Part], call: cst.Call, frame: Frame) -> Iterator[Part]:
        """Functions of the project with what this call gives them."""
        for part in parts:
            if isinstance(part, Code) and isinstance(part.node, cst.FunctionDef):
                ctx = part.frame.ctx
                given = bind(call, part.node, frame, skip=int(is_method(ctx, part.node)))
                yield Code(part.node, Frame(ctx, part.frame.self, {**part.frame.calls, part.node: given}))
            else:
                yield part

    def on_object(self, receiver: cst.BaseExpression, name: str, call: cst.Call, code: Code) -> bool:
        """A method of something: True if it is known to be harmless, False if it is the project's own."""
        ctx = code.frame.ctx
        if self.is_self(receiver, ctx):
            return False
        if name in METHODS:
            return True
        changing = name in CHANGERS or (name.endswith("_") and not name.startswith("_"))
        if not changing and self.trace.objects(receiver, code.frame):
            return False
        if changing:
            made = isinstance(receiver, cst.Call) and is_new(receiver, ctx, False)
            if made or (isinstance(receiver, cst.Name) and is_own(receiver, ctx)):
                return True
            raise Unseen(f"`{written(ctx, call.func)}` changes something in place")
        raise Unseen(f"`{written(ctx, call.func)}` is not in sight")

    def parent(self, call: cst.Call, name: str, code: Code) -> None:
        """`super().forward(x)`."""
        here, owner = code.frame.ctx.klass(call), code.frame.self
        refs = self.trace.lineage(owner.ref).refs if owner else ()
        after = refs[refs.index(here) + 1 :] if here in refs else ()
        for ref in after:
            klass = self.index.klass(ref)
            if owner and klass and name in klass.methods:
                self.read(self.trace.method(owner, ref, name))
                return
        bases = self.trace.lineage(owner.ref).external if owner else frozenset[str]()
        if not bases or not all(base.startswith("torch.nn.") for base in bases):
            raise Unseen(f"`super().{name}` is not in sight")


def _is_builtin(name: str, ctx: Context) -> bool:
    return next(ctx.facts.named(name), None) is None and not ctx.facts.rebound.get(name)


def _is_super_init(call: cst.Call) -> bool:
    func = call.func
    parent = func.value if isinstance(func, cst.Attribute) and func.attr.value == "__init__" else None
    return isinstance(parent, cst.Call) and isinstance(parent.func, cst.Name) and parent.func.value == "super"
