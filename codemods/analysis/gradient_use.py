"""What becomes of the gradients of a raw backward call: which optimizers step with them, and what else reads them.

A scaler, a Trainer or an Accelerator multiplies or divides gradients in its own `backward`, and takes that back in the
`step` of its own optimizers. To put that `backward` in the place of a raw one is right only if every optimizer that
steps with the gradients is one of those, and nothing reads the gradients in between. Each obstacle is a place.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from codemods.analysis import instances
from codemods.analysis.calls import callers, given_by, literal, values
from codemods.analysis.instances import callee
from codemods.analysis.python_context import PythonContext
from codemods.analysis.values import Following, PossibleValue, behind, possible_values, verdicts
from codemods.model.edits import Evidence
from codemods.model.names import GRAD_SCALER, GRADIENT_READERS, OPTIMIZER
from codemods.project.index import NONE, Ref
from codemods.syntax.module import FUNCTIONS, Function, Scope, is_none, own

Undoes = Callable[[PythonContext, ast.expr], "bool | None"]
"""Whether the `step` of this optimizer takes back what the new backward does; None: unknown, or a parameter."""

MOST_FUNCTIONS = 300
"""Functions that are read for one backward call."""
_MOST_REASONS = 3
"""Obstacles that a message names."""
HOOKS = (
    "register_hook",
    "register_backward_hook",
    "register_full_backward_hook",
    "register_full_backward_pre_hook",
    "register_post_accumulate_grad_hook",
    "register_multi_grad_hook",
)
CLIPPING_METHODS = frozenset({"clip_gradients", "clip_grad_norm_", "clip_grad_value_", "configure_gradient_clipping"})
PARAMETERS = frozenset({"parameters", "named_parameters"})
COLLECTING = frozenset({"list", "tuple", "set", "iter", "filter", "sorted", "reversed", "chain", "zip", "enumerate"})
HARMLESS = (COLLECTING - {"chain"}) | frozenset(
    {"dict", "sum", "len", "next", "map", "any", "all", "print", "isinstance", "id", "max", "min"}
)
"""Functions that take parameters and do not read their gradients."""


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why a raw backward call cannot be rewritten alone."""

    why: str
    sure: bool
    """Whether the code surely does this; else it may."""
    shown: Evidence | None = None
    """Where; that something is nowhere to be seen has no place."""


def obstacle(ctx: PythonContext, node: ast.expr | ast.stmt, why: str, *, sure: bool) -> Obstacle:
    """An obstacle that `node` shows."""
    return Obstacle(why, sure, ctx.evidence(node, why))


@dataclass(frozen=True, slots=True)
class Consumers:
    """Who uses the gradients of a raw backward call."""

    steps: frozenset[bool | None]
    """Of each optimizer that is stepped: whether its step takes back what the new backward does."""
    obstacles: tuple[Obstacle, ...]
    """What forbids to rewrite the call, the sure ones first; empty: nothing does."""

    @property
    def forbid(self) -> bool:
        """Whether the call surely cannot be rewritten alone."""
        return any(o.sure for o in self.obstacles)

    @property
    def evidence(self) -> list[Evidence]:
        return [o.shown for o in self.obstacles if o.shown]

    @property
    def reasons(self) -> str:
        """The first obstacles, for a message; the evidence says where."""
        return "; ".join(list(dict.fromkeys(o.why for o in self.obstacles))[:_MOST_REASONS])

    def beside(self, others: Iterable[Obstacle]) -> Consumers:
        """The same with more obstacles."""
        together = sorted((*self.obstacles, *others), key=lambda o: not o.sure)
        return Consumers(self.steps, tuple(together))


class ReachedCode:
    """Functions that run together with a backward call, and what they call."""

    def __init__(self, scopes: Iterable[tuple[PythonContext, Scope]]) -> None:
        self.scopes: dict[Scope, PythonContext] = {}
        self.calls: list[tuple[PythonContext, ast.Call, tuple[PythonContext, Function] | None]] = []
        waiting = list(scopes)
        while waiting and len(self.scopes) < MOST_FUNCTIONS:
            ctx, scope = waiting.pop()
            if scope in self.scopes:
                continue
            self.scopes[scope] = ctx
            for node in deep(scope):
                if isinstance(node, ast.Call):
                    target = callee(ctx, node)
                    self.calls.append((ctx, node, target))
                    waiting += [target] if target else []

    @classmethod
    def around(cls, ctx: PythonContext, call: ast.AST, outward: int) -> ReachedCode:
        """The function around a call, those that call it, up to `outward` calls away, and all that they call."""
        first = ctx.scope(call)
        while not isinstance(first, (ast.Module, *FUNCTIONS)):
            first = ctx.scope(first)
        found: dict[Scope, PythonContext] = {first: ctx}
        newest: list[tuple[PythonContext, Scope]] = [(ctx, first)]
        for _ in range(outward):
            outer = [pair for where, scope in newest for pair in _outer(where, scope)]
            newest = [(where, scope) for where, scope in outer if scope not in found]
            found |= {scope: where for where, scope in newest}
        return cls((where, scope) for scope, where in found.items())

    @property
    def nodes(self) -> Iterator[tuple[PythonContext, ast.AST]]:
        """What runs, each node once."""
        seen: set[ast.AST] = set()
        for scope, ctx in self.scopes.items():
            for node in deep(scope):
                if node not in seen:
                    seen.add(node)
                    yield ctx, node

    @property
    def files(self) -> Mapping[str, PythonContext]:
        return {ctx.path: ctx for ctx in self.scopes.values()}

    def given(
        self, ctx: PythonContext, function: Function, name: str
    ) -> Sequence[tuple[PythonContext, ast.expr] | None]:
        """What the calls in sight give for a parameter of a function of `ctx`; None for one that cannot be told."""
        here = [(where, call) for where, call, target in self.calls if target is not None and target[1] is function]
        found: list[tuple[PythonContext, ast.expr] | None] = []
        for call, where in {call: where for where, call in (*here, *callers(ctx, function))}.items():
            value = given_by(ctx, call, function, name)
            found.append((where, value) if value is not None else None)
        return found


def _outer(ctx: PythonContext, scope: Scope) -> Iterator[tuple[PythonContext, Scope]]:
    """The functions that call a function, and that in which it is defined."""
    if isinstance(scope, FUNCTIONS):
        for where, node in ((ctx, scope), *callers(ctx, scope)):
            if isinstance(around := where.scope(node), (ast.Module, *FUNCTIONS)):
                yield where, around


def deep(scope: Scope) -> Iterator[ast.AST]:
    """The nodes that a function runs, those of nested functions and lambdas too; of a module, what stands outside."""
    for node in own(scope):
        yield node
        if not isinstance(scope, ast.Module) and isinstance(node, (ast.Lambda, *FUNCTIONS)):
            yield from deep(node)


# -- obstacles


def consumers(
    code: ReachedCode, undoes: Undoes, owner: str, *, known_to: Callable[[PythonContext, ast.AST], bool] | None = None
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
        if isinstance(node, ast.Attribute) and is_used(ctx, node):
            how = "set" if not isinstance(node.ctx, ast.Load) and _is_plain_target(ctx, node) else "read"
            found.append(obstacle(ctx, node, f"`{ctx.source(node)}` is {how}", sure=True))
        elif isinstance(node, ast.Call) and (stepped := _stepped(ctx, node)) is not None:
            if callee(ctx, node) is None or _is_optimizer(ctx, stepped):
                steps.append(verdict := judge(code, ctx, stepped, undoes))
                if not verdict:
                    may = "is" if verdict is False else "may be"
                    why = f"`{ctx.source(stepped)}` {may} stepped around {owner}"
                    found.append(obstacle(ctx, node, why, sure=verdict is False))
        elif isinstance(node, ast.Call) and (look := _looks(ctx, node)):
            found.append(obstacle(ctx, node, look[0], sure=look[1]))
    for ctx in code.files.values():
        hooks = (a for a in ctx.all(ast.Attribute) if a.attr in HOOKS)
        found += [obstacle(ctx, a, f"`{a.attr}` may give the gradients to a hook", sure=False) for a in hooks]
    if not steps:
        found.append(Obstacle(f"no optimizer is seen that {owner} steps", sure=False))
    return Consumers(frozenset(steps), ()).beside(found)


def _is_plain_target(ctx: PythonContext, node: ast.Attribute) -> bool:
    return isinstance(ctx.parent(node), ast.Assign)


def judge(code: ReachedCode, ctx: PythonContext, optimizer: ast.expr, undoes: Undoes) -> bool | None:
    """`undoes` of what is stepped; of a parameter, by what the calls in this code give for it."""

    def one(value: PossibleValue) -> bool | None:
        return undoes(value.ctx, value.node) if isinstance(value.node, ast.expr) and not value.path else None

    told = verdicts(PossibleValue(ctx, optimizer, following=Following(given=code.given)), one)
    return False if False in told else True if told and all(told) else None


def stepped_by(ctx: PythonContext, call: ast.Call) -> ast.expr | None:
    """`optimizer` of `optimizer.step()`; schedulers, profilers and the like are something else."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "step":
        return None
    last = (ctx.name(call.func.value) or "").rpartition(".")[2].lower()
    others = ("sched", "lr", "warmup", "prof", "env", "ema")
    return None if any(part in last for part in others) else call.func.value


def _stepped(ctx: PythonContext, call: ast.Call) -> ast.expr | None:
    """`optimizer` of `optimizer.step()`, unless it surely is something else: a scheduler, a profiler, an average."""
    receiver = stepped_by(ctx, call)
    if receiver is None or (isinstance(receiver, ast.Call) and ctx.name(receiver.func) == "super"):
        return None
    if _is_schedule(ctx, receiver):
        return None
    kind = instances.of(ctx, receiver)
    if kind is not None and not any(may_optimize(name) for name in kind.names):
        return None
    return receiver


def may_optimize(name: str) -> bool:
    """Whether a class may be one of optimizers, or of what steps them."""
    if ":" in name:
        return True
    return name in GRAD_SCALER or not name.startswith("torch.") or name.startswith("torch.optim.")


def _is_optimizer(ctx: PythonContext, node: ast.expr) -> bool:
    """Whether a value is an optimizer of a class of the project."""
    kind = instances.of(ctx, node)
    refs = [Ref(*name.split(":", 1)) for name in kind.names if ":" in name] if kind else []
    return any(ctx.index.descends(ref, OPTIMIZER) is not False for ref in refs)


def _is_schedule(ctx: PythonContext, node: ast.expr) -> bool:
    """Whether a value is, or comes from, `self.lr_schedulers()` or `torch.optim.lr_scheduler`."""
    told = verdicts(PossibleValue(ctx, node), _schedules)
    return bool(told) and all(told)


def _schedules(value: PossibleValue) -> bool | None:
    match value.node:
        case ast.Call(func=func):
            last = (value.ctx.name(func) or "").rpartition(".")[2]
            made = last == "lr_schedulers" or any("lr_scheduler" in origin for origin in value.ctx.origin(func))
            return True if made else None
        case ast.Name() | ast.Attribute() as name:
            kind = instances.of(value.ctx, name)
            return all("schedule" in each for each in kind.names) if kind is not None else None
    return None


def is_used(ctx: PythonContext, grad: ast.Attribute) -> bool:
    """Whether a `p.grad` is read or set: not only to None or zero, nor asked whether it is there."""
    if grad.attr != "grad" or any(origin.startswith("torch.") for origin in ctx.origin(grad)):
        return False  # `torch.autograd.grad`
    match ctx.parent(grad):
        case ast.Assign(value=value) if value is not grad:
            return not is_none(value)
        case ast.Delete():
            return False
        case ast.Compare(left=left, ops=[ast.Is() | ast.IsNot()]):
            return left is not grad
        case ast.Attribute(attr="zero_" | "detach_" | "requires_grad_"):
            return False
        case ast.Attribute(attr="data") as above:
            further = ctx.parent(above)
            return not (isinstance(further, ast.Attribute) and further.attr == "zero_")
        case ast.If(test=test) | ast.IfExp(test=test):
            return test is not grad
    return True


def _looks(ctx: PythonContext, call: ast.Call) -> tuple[str, bool] | None:
    """What a call does with gradients, and whether it surely does; None: nothing that is known of."""
    written = ctx.source(call.func)
    if ctx.means(call.func, GRADIENT_READERS):
        return f"`{written}` measures the gradients", True
    if isinstance(call.func, ast.Name) and call.func.id == "getattr" and len(call.args) > 1:
        return ("`getattr` reads `grad`", True) if literal(call.args[1]) == "grad" else None
    if isinstance(call.func, ast.Attribute) and call.func.attr in CLIPPING_METHODS and callee(ctx, call) is None:
        return f"`{written}` measures the gradients", True
    if takes_parameters(ctx, call):
        return f"`{written}` is given parameters and may read their gradients", False
    return None


def takes_parameters(ctx: PythonContext, call: ast.Call) -> bool:
    """Whether parameters are given to a function that nobody can look into."""
    if callee(ctx, call) is not None or _is_harmless(ctx, call):
        return False
    return any(_holds_parameters(PossibleValue(ctx, value)) for value in values(call))


def _is_harmless(ctx: PythonContext, call: ast.Call) -> bool:
    """Whether what is called surely reads no gradients: a function of torch, a builtin, a class that is made."""
    if (ctx.name(call.func) or "") in HARMLESS:
        return True
    found, complete = possible_values(ctx, call.func)
    origins = [each.ctx.origin(each.node) if not each.path else NONE for each in found]
    return complete and all(names and all(reads_nothing(name) for name in names) for names in origins)


def reads_nothing(origin: str) -> bool:
    if origin.startswith(("torch.", "itertools.", "builtins.")):
        return True
    return ":" not in origin and origin.rpartition(".")[2][:1].isupper()  # an optimizer, or an average, is made


def _holds_parameters(value: PossibleValue) -> bool:
    """Whether a value is a collection of parameters, or an optimizer's groups of them."""

    def any_of(*parts: ast.expr) -> bool:
        return any(_holds_parameters(value.at(part)) for part in parts)

    match value.node:
        case _ if value.path or value.is_far:
            pass
        case ast.Call(func=ast.Attribute(attr=name)) if name in PARAMETERS:
            return True
        case ast.Attribute(attr="param_groups"):
            return True
        case ast.Call(func=func) as call if (value.ctx.name(func) or "").rpartition(".")[2] in COLLECTING:
            return any_of(*values(call))
        case ast.Subscript(value=of, slice=key):
            return literal(key) == "params" or (not isinstance(literal(key), str) and any_of(of))
        case ast.BinOp(left=left, right=right):
            return any_of(left, right)
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return any_of(*(e.value if isinstance(e, ast.Starred) else e for e in elements))
        case (
            ast.ListComp(elt=ast.Name(), generators=[loop, *_])
            | ast.GeneratorExp(elt=ast.Name(), generators=[loop, *_])
        ):
            return any_of(loop.iter)
    step = behind(value)
    return step is not None and any(_holds_parameters(each) for each in step.values)
