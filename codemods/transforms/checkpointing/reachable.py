"""Whether code may be checkpointed without reentrant autograd: all that runs inside is in sight, and leaves no trace.

Each of these trains reentrant and crashes, or goes wrong, non-reentrant: TorchScript, an `autograd.Function` of the
project, numbers from `random`, numpy or the clock, and anything that is kept between calls. So what is not known to
be harmless counts as harmful.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from codemods import known
from codemods.context import Context
from codemods.transforms.checkpointing.callables import Tracer
from codemods.transforms.checkpointing.clean_library import BUILTINS, CONTAINERS, MAKERS, METHODS, VIEWS, is_clean
from codemods.transforms.checkpointing.containers import contents
from codemods.transforms.checkpointing.frames import (
    Code,
    Frame,
    Instance,
    Library,
    Part,
    Unseen,
    bind,
    is_method,
    parameters,
    written,
)
from codemods.tree import children

DEEPEST = 20
"""Calls within calls."""

_DECORATORS = known.AUTOCAST | known.NO_GRAD | {"torch.enable_grad", "typing.override", "functools.wraps"}
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
    """Reads all code that a call runs, each function once per object it runs on."""

    def __init__(self, ctx: Context) -> None:
        self.trace = Tracer(ctx)
        self.index = ctx.index
        self.seen: set[tuple[object, ...]] = set()
        self.depth = 0

    def run(self, parts: Iterator[Part]) -> None:
        for part in parts:
            match part:
                case Code():
                    self.read(part)
                case Instance():
                    self.forward(part)
                case Library(origin=origin, call=cst.Call() as call, frame=frame) if origin in CONTAINERS:
                    for made, where in contents(self.trace, call, frame):
                        self.run(self.trace.parts(made, where))
                case Library(origin=origin):
                    self.library(origin)

    def library(self, origin: str) -> None:
        if not is_clean(origin):
            raise Unseen(f"`{origin}` runs inside it")

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
            if klass is None or {"__call__", "__getattr__", "__getattribute__"} & set(klass.methods):
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
                if not ctx.means(plain, _DECORATORS) and ctx.name(plain) not in ("staticmethod", "classmethod"):
                    if ctx.name(plain) not in ("property",):
                        raise Unseen(f"`{name}` is decorated with `{written(ctx, plain)}`")
        for node in _inside(code.node.body):
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
                if not isinstance(target, cst.Name) or not self.is_own(target, code, counting=True):
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
                if not isinstance(held, cst.Name) or not self.is_own(held, code):
                    raise Unseen(f"`{written(code.frame.ctx, held)}` is written to")

    def is_own(self, name: cst.Name, code: Code, *, counting: bool = False) -> bool:
        """Whether a name holds something that this very call made (`counting`: or a plain number)."""
        ctx = code.frame.ctx
        scope = ctx.scope(name)
        if not isinstance(scope, cst.FunctionDef):
            return False
        values = [b.value for b in ctx.bindings(scope).get(name.value, ()) if not isinstance(b.node, cst.AugAssign)]
        if not values or any(p.name.value == name.value for p in parameters(scope)):
            return False
        return all(value is not None and self.is_new(value, ctx, counting) for value in values)

    def is_new(self, value: cst.BaseExpression, ctx: Context, counting: bool) -> bool:
        match value:
            case cst.List() | cst.Tuple() | cst.Dict() | cst.ListComp() | cst.DictComp() | cst.BinaryOperation():
                return True
            case cst.Integer() | cst.Float() | cst.SimpleString():
                return counting
            case cst.IfExp(body=body, orelse=orelse):
                return self.is_new(body, ctx, counting) and self.is_new(orelse, ctx, counting)
            case cst.Call(func=cst.Attribute(value=changed, attr=cst.Name(value=name))) if name.endswith("_"):
                return self.is_new(changed, ctx, counting)
            case cst.Call(func=func):
                last = func.attr.value if isinstance(func, cst.Attribute) else (ctx.name(func) or "")
                return last in MAKERS or (counting and last not in VIEWS)
            case _:
                return False

    def call(self, call: cst.Call, code: Code) -> None:
        """A call inside: library code that is known, project code that is read in turn."""
        ctx, func = code.frame.ctx, call.func
        if any(a.keyword is not None and a.keyword.value == "generator" for a in call.args):
            raise Unseen("a random generator of its own is used inside it")
        match func:
            case cst.Name(value=name) if name in BUILTINS and self.is_builtin(name, ctx):
                return
            case cst.Name(value=name) if name.endswith(("Error", "Exception")) and self.is_builtin(name, ctx):
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

    def is_builtin(self, name: str, ctx: Context) -> bool:
        return not any(True for _ in ctx.facts.named(name)) and not ctx.facts.rebound.get(name)

    def on_object(self, receiver: cst.BaseExpression, name: str, call: cst.Call, code: Code) -> bool:
        """A method of something: True if it is known to be harmless, False if it is the project's own."""
        ctx = code.frame.ctx
        if self.is_self(receiver, ctx):
            return False
        if name in METHODS:
            return True
        if not name.endswith("_") and self.trace.objects(receiver, code.frame):
            return False
        if name.endswith("_") or name in ("append", "extend", "insert", "update", "pop", "setdefault", "add"):
            made = isinstance(receiver, cst.Call) and self.is_new(receiver, ctx, False)
            if made or (isinstance(receiver, cst.Name) and self.is_own(receiver, code)):
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


def _is_super_init(call: cst.Call) -> bool:
    match call.func:
        case cst.Attribute(value=cst.Call(func=cst.Name(value="super")), attr=cst.Name(value="__init__")):
            return True
        case _:
            return False


def _inside(body: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """All nodes of a body, functions defined in it included."""
    stack = [body]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(list(children(node))))
