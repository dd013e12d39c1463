"""Whether code may be checkpointed without reentrant autograd: all that runs inside is in sight, and leaves no trace.

TorchScript, an `autograd.Function` of the project, numbers from `random`, numpy or the clock, and what is kept between
calls may crash or go wrong non-reentrant. So what is not known to be harmless counts as harmful.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.calls import keyword, literal, super_method
from codemods.analysis.python_context import PythonContext
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
from codemods.frameworks.checkpointing.frames import Callee, Frame, Instance, Library, Part, Unseen, bind, is_method
from codemods.frameworks.checkpointing.side_effects import is_new, is_own
from codemods.model.edits import Evidence
from codemods.model.names import AUTOCAST, NO_GRAD
from codemods.syntax.module import FUNCTIONS, Function, own, walk

DEEPEST = 20
"""Calls within calls."""

_DECORATORS = AUTOCAST | NO_GRAD | {"torch.enable_grad", "typing.override", "functools.wraps"}
LAYERED = frozenset({"torch.nn.TransformerEncoder", "torch.nn.TransformerDecoder"})
"""Modules that are handed a layer, as their first argument."""

CALLED = ("layer", "activation", "act", "norm", "fn", "custom_encoder", "custom_decoder")
"""How arguments end that a library module calls."""

_PLAIN_DECORATORS = ("staticmethod", "classmethod", "property")
_CATCHING_ALL = ("Exception", "BaseException")
_BASES = ("torch.nn.", "builtins.object", "typing.", "abc.ABC")


def trouble_in(ctx: PythonContext, functions: ast.expr | Function, *, several: bool = False) -> Evidence | None:
    """What in a checkpointed call may not run non-reentrant, and why; None where it surely may.

    Args:
        several: `functions` is a container of what is run, not what is run.
    """
    method = ctx.method(functions)
    frame = Frame(ctx, Instance(method.owner) if method else None)
    sight = _Sight(ctx, functions)
    try:
        if isinstance(functions, FUNCTIONS):
            sight.read(Callee(functions, frame), decorated=False)
        elif several and not ctx.calls(functions, "torch.nn.Sequential"):
            for made, where in contents(sight.trace, functions, frame):
                sight.run(sight.trace.parts(made, where))
        else:
            sight.run(sight.trace.parts(functions, frame))
    except Unseen as reason:
        return sight.evidence(str(reason))
    except RecursionError:
        return ctx.evidence(functions, "it is made of itself")
    return None


class _Sight:
    """Reads all code that a call runs."""

    def __init__(self, ctx: PythonContext, first: ast.expr | Function) -> None:
        self.at: tuple[PythonContext, ast.expr | ast.stmt] = ctx, first
        """What is looked at."""
        self.trace = Tracer(ctx)
        self.index = ctx.index
        self.seen: set[tuple[object, ...]] = set()
        self.depth = 0

    def evidence(self, why: str) -> Evidence:
        """The place that is looked at, as what shows a claim."""
        ctx, node = self.at
        return ctx.evidence(node, why)

    def run(self, parts: Iterator[Part]) -> None:
        ran, at = False, self.at
        for part in parts:
            ran, self.at = True, at
            match part:
                case Callee():
                    self.read(part)
                case Instance():
                    self.forward(part)
                case Library(origin=origin, call=ast.Call() as call, frame=frame) if origin in CONTAINERS:
                    for made, where in contents(self.trace, call, frame):
                        self.run(self.trace.parts(made, where))
                case Library():
                    self.library(part)
        self.at = at
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
        positional = [("", a.value if isinstance(a, ast.Starred) else a) for a in part.call.args]
        arguments = [*positional, *((k.arg or "", k.value) for k in part.call.keywords)]
        for position, (name, given) in enumerate(arguments):
            value = given.func if isinstance(given, ast.Call) else given
            if part.origin in LAYERED and (name.endswith("layer") or (position == 0 and not name)):
                self.run(self.trace.parts(given, part.frame))
            elif name.endswith(CALLED) and literal(given) is ...:
                for maker in self.trace.makers(value, part.frame):
                    if isinstance(maker, Callee) or not is_clean(maker):
                        raise Unseen(f"`{ctx.written(part.call.func)}` is handed code of the project")
            elif isinstance(value, ast.Lambda) or any(":" in origin for origin in ctx.origin(value)):
                raise Unseen(f"`{ctx.written(part.call.func)}` is handed code of the project")

    def in_place(self, call: ast.Call, ctx: PythonContext) -> None:
        """`inplace=True`, which a second run on the same input repeats: harmless for rectifiers alone."""
        given = keyword(call, "inplace")
        if given is not None and literal(given) is not False and not is_idempotent(ctx.written(call.func)):
            raise Unseen(f"`{ctx.written(call.func)}` works in place")

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
            facts = self.index.facts(ref.path)
            if facts is None or any(name.startswith("register_forward") for name in facts.called):
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
        calls = [c for c in own(code.node) if isinstance(c, ast.Call) and super_method(c) == "__init__"] if code else []
        if code is None or len(calls) != 1 or not isinstance(code.node, FUNCTIONS):
            raise Unseen(f"what `{module.ref.name}` holds is not in sight")
        frame = Frame(code.frame.ctx, module, {code.node: module.made} if module.made else {})
        given = [(a.value, True) if isinstance(a, ast.Starred) else (a, False) for a in calls[0].args]
        for value, spread in (*given, *((k.value, k.arg is None) for k in calls[0].keywords)):
            for made, where in contents(self.trace, value, frame) if spread else [(value, frame)]:
                self.run(self.trace.parts(made, where))

    # -- reading code

    def read(self, code: Callee, *, decorated: bool = True) -> None:
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
        node = code.node
        if isinstance(node, ast.AsyncFunctionDef):
            raise Unseen(f"`{node.name}` is asynchronous")
        if decorated and isinstance(node, ast.FunctionDef):
            for decorator in node.decorator_list:
                plain = decorator.func if isinstance(decorator, ast.Call) else decorator
                if not ctx.means(plain, _DECORATORS) and ctx.name(plain) not in _PLAIN_DECORATORS:
                    raise Unseen(f"`{node.name}` is decorated with `{ctx.written(plain)}`")
        for part in [node.body] if isinstance(node, ast.Lambda) else node.body:
            for each in walk(part):
                self.trace.step()
                self.look(each, code)
        self.depth -= 1

    def look(self, node: ast.AST, code: Callee) -> None:
        ctx = code.frame.ctx
        if isinstance(node, (ast.expr, ast.stmt)):
            self.at = ctx, node
        match node:
            case ast.Global() | ast.Nonlocal():
                raise Unseen(f"`{ctx.written(node)}` keeps something between calls")
            case ast.Yield() | ast.YieldFrom() | ast.Await() | ast.ClassDef() | ast.Delete():
                raise Unseen(f"`{ctx.written(node)}` runs inside it")
            case ast.ExceptHandler(type=caught):
                if caught is None or any(ctx.name(each) in _CATCHING_ALL for each in ast.walk(caught)):
                    raise Unseen("an error that ends the second run may be caught inside it")
            case ast.Assign(targets=targets):
                for target in targets:
                    self.write(target, code)
            case ast.AnnAssign(target=target) | ast.For(target=target) | ast.AsyncFor(target=target):
                self.write(target, code)
            case ast.AugAssign(target=target):
                if not isinstance(target, ast.Name) or not is_own(target, ctx, counting=True):
                    raise Unseen(f"`{ctx.written(target)}` is changed in place")
            case ast.Call():
                self.call(node, code)
            case ast.Attribute(value=ast.Name() as head, attr=name) if self.is_self(head, ctx):
                for owner in self.trace.objects(head, code.frame):
                    method = self.index.method(owner.ref, name)
                    klass = self.index.klass(method) if method else None
                    if klass is not None and method is not None and klass.methods[name].is_property:
                        self.read(self.trace.method(owner, method, name))

    def is_self(self, node: ast.expr, ctx: PythonContext) -> bool:
        method = ctx.method(node)
        return method is not None and ctx.name(node) == method.self

    def write(self, target: ast.expr, code: Callee) -> None:
        """An assignment: to a name it is harmless, to an attribute or item only if the object was made right here."""
        match target:
            case ast.Tuple(elts=items) | ast.List(elts=items):
                for item in items:
                    self.write(item, code)
            case ast.Starred(value=value):
                self.write(value, code)
            case ast.Attribute():
                raise Unseen(f"`{code.frame.ctx.written(target)}` is set inside it")
            case ast.Subscript(value=held):
                if not isinstance(held, ast.Name) or not is_own(held, code.frame.ctx):
                    raise Unseen(f"`{code.frame.ctx.written(held)}` is written to")

    def call(self, call: ast.Call, code: Callee) -> None:
        """A call inside: library code that is known, project code that is read in turn."""
        ctx, func = code.frame.ctx, call.func
        if keyword(call, "generator") is not None:
            raise Unseen("a random generator of its own is used inside it")
        self.in_place(call, ctx)
        match func:
            case ast.Name(id=name) if name in BUILTINS or name.endswith(("Error", "Exception")):
                if _is_builtin(name, ctx):
                    return
            case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr=name):
                self.parent(call, name, code)
                return
            case ast.Attribute(value=receiver, attr=name) if not ctx.origin(func):
                if self.on_object(receiver, name, call, code):
                    return
        self.run(self.bound(self.trace.parts(func, code.frame), call, code.frame))

    def bound(self, parts: Iterator[Part], call: ast.Call, frame: Frame) -> Iterator[Part]:
        """Functions of the project with what this call gives them."""
        for part in parts:
            if isinstance(part, Callee) and isinstance(part.node, FUNCTIONS):
                ctx = part.frame.ctx
                given = bind(call, part.node, frame, skip=int(is_method(ctx, part.node)))
                yield Callee(part.node, Frame(ctx, part.frame.self, {**part.frame.calls, part.node: given}))
            else:
                yield part

    def on_object(self, receiver: ast.expr, name: str, call: ast.Call, code: Callee) -> bool:
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
            made = isinstance(receiver, ast.Call) and is_new(receiver, ctx, False)
            if made or (isinstance(receiver, ast.Name) and is_own(receiver, ctx)):
                return True
            raise Unseen(f"`{ctx.written(call.func)}` changes something in place")
        raise Unseen(f"`{ctx.written(call.func)}` is not in sight")

    def parent(self, call: ast.Call, name: str, code: Callee) -> None:
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


def _is_builtin(name: str, ctx: PythonContext) -> bool:
    return next(ctx.facts.named(name), None) is None and not ctx.facts.rebound.get(name)
