"""What becomes of the gradients of a raw backward call: which optimizers step with them, and what else looks at them.

A scaler, a Trainer or an Accelerator multiplies or divides gradients in its own `backward`, and takes that back in the
`step` of its own optimizers. To put that `backward` in the place of a raw one is right only if every optimizer that
steps with the gradients is one of those, and nothing looks at the gradients in between. Each obstacle is a place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import libcst as cst

from codemods.analysis.gradient_use import (
    CLIPPING_METHODS,
    COLLECTING,
    HARMLESS,
    HOOKS,
    MOST_FUNCTIONS,
    PARAMETERS,
    Consumers,
    Obstacle,
    may_optimize,
    reads_nothing,
)
from codemods.analysis.tensors import is_raw_backward
from codemods.frameworks.accelerators import (
    Keeping,
    assigned_to_self,
    binder,
    is_keeper,
    parameters,
    prepared,
    stepped_by,
)
from codemods.model.names import GRADIENT_READERS, NO_GRAD, OPTIMIZER, TORCH_MODULE
from codemods.project.index import NONE, Ref
from codemods.rules.context import Context
from codemods.syntax import flow
from codemods.syntax.rewrite import keyword, literal, positional
from codemods.syntax.tree import text_of

Scope = cst.FunctionDef | cst.Module
Key = tuple[str, str]
"""Path and qualified name; that of a module is empty."""
Undoes = Callable[[Context, cst.BaseExpression], "bool | None"]
"""Whether the `step` of this optimizer takes back what the new backward does; None: unknown, or a parameter."""

_CALLERS = 3
"""How many calls outward is looked for the code around a backward call."""


def obstacle(ctx: Context, node: cst.CSTNode, why: str, *, sure: bool) -> Obstacle:
    """An obstacle that `node` shows."""
    return Obstacle(why, sure, ctx.evidence(node, why))


class Code:
    """Functions that run together with a backward call, and what they call."""

    def __init__(self, scopes: Iterable[tuple[Context, Scope]]) -> None:
        self.scopes: dict[Key, tuple[Context, Scope]] = {}
        self.calls: list[tuple[Context, cst.Call, tuple[Context, cst.FunctionDef] | None]] = []
        waiting = list(scopes)
        while waiting and len(self.scopes) < MOST_FUNCTIONS:
            ctx, scope = waiting.pop()
            key = (ctx.path, ctx.qualified(scope) if isinstance(scope, cst.FunctionDef) else "")
            if key in self.scopes:
                continue
            self.scopes[key] = (ctx, scope)
            for node in deep(scope):
                if isinstance(node, cst.Call):
                    target = callee(ctx, node)
                    self.calls.append((ctx, node, target))
                    waiting += [target] if target else []

    @classmethod
    def around(cls, ctx: Context, call: cst.CSTNode, outward: int) -> Code:
        """The function around a call, those that call it, up to `outward` calls away, and all that they call."""
        first = ctx.scope(call)
        while not isinstance(first, (cst.FunctionDef, cst.Module)):
            first = ctx.scope(first)
        found: dict[Scope, Context] = {first: ctx}
        newest = [(ctx, first)]
        for _ in range(outward):
            outer = [pair for where, scope in newest for pair in _outer(where, scope)]
            newest = [(where, scope) for where, scope in outer if scope not in found]
            found |= {scope: where for where, scope in newest}
        return cls((where, scope) for scope, where in found.items())

    @property
    def nodes(self) -> Iterator[tuple[Context, cst.CSTNode]]:
        """What runs, each node once."""
        seen: set[cst.CSTNode] = set()
        for ctx, scope in self.scopes.values():
            for node in deep(scope):
                if node not in seen:
                    seen.add(node)
                    yield ctx, node

    @property
    def files(self) -> Mapping[str, Context]:
        return {ctx.path: ctx for ctx, _ in self.scopes.values()}

    def given(
        self, ctx: Context, function: cst.FunctionDef, name: str
    ) -> Sequence[tuple[Context, cst.BaseExpression] | None]:
        """What the calls in sight give for a parameter of a function of `ctx`; None for one that cannot be told."""
        named = [p.name.value for p in (*function.params.posonly_params, *function.params.params)]
        here = [(where, call) for where, call, target in self.calls if target is not None and target[1] is function]
        found: list[tuple[Context, cst.BaseExpression] | None] = []
        for call, where in {call: where for where, call in (*here, *callers(ctx, function))}.items():
            index = named.index(name) if name in named else -1
            if isinstance(call.func, cst.Attribute) and ctx.klass(function) is not None:
                index -= 1
            arg = keyword(call, name) or (positional(call, index) if index >= 0 else None)
            found.append((where, arg.value) if arg is not None else None)
        return found


def deep(scope: Scope) -> Iterator[cst.CSTNode]:
    """The nodes that a function runs, those of nested functions and lambdas too; of a module, what stands outside."""
    return inside(scope) if isinstance(scope, cst.FunctionDef) else flow.own(scope)


def inside(function: cst.FunctionDef | cst.Lambda) -> Iterator[cst.CSTNode]:
    """The nodes of a function's body, those of nested functions and lambdas too."""
    for node in flow.own(function.body):
        yield node
        if isinstance(node, (cst.FunctionDef, cst.Lambda)):
            yield from inside(node)


def _outer(ctx: Context, scope: Scope) -> Iterator[tuple[Context, Scope]]:
    """The functions that call a function, and that in which it is defined."""
    if isinstance(scope, cst.FunctionDef):
        for where, node in ((ctx, scope), *callers(ctx, scope)):
            if isinstance(around := where.scope(node), (cst.FunctionDef, cst.Module)):
                yield where, around


def callers(ctx: Context, function: cst.FunctionDef) -> Iterator[tuple[Context, cst.Call]]:
    """The calls that surely run a function: of its file, and of those that import something of its module."""
    yield from ((ctx, call) for call in ctx.callers(function))
    name = function.name.value
    if ctx.qualified(function) != name:
        return
    for path in ctx.index.search(ctx.path, (name.encode(),)):
        if path != ctx.path and imports_of(ctx, path, ctx.path) and (other := ctx.other(path)):
            for call in other.named_calls(name):
                if (target := other.callee(call)) is not None and target[1] is function:
                    yield other, call


def imports_of(ctx: Context, path: str, module: str) -> bool:
    """Whether a file imports a module of the project, or something of it."""
    facts = ctx.index.facts(path)
    for each in facts.imports if facts else ():
        if each.name == "*" or each.dotted:
            if ctx.index.module(path, each.path or each.target) == module:
                return True
        elif any(origin.partition(":")[0] == module for origin in ctx.index.resolve(path, each.name)):
            return True
    return False


def callee(ctx: Context, call: cst.Call) -> tuple[Context, cst.FunctionDef] | None:
    """The project's function that a call runs: also a method of an object whose class is known."""
    if (target := ctx.callee(call)) is not None or not isinstance(call.func, cst.Attribute):
        return target
    kind = ctx.kind(call.func.value)
    if kind is None or len(kind.names) != 1 or ":" not in (origin := next(iter(kind.names))):
        return None
    place = ctx.index.method(Ref(*origin.split(":", 1)), call.func.attr.value)
    context = ctx.other(place.path) if place else None
    return context.definition(f"{place.name}.{call.func.attr.value}") if context and place else None


# -- obstacles


def consumers(
    code: Code, undoes: Undoes, owner: str, *, known_to: Callable[[Context, cst.CSTNode], bool] | None = None
) -> Consumers:
    """Who uses the gradients that a raw backward call in this code leaves.

    Args:
        owner: who is to multiply and divide from now on, for messages.
        known_to: whether a node is no obstacle, because the rule knows of it: a clip by the owner, say.
    """
    found: list[Obstacle] = []
    steps: list[bool | None] = []
    for ctx, node in code.nodes:
        if known_to is not None and known_to(ctx, node):
            continue
        if isinstance(node, cst.Attribute) and is_used(ctx, node):
            how = "set" if isinstance(ctx.parent(node), cst.AssignTarget) else "read"
            found.append(obstacle(ctx, node, f"`{text_of(node)}` is {how}", sure=True))
        elif isinstance(node, cst.Call) and (stepped := _stepped(ctx, node)) is not None:
            if callee(ctx, node) is None or _is_optimizer(ctx, stepped):
                steps.append(verdict := judge(code, ctx, stepped, undoes))
                if not verdict:
                    may = "is" if verdict is False else "may be"
                    why = f"`{text_of(stepped)}` {may} stepped around {owner}"
                    found.append(obstacle(ctx, node, why, sure=verdict is False))
        elif isinstance(node, cst.Call) and (look := _looks(ctx, node)):
            found.append(obstacle(ctx, node, look[0], sure=look[1]))
    for ctx in code.files.values():
        hooks = (a for a in ctx.all(cst.Attribute, *HOOKS) if a.attr.value in HOOKS)
        found += [obstacle(ctx, a, f"`{a.attr.value}` may give the gradients to a hook", sure=False) for a in hooks]
    if not steps:
        found.append(Obstacle(f"no optimizer is seen that {owner} steps", sure=False))
    return Consumers(frozenset(steps), ()).beside(found)


def judge(code: Code, ctx: Context, optimizer: cst.BaseExpression, undoes: Undoes, depth: int = 4) -> bool | None:
    """`undoes` of what is stepped; of a parameter, by what the calls in this code give for it."""
    if (verdict := undoes(ctx, optimizer)) is not None or depth == 0 or not isinstance(optimizer, cst.Name):
        return verdict
    function = binder(ctx, optimizer.value, optimizer)
    if not isinstance(function, cst.FunctionDef) or optimizer.value in ctx.bindings(function):
        return None
    if optimizer.value not in {p.name.value for p in parameters(function)}:
        return None
    given = code.given(ctx, function, optimizer.value)
    verdicts = {judge(code, *each, undoes, depth - 1) if each else None for each in given}
    return False if False in verdicts else True if verdicts == {True} else None


def _stepped(ctx: Context, call: cst.Call) -> cst.BaseExpression | None:
    """`optimizer` of `optimizer.step()`, unless it surely is something else: a scheduler, a profiler, an average."""
    receiver = stepped_by(ctx, call)
    if receiver is None or (isinstance(receiver, cst.Call) and ctx.name(receiver.func) == "super"):
        return None
    if _is_schedule(ctx, receiver):
        return None
    kind = ctx.kind(receiver)
    if kind is not None and not any(may_optimize(name) for name in kind.names):
        return None
    return receiver


def _is_optimizer(ctx: Context, node: cst.BaseExpression) -> bool:
    """Whether a value is an optimizer of a class of the project."""
    kind = ctx.kind(node)
    refs = [Ref(*name.split(":", 1)) for name in kind.names if ":" in name] if kind else []
    return any(ctx.index.descends(ref, OPTIMIZER) is not False for ref in refs)


def _is_schedule(ctx: Context, node: cst.BaseExpression, depth: int = 3) -> bool:
    """Whether a value is, or comes from, `self.lr_schedulers()` or `torch.optim.lr_scheduler`."""
    match node:
        case cst.Call(func=func):
            last = (ctx.name(func) or "").rpartition(".")[2]
            return last == "lr_schedulers" or any("lr_scheduler" in origin for origin in ctx.origin(func))
        case cst.Subscript(value=value):
            return _is_schedule(ctx, value, depth)
        case cst.Name() | cst.Attribute() if depth:
            kind = ctx.kind(node)
            if kind is not None:
                return all("schedule" in name for name in kind.names)
            bindings = ctx.assigned(node) or ()
            values = [_iterated(b.node) if b.value is None else b.value for b in bindings]
            return bool(values) and all(v is not None and _is_schedule(ctx, v, depth - 1) for v in values)
    return False


def _iterated(node: cst.CSTNode) -> cst.BaseExpression | None:
    """What an unpacking or a loop takes its values from."""
    match node:
        case cst.Assign(value=value):
            return value
        case cst.For(iter=several) | cst.CompFor(iter=several):
            return several
    return None


def is_used(ctx: Context, grad: cst.Attribute) -> bool:
    """Whether a `p.grad` is read or set: not only to None or zero, nor asked whether it is there."""
    if grad.attr.value != "grad" or any(origin.startswith("torch.") for origin in ctx.origin(grad)):
        return False  # `torch.autograd.grad`
    above = ctx.parent(grad)
    match above:
        case cst.AssignTarget() | cst.Del():
            statement = ctx.parent(above)
            return isinstance(statement, cst.Assign) and ctx.name(statement.value) != "None"
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(operator=cst.Is() | cst.IsNot())]):
            return left is not grad
        case cst.Attribute(attr=cst.Name(value="zero_" | "detach_" | "requires_grad_")):
            return False
        case cst.Attribute(attr=cst.Name(value="data")):
            further = ctx.parent(above)
            return not (isinstance(further, cst.Attribute) and further.attr.value == "zero_")
        case cst.If(test=test) | cst.IfExp(test=test):
            return test is not grad
    return True


def _looks(ctx: Context, call: cst.Call) -> tuple[str, bool] | None:
    """What a call does with gradients, and whether it surely does; None: nothing that is known of."""
    written = text_of(call.func)
    if ctx.means(call.func, GRADIENT_READERS):
        return f"`{written}` measures the gradients", True
    if isinstance(call.func, cst.Name) and call.func.value == "getattr" and len(call.args) > 1:
        return ("`getattr` reads `grad`", True) if literal(call.args[1].value) == "grad" else None
    if isinstance(call.func, cst.Attribute):
        method = call.func.attr.value
        if method in CLIPPING_METHODS and callee(ctx, call) is None:
            return f"`{written}` measures the gradients", True
    if takes_parameters(ctx, call):
        return f"`{written}` is given parameters and may read their gradients", False
    return None


def takes_parameters(ctx: Context, call: cst.Call) -> bool:
    """Whether parameters are given to a function that nobody can look into."""
    if callee(ctx, call) is not None or _is_harmless(ctx, call):
        return False
    return any(_holds_parameters(ctx, arg.value) for arg in call.args)


def _is_harmless(ctx: Context, call: cst.Call) -> bool:
    """Whether what is called surely reads no gradients: a function of torch, a builtin, a class that is made."""
    if (ctx.name(call.func) or "") in HARMLESS:
        return True
    given = [b.value for b in ctx.assigned(call.func) or ()] if isinstance(call.func, cst.Name) else []
    arms = [arm for value in given or [call.func] for arm in _arms(value)]
    origins = [ctx.origin(arm) if arm is not None else NONE for arm in arms]
    return all(found and all(reads_nothing(o) for o in found) for found in origins)


def _arms(value: cst.BaseExpression | None) -> Iterator[cst.BaseExpression | None]:
    if isinstance(value, cst.IfExp):
        yield from (*_arms(value.body), *_arms(value.orelse))
    else:
        yield value


def _holds_parameters(ctx: Context, value: cst.BaseExpression, depth: int = 4) -> bool:
    """Whether a value is a collection of parameters, or an optimizer's groups of them."""
    if depth == 0:
        return False

    def any_of(*parts: cst.BaseExpression) -> bool:
        return any(_holds_parameters(ctx, part, depth - 1) for part in parts)

    match value:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value=name))) if name in PARAMETERS:
            return True
        case cst.Attribute(attr=cst.Name(value="param_groups")):
            return True
        case cst.Call(func=func, args=args) if (ctx.name(func) or "").rpartition(".")[2] in COLLECTING:
            return any_of(*(a.value for a in args))
        case cst.Subscript(value=of, slice=[cst.SubscriptElement(slice=cst.Index(value=key))]):
            return literal(key) == "params" or (not isinstance(literal(key), str) and any_of(of))
        case cst.BinaryOperation(left=left, right=right):
            return any_of(left, right)
        case cst.IfExp(body=body, orelse=orelse):
            return any_of(body, orelse)
        case cst.List(elements=elements) | cst.Tuple(elements=elements):
            return any_of(*(e.value for e in elements))
        case cst.ListComp(elt=cst.Name(), for_in=loop) | cst.GeneratorExp(elt=cst.Name(), for_in=loop):
            return any_of(loop.iter)
        case cst.Name():
            return any_of(*(b.value for b in ctx.assigned(value) or () if b.value is not None))
    return False


# -- optimizers, by what they are bound to


def bound(
    ctx: Context, node: cst.BaseExpression, judge_one: Callable[[cst.BaseExpression], bool | None], depth: int = 4
) -> bool | None:
    """A verdict on an optimizer, or a collection of some, by the verdicts on what its name is given.

    `judge_one` is asked first, of each expression on the way; None: look further.
    """
    if (verdict := judge_one(node)) is not None or depth == 0:
        return verdict

    def together(parts: Iterable[cst.BaseExpression | None]) -> bool | None:
        verdicts = [bound(ctx, part, judge_one, depth - 1) if part is not None else None for part in parts]
        return False if False in verdicts else True if verdicts and all(verdicts) else None

    match node:
        case cst.List(elements=elements) | cst.Tuple(elements=elements):
            return together(e.value for e in elements)
        case cst.Dict(elements=elements):
            return together(e.value for e in elements)
        case cst.IfExp(body=body, orelse=orelse):
            return together((body, orelse))
        case cst.Subscript(value=value):
            return together((value,))
        case cst.Call(func=cst.Name(value="reversed" | "list" | "tuple" | "iter" | "next"), args=[first, *_]):
            return together((first.value,))
        case cst.Call(func=cst.Attribute(value=value, attr=cst.Name(value="values" | "items"))):
            return together((value,))
        case cst.Name(value=name):
            scope = binder(ctx, name, node)
            given = ctx.bindings(scope).get(name, ()) if scope is not None else ()
            if isinstance(scope, cst.FunctionDef) and name in {p.name.value for p in parameters(scope)}:
                return None
            return together(_source(ctx, b.node, name) if b.value is None else b.value for b in given)
        case cst.Attribute():
            method, written = ctx.method(node), ctx.name(node) or ""
            if method and written.startswith(f"{method.self}.") and written.count(".") == 1:
                attribute = written.partition(".")[2]
                here = assigned_to_self(ctx, method.klass, attribute)
                if len(here) == sum(1 for _ in ctx.index.assigned(method.owner, attribute)):
                    return together(_source(ctx, b.node, written) if b.value is None else b.value for b in here)
    return None


def _source(ctx: Context, node: cst.CSTNode, name: str) -> cst.BaseExpression | None:
    """The collection from which an unpacking, or a loop, gives a name its value; None: it cannot be told."""
    match node:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Tuple() | cst.List())], value=value):
            return value
        case cst.For(target=cst.Name() | cst.Attribute(), iter=several) | cst.CompFor(target=cst.Name(), iter=several):
            return several
        case (
            cst.For(target=cst.Tuple(elements=names), iter=cst.Call(func=cst.Name(value=how), args=args))
            | cst.CompFor(target=cst.Tuple(elements=names), iter=cst.Call(func=cst.Name(value=how), args=args))
        ):
            position = next((i for i, e in enumerate(names) if ctx.name(e.value) == name), -1)
            if how == "zip" and 0 <= position < len(args):
                return args[position].value
            if how == "enumerate" and position == 1 and args:
                return args[0].value
        case cst.For(target=cst.Tuple(), iter=several) | cst.CompFor(target=cst.Tuple(), iter=several):
            return several
    return None


# -- beside an Accelerator, or Fabric


def prepared_consumers(
    ctx: Context, call: cst.Call, keeping: Keeping, owner: str, stays: Callable[[Context, cst.Call], bool]
) -> Consumers:
    """Who uses the gradients of a raw backward call beside a keeper: as far outward as an optimizer is stepped.

    Args:
        stays: whether another raw backward call of the same code is left as it is.
    """

    def undoes(where: Context, node: cst.BaseExpression) -> bool | None:
        if isinstance(node, cst.Call) and any(o.startswith("torch.optim.") for o in where.origin(node.func)):
            return False
        if isinstance(node, cst.Name) and isinstance(function := binder(where, node.value, node), cst.FunctionDef):
            if node.value not in where.bindings(function):
                return None  # a parameter: what is given for it counts
        if isinstance(node, cst.Attribute) and node.attr.value == "optimizer":
            inner = judge(code, where, node.value, undoes)
            return False if inner else prepared(where, node, keeping)
        return prepared(where, node, keeping)

    def by_keeper(where: Context, node: cst.CSTNode) -> bool:
        return isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and _kept(where, node.func.value)

    def _kept(where: Context, node: cst.BaseExpression) -> bool:
        return where.name(node) is not None and is_keeper(where, node, keeping)

    users = Consumers(frozenset(), ())
    for outward in range(_CALLERS + 1):
        code = Code.around(ctx, call, outward)
        users = consumers(code, undoes, owner, known_to=by_keeper)
        if users.steps:
            break
    raw = ((where, n) for where, n in code.nodes if isinstance(n, cst.Call) and is_raw_backward(where, n))
    staying = [obstacle(where, n, "this call stays raw", sure=False) for where, n in raw if stays(where, n)]
    return users.beside((*staying, *_unprepared(code, keeping, owner)))


def _unprepared(code: Code, keeping: Keeping, owner: str) -> Iterator[Obstacle]:
    """Modules that are made in sight, called with gradients on, and prepared by nobody."""
    seen: set[str] = set()
    for ctx, node in code.nodes:
        if not isinstance(node, cst.Call) or (name := ctx.name(node.func)) is None or name in seen:
            continue
        kind = ctx.kind(node.func)
        if kind is None or kind.how != "constructor" or not all(_has_parameters(ctx, k) for k in kind.names):
            continue
        if prepared(ctx, node.func, keeping) is not True and not _frozen(ctx, name, node):
            seen.add(name)
            yield obstacle(ctx, node, f"`{name}` is a module that {owner} is not seen to prepare", sure=False)


def _has_parameters(ctx: Context, name: str) -> bool:
    """Whether a class is one of modules that may have parameters."""
    if ":" in name:
        return ctx.index.descends(Ref(*name.split(":", 1)), TORCH_MODULE) is not False
    last = name.rpartition(".")[2]
    return name.startswith("torch.nn.") and last[:1].isupper() and not last.endswith("Loss")


def _frozen(ctx: Context, name: str, call: cst.Call) -> bool:
    """Whether a call runs without gradients, or the module's parameters take none."""
    for above in ctx.ancestors(call):
        if isinstance(above, cst.With):
            if any(isinstance(i.item, cst.Call) and ctx.means(i.item.func, NO_GRAD) for i in above.items):
                return True
        if isinstance(above, cst.FunctionDef):
            marks = [d.decorator.func if isinstance(d.decorator, cst.Call) else d.decorator for d in above.decorators]
            if any(ctx.means(mark, NO_GRAD) for mark in marks):
                return True
    frozen = (c for c in ctx.named_calls("requires_grad_") if ctx.name(c.func) == f"{name}.requires_grad_")
    return any(c.args and literal(c.args[0].value) is False for c in frozen)
