"""What becomes of the gradients of a raw backward call: which optimizers step with them, and what else reads them.

A scaler, a Trainer or an Accelerator multiplies or divides gradients in its own `backward`, and takes that back in the
`step` of its own optimizers. To put that `backward` in the place of a raw one is right only if every optimizer that
steps with the gradients is one of those, and nothing reads the gradients in between. Each obstacle is a place.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from codemods.analysis import instances
from codemods.analysis.calls import callers, given_by, literal, values
from codemods.analysis.instances import callee, library_values
from codemods.analysis.mentions import definers
from codemods.analysis.optimizers import optimizes, stepped, uses_of
from codemods.analysis.python_context import PythonContext
from codemods.analysis.values import Following, PossibleValue, behind, possible_values, verdicts
from codemods.flow.answers import Answer, no, question, unless
from codemods.model.edits import Evidence
from codemods.model.names import GRAD_SCALER, GRADIENT_READERS
from codemods.project.index import NONE, Ref
from codemods.syntax.module import FUNCTIONS, Function, Scope, is_none, own

Undoes = Callable[[PythonContext, ast.expr], "bool | None"]
"""Whether the `step` of this optimizer takes back what the new backward does; None: unknown, or a parameter."""

MOST_FUNCTIONS = 300
"""Functions that are read for one backward call."""
_TAKING = frozenset({"step", "unscale_", "prepare", "setup", "setup_optimizers", "append", "save", "format"})
"""Methods that are given an optimizer, and whose effect is known."""
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

    shown: Evidence
    sure: bool
    """Whether the code surely does this; else it may."""
    of_an_input: bool = False
    """Whether the gradient of one tensor that has a name is read: what is differentiated may be meant for that."""
    measures: bool = False
    """Whether the gradients are only measured or clipped, as any training does."""


def obstacle(ctx: PythonContext, node: ast.expr | ast.stmt, why: str, *, sure: bool) -> Obstacle:
    """An obstacle that `node` shows."""
    return Obstacle(ctx.evidence(node, why), sure)


@dataclass(frozen=True, slots=True)
class Consumers:
    """Who uses the gradients of a raw backward call."""

    steps: frozenset[bool | None]
    """Of each optimizer that is stepped: whether its step takes back what the new backward does."""
    obstacles: tuple[Obstacle, ...]
    """What forbids to rewrite the call; empty: nothing does."""

    def beside(self, others: Iterable[Obstacle]) -> Consumers:
        """The same with more obstacles."""
        return Consumers(self.steps, (*self.obstacles, *others))

    def other(self) -> Consumers:
        """The same with those only that surely want the gradients for something else than training by the owner."""
        return Consumers(self.steps, tuple(each for each in self.obstacles if each.sure and not each.measures))


@question
def gradients_are_taken_back(users: Consumers) -> Answer:
    """Whether whoever uses the gradients of a backward takes back what the new backward does to them."""
    if sure := [each.shown for each in users.obstacles if each.sure]:
        return no(*sure)
    return unless(each.shown for each in users.obstacles)


@question
def gradients_are_for_the_owner(users: Consumers) -> Answer:
    """Whether nobody else may be meant to use the gradients of a backward, so that it is right as it is."""
    return unless(each.shown for each in users.obstacles)


class ReachedCode:
    """Functions that run together with a backward call, and what they call."""

    def __init__(self, scopes: Iterable[tuple[PythonContext, Scope]]) -> None:
        self.scopes: dict[Scope, PythonContext] = {}
        self.calls: list[tuple[PythonContext, ast.Call, tuple[PythonContext, Function] | None]] = []
        self.cut: Evidence | None = None
        """Where the calls were followed no further; None: they were followed to their ends."""
        waiting = list(scopes)
        while waiting:
            ctx, scope = waiting.pop()
            if scope in self.scopes:
                continue
            if len(self.scopes) >= MOST_FUNCTIONS:
                line = 1 if isinstance(scope, ast.Module) else scope.lineno
                self.cut = Evidence(ctx.path, line, "what it calls is followed no further")
                break
            self.scopes[scope] = ctx
            for node in deep(scope):
                if isinstance(node, ast.Call):
                    target = callee(ctx, node)
                    self.calls.append((ctx, node, target))
                    waiting += [target] if target else []
                elif isinstance(node, ast.withitem):
                    waiting += _entered(ctx, node.context_expr)

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

    def may_use(self, attributes: Collection[str]) -> bool:
        """Whether anything that runs uses an attribute of one of these names, or is followed no further."""
        return self.cut is not None or any(isinstance(n, ast.Attribute) and n.attr in attributes for _, n in self.nodes)

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


_ENTERED = ("__enter__", "__exit__", "__aenter__", "__aexit__")


def _entered(ctx: PythonContext, manager: ast.expr) -> Iterator[tuple[PythonContext, Function]]:
    """What a `with` may run of the project: the methods of the class that it enters (`trains_itself`).

    Of what no library makes, and of which the class is not known, it may be any class with such methods.
    """
    if library_values(ctx, manager) is not None:
        return
    kind = instances.of(ctx, manager)
    if kind is not None:
        refs = [Ref.of(name) for name in kind.names if ":" in name]
    else:
        refs = [Ref(path, klass.name) for path, klass, _ in definers(ctx, *_ENTERED)]
    for ref, method in dict.fromkeys((ref, method) for ref in refs for method in _ENTERED):
        if (target := ctx.method_of(ref, method)) is not None:
            yield target


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
    code: ReachedCode,
    at: Evidence,
    undoes: Undoes,
    owner: str,
    *,
    known_to: Callable[[PythonContext, ast.AST], bool] | None = None,
) -> Consumers:
    """Who uses the gradients that a raw backward call in this code leaves.

    Args:
        at: the raw backward call.
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
            shown = ctx.evidence(node, f"`{ctx.source(node)}` is {how}")
            found.append(Obstacle(shown, sure=True, of_an_input=how == "read" and _is_of_one(ctx, node)))
        elif isinstance(node, ast.Call) and (receiver := _stepped(ctx, node)) is not None:
            if callee(ctx, node) is None or optimizes(ctx, receiver):
                steps.append(verdict := judge(code, ctx, receiver, undoes))
                if not verdict:
                    may = "is" if verdict is False else "may be"
                    why = f"`{ctx.source(receiver)}` {may} stepped around {owner}"
                    found.append(obstacle(ctx, node, why, sure=verdict is False))
        elif isinstance(node, ast.Call) and (look := _looks(ctx, node)):
            found.append(Obstacle(ctx.evidence(node, look[0]), look[1], measures=True))
        elif isinstance(node, ast.Call) and callee(ctx, node) is None and _is_given_an_optimizer(ctx, node):
            why = f"`{ctx.written(node.func)}` is given an optimizer and may step it"
            found.append(obstacle(ctx, node, why, sure=False))
    if code.cut is not None:
        found.append(Obstacle(code.cut, sure=False))
    if not steps:
        found.append(Obstacle(replace(at, why=f"no optimizer is seen that {owner} steps"), sure=False))
    return Consumers(frozenset(steps), tuple(found))


def _is_given_an_optimizer(ctx: PythonContext, call: ast.Call) -> bool:
    """Whether a call that nobody can look into is given an optimizer: not to make a scheduler, nor to step it."""
    if ctx.origin(call.func) or (isinstance(call.func, ast.Attribute) and call.func.attr in _TAKING):
        return False
    if ctx.name(call.func) in HARMLESS:
        return False
    return any(isinstance(v, (ast.Name, ast.Attribute)) and optimizes(ctx, v) is True for v in values(call))


def _is_of_one(ctx: PythonContext, grad: ast.Attribute) -> bool:
    """Whether it is the gradient of a variable that no loop binds: `x.grad`, not that of each parameter."""
    if not isinstance(grad.value, ast.Name):
        return False
    scope = ctx.scope(grad)
    bound = [each.node for each in ctx.bindings(scope).get(grad.value.id, ())]
    return not any(isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)) for node in bound) and not any(
        isinstance(above, (ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp)) for above in ctx.ancestors(grad)
    )


def _is_plain_target(ctx: PythonContext, node: ast.Attribute) -> bool:
    return isinstance(ctx.parent(node), ast.Assign)


def judge(code: ReachedCode, ctx: PythonContext, optimizer: ast.expr, undoes: Undoes) -> bool | None:
    """`undoes` of what is stepped; of a parameter, by what the calls in this code give for it."""

    def one(value: PossibleValue) -> bool | None:
        return undoes(value.ctx, value.node) if isinstance(value.node, ast.expr) and not value.path else None

    told = verdicts(PossibleValue(ctx, optimizer, following=Following(given=code.given)), one)
    return False if False in told else True if told and all(told) else None


def may_optimize(name: str) -> bool:
    """Whether a class may be one of optimizers, or of what steps them."""
    if ":" in name:
        return True
    return name in GRAD_SCALER or not name.startswith("torch.") or name.startswith("torch.optim.")


def _stepped(ctx: PythonContext, node: ast.Call) -> ast.expr | None:
    """What a call steps, if that may be an optimizer, or something that steps one."""
    receiver = stepped(ctx, node) or _scaler(ctx, node)
    kind = instances.of(ctx, receiver) if receiver is not None else None
    if kind is not None and not any(may_optimize(name) for name in kind.names):
        return None
    return receiver


def _scaler(ctx: PythonContext, call: ast.Call) -> ast.expr | None:
    """`S` of `S.step(optimizer)`, where `S` is used as a gradient scaler."""
    match call.func:
        case ast.Attribute(value=owner, attr="step") if len(call.args) + len(call.keywords) == 1:
            name = ctx.name(owner)
            known = name is not None and uses_of(ctx, owner, name) & {"scale", "unscale_", "update"}
            return owner if known or ctx.is_a(owner, GRAD_SCALER) else None
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


def reads_gradients() -> frozenset[str]:
    """The last names of what measures or clips gradients."""
    return frozenset(name.rpartition(".")[2] for name in GRADIENT_READERS) | CLIPPING_METHODS


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
