"""Where the loss of a backward call is divided by hand, for the sake of accumulation.

Followed is what a factor of the loss passes through: names, items of containers, sums, methods of tensors, and what
functions and modules of the project return. What cannot be followed may divide.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from codemods.analysis import instances
from codemods.analysis.calls import binder, callers_here, held, keyword, literal, positional, values
from codemods.analysis.instances import callee
from codemods.analysis.mentions import mentions
from codemods.analysis.places import where_defined
from codemods.analysis.python_context import PythonContext
from codemods.analysis.tensors import METHODS
from codemods.analysis.values import EACH, Following, PossibleValue, behind, possible_values, returned
from codemods.flow.answers import Answer, no, question, unknown, yes
from codemods.frameworks.accelerators import Keeping, is_keeper
from codemods.model.edits import Evidence
from codemods.model.names import ACCELERATOR, OPTIMIZER, TORCH_MODULE
from codemods.project.index import Ref
from codemods.syntax.module import FUNCTIONS, Function, own

DIVIDING = frozenset({"div", "div_", "true_divide", "divide"})
MULTIPLYING = frozenset({"mul", "mul_", "multiply"})
KEEPING = METHODS | DIVIDING | MULTIPLYING | {"to", "cuda", "cpu", "type", "backward", "item"}
"""Methods whose result is divided where what they are called on is."""
COLLECTING = frozenset({"torch.stack", "torch.cat", "torch.sum", "torch.mean", "torch.concat", "builtins.sum"})
"""Functions whose result is divided where an item of what they are given is."""
_FILLING = frozenset({"torch.tensor", "torch.full", "torch.full_like", "torch.as_tensor", "torch.FloatTensor"})
"""Functions whose result is one of the numbers that they are given."""
_DECORATORS = frozenset({"torch.no_grad", "torch.enable_grad", "torch.autocast", "torch.compile", "typing.override"})
_PLAIN_DECORATORS = ("staticmethod", "classmethod", "property", "cached_property")
_STEPS = re.compile(r"accum|micro_?(?:batch|step)|grad_acc|(?:\b|_)g?acc?_|_acc?\b|grad\w*_steps", re.I)
_ACCELERATORS = Keeping(ACCELERATOR, frozenset())
_NUMBER = "gradient_accumulation_steps"
Loop = ast.For | ast.AsyncFor | ast.While


@dataclass(frozen=True, slots=True)
class Division:
    """Where a loss is divided."""

    ctx: PythonContext
    node: ast.expr | ast.stmt
    by: ast.expr


@dataclass(slots=True)
class Factors:
    """What divides a loss on its way, and where the way was not followed."""

    divisions: list[Division] = field(default_factory=list)
    stops: list[Evidence] = field(default_factory=list)


def divided_by_hand(ctx: PythonContext, call: ast.Call) -> Division | None:
    """A division of the loss that may be for the sake of accumulation: by no literal, and by nothing of the batch."""
    steps = _configured(ctx)
    for each in factors(ctx, call).divisions:
        here = each.ctx is ctx and ctx.module.contains(ctx.scope(call), each.by)
        loop = ctx.flow_of(ctx.scope(call)).loop(call) if here else None
        if _counts_steps(each.ctx, each.by, steps) or not _measured(each.ctx, each.by, loop):
            return each
    return None


@question
def loss_is_undivided(ctx: PythonContext, call: ast.Call) -> Answer:
    """Whether nobody divides what a backward call differentiates by the number of accumulated batches."""
    found = factors(ctx, call)
    if (division := divided_by_hand(ctx, call)) is not None:
        return no(division.ctx.evidence(division.node, "the loss is divided"))
    rates = _divided_rates(ctx)
    return unknown(*found.stops, *rates) if found.stops or rates else yes()


def factors(ctx: PythonContext, call: ast.Call) -> Factors:
    """What divides the loss of a backward call, and the gradient that the call is given."""
    key = (factors, call)
    if key not in ctx.memo:
        walk = _Walk()
        loss = ctx.loss_of(call)
        flags = {"retain_graph", "create_graph", "inputs"}
        given = [*call.args[:2], *(k.value for k in call.keywords if k.arg not in flags)]
        for each in dict.fromkeys([loss, *given]):
            if each is not None and not isinstance(literal(each), bool):
                walk.follow(PossibleValue(ctx, each, following=Following(given=_given_here)))
        ctx.memo[key] = walk.found
    found: Factors = ctx.memo[key]
    return found


def _divided_rates(ctx: PythonContext) -> list[Evidence]:
    """The learning rates that are divided by a number of steps, instead of the loss; and who else reads that number."""
    found, steps = [], _configured(ctx)
    for rate in _rates(ctx):
        walk = _Walk()
        walk.follow(PossibleValue(ctx, rate, following=Following(given=_given_here)))
        if any(_counts_steps(each.ctx, each.by, steps) for each in walk.found.divisions):
            found.append(ctx.evidence(rate, "the learning rate is divided"))
    reads = (each for each in mentions(ctx, _NUMBER) if isinstance(each.node, ast.Attribute))
    found += (
        each.evidence(f"`{each.ctx.written(each.node)}` may divide what is trained")
        for each in reads
        if each.receiver is not None and is_keeper(each.ctx, each.receiver, _ACCELERATORS)
    )
    return found


def _rates(ctx: PythonContext) -> Iterator[ast.expr]:
    """What is given as a learning rate."""
    for call in ctx.all(ast.Call):
        rate = keyword(call, "lr")
        if rate is None and (ctx.origin(call.func) and all(map(OPTIMIZER.__contains__, ctx.origin(call.func)))):
            rate = positional(call, 1)
        if rate is not None:
            yield rate
    for group in ctx.all(ast.Dict):
        pairs = zip(group.keys, group.values, strict=True)
        yield from (value for key, value in pairs if isinstance(key, ast.Constant) and key.value == "lr")


class _Walk:
    """Follows a value to everything that multiplies or divides it."""

    def __init__(self) -> None:
        self.found = Factors()
        self.seen: set[PossibleValue] = set()
        self.summed = False
        """Whether the value goes into a sum, of which what comes with a batch may be shares (`shares_of_a_window`)."""

    def divide(self, ctx: PythonContext, node: ast.expr | ast.stmt, by: ast.expr) -> None:
        self.found.divisions.append(Division(ctx, node, by))

    def stop(self, value: PossibleValue, why: str = "may divide it") -> None:
        ctx, node = value.ctx, value.node
        statement = node if isinstance(node, (ast.expr, ast.stmt)) else ctx.statement(node)
        if statement is not None:
            written = ctx.written(statement) if isinstance(statement, ast.expr) else "this"
            says = f"`{written}` {why}"
            called = statement if isinstance(statement, ast.Call) else None
            shown = where_defined(ctx, called, says, at=called) if called else ctx.evidence(statement, says)
            self.found.stops.append(shown)

    def follow(self, value: PossibleValue) -> None:
        """What a value, or an item of it, is made of."""
        if value in self.seen:
            return
        self.seen.add(value)
        if value.is_far:
            self.stop(value)
            return
        ctx, made = value.ctx, value.node
        match made:
            case ast.Constant() | ast.Compare() | ast.JoinedStr():
                return
            case ast.Call() if not value.path or self._passes(value, made):
                self.call(value, made)
                return
            case _ if value.path:
                pass
            case ast.BinOp(left=left, op=ast.Div() | ast.FloorDiv(), right=right):
                self.divide(ctx, made, right)
                self.follow(value.part(left))
                return
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                self.multiply(value, left, made)
                self.multiply(value, right, made)
                return
            case ast.BinOp(left=left, right=right):
                self.follow(value.part(left))
                self.follow(value.part(right))
                return
            case ast.AugAssign(op=operator, value=more):
                if isinstance(operator, (ast.Div, ast.FloorDiv)):
                    self.divide(ctx, made, more)
                elif isinstance(operator, ast.Mult):
                    self.multiply(value, more, made)
                else:
                    self.follow(value.at(more))
                return
            case ast.UnaryOp(operand=inner) | ast.Starred(value=inner):
                self.follow(value.part(inner))
                return
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                for element in elements:
                    self.follow(value.part(element))
                return
        self.behind(value)

    def behind(self, value: PossibleValue) -> None:
        """What a name, an attribute or an item is given."""
        ctx, node = value.ctx, value.node
        if (name := ctx.name(node)) is not None:
            self.changed_in_place(value, name)
        if self.by_property(value):
            return
        step = behind(value)
        if step is None and value.path[:1] == (EACH,):
            return  # what a loop brings: data
        if step is None and isinstance(node, (ast.Attribute, ast.Subscript)) and not self.is_own(value):
            self.follow(value.part(node.value))  # the loss of what a model returns
            return
        if step is None or not step.complete:
            self.stop(value)
        for each in step.values if step is not None else ():
            self.follow(each)

    @staticmethod
    def is_own(value: PossibleValue) -> bool:
        """Whether an attribute is one of `self`."""
        method = value.ctx.method(value.node)
        return (
            method is not None
            and isinstance(value.node, ast.Attribute)
            and value.ctx.name(value.node.value) == method.self
        )

    def by_property(self, value: PossibleValue) -> bool:
        """Follow what a property of the project returns."""
        ctx, node = value.ctx, value.node
        if not isinstance(node, ast.Attribute) or value.path:
            return False
        found = False
        for ref in _classes(ctx, node.value):
            owner = ctx.index.method(ref, node.attr)
            klass = ctx.index.klass(owner) if owner is not None else None
            other = ctx.other(owner.path) if owner is not None else None
            if owner is None or klass is None or other is None or not klass.methods[node.attr].is_property:
                continue
            if target := other.definition(f"{owner.name}.{node.attr}"):
                found = True
                self.returns(value, *target)
        return found

    def multiply(self, value: PossibleValue, factor: ast.expr, node: ast.expr | ast.stmt) -> None:
        """A factor: `1 / n` divides, a literal may, and what is not followed may."""
        ctx = value.ctx
        if (divisor := _reciprocal(ctx, factor)) is not None:
            self.divide(ctx, node, divisor)
            return
        number = literal(factor)
        if isinstance(number, (int, float)) and not isinstance(number, bool):
            if number and round(1 / number, 9) in _configured(ctx):
                self.divide(ctx, node, factor)
            return
        loop = ctx.flow_of(ctx.scope(factor)).loop(factor)
        comes = isinstance(factor, ast.Name) and _comes_with(ctx, factor, loop)
        if _measured(ctx, factor, loop) or comes:
            if comes and self.summed:
                self.stop(value.part(factor), "may be a share of several batches")
            return
        self.follow(value.part(factor))

    def changed_in_place(self, value: PossibleValue, spoken: str) -> None:
        """`loss.div_(n)`, and items that are set or appended."""
        ctx = value.ctx
        for node in own(ctx.scope(value.node)):
            match node:
                case ast.Expr(value=ast.Call(func=ast.Attribute(value=held, attr=verb)) as call):
                    if ctx.name(held) == spoken and verb in DIVIDING | MULTIPLYING and call.args:
                        self.method(value, call, verb, in_place=True)

    def call(self, value: PossibleValue, call: ast.Call) -> None:
        ctx, args = value.ctx, values(call)
        origins = ctx.origin(call.func)
        if ctx.means(call.func, "torch.div", "torch.true_divide", "torch.mul") and len(args) > 1:
            if ctx.means(call.func, "torch.mul"):
                self.multiply(value, args[1], call)
            else:
                self.divide(ctx, call, args[1])
            self.follow(value.part(args[0]))
            return
        if ctx.means(call.func, COLLECTING) or (ctx.name(call.func) == "sum" and not origins):
            for each in args[:1]:
                self.follow(value.at(each, (EACH,)))
            return
        if ctx.means(call.func, _FILLING):
            for each in args:
                self.follow(value.part(each))
            return
        if isinstance(call.func, ast.Attribute) and not origins and call.func.attr in KEEPING:
            self.method(value, call, call.func.attr, in_place=False)
            return
        if (target := callee(ctx, call)) is not None or (target := _forward(ctx, call)) is not None:
            self.returns(value, *target)
            return
        for made in possible_values(ctx, call.func)[0]:  # of a criterion that is made elsewhere (`divided_by_a_weight`)
            if isinstance(made.node, ast.Call) and (weight := keyword(made.node, "weight")) is not None:
                self.follow(PossibleValue(made.ctx, weight))
        steps = _configured(ctx)
        counted = [arg for arg in args if _counts_steps(ctx, arg, steps)]
        for arg in counted:
            self.divide(ctx, call, arg)
        if next(_made(ctx, call), None) is not None:  # an object holds what it is made of (the law of indirections)
            for each in args:
                self.follow(value.at(each))
        if not counted and not _is_of_a_library(ctx, call):
            self.stop(value)

    def method(self, value: PossibleValue, call: ast.Call, verb: str, *, in_place: bool) -> None:
        assert isinstance(call.func, ast.Attribute)
        if verb in DIVIDING and call.args:
            self.divide(value.ctx, call, call.args[0])
        elif verb in MULTIPLYING and call.args:
            self.multiply(value, call.args[0], call)
        self.summed = self.summed or verb == "sum"
        if not in_place:
            self.follow(value.part(call.func.value))

    def returns(self, value: PossibleValue, where: PythonContext, function: Function) -> None:
        """What a function of the project returns, if nothing else has a say in that."""
        for decorator in function.decorator_list:
            plain = decorator.func if isinstance(decorator, ast.Call) else decorator
            if not where.means(plain, _DECORATORS) and where.name(plain) not in _PLAIN_DECORATORS:
                self.stop(value.at(decorator, ctx=where))
        found = returned(function)
        if not found:
            self.stop(value.at(function, ctx=where))
        for each in found:
            self.follow(value.at(each, value.path, where))

    @staticmethod
    def _passes(value: PossibleValue, call: ast.Call) -> bool:
        """Whether an item of what a call gives is followed by way of the call."""
        return callee(value.ctx, call) is not None or behind(value) is None


def _classes(ctx: PythonContext, node: ast.expr) -> Iterator[Ref]:
    """The classes of the project that an object may be of."""
    method = ctx.method(node)
    if method is not None and ctx.name(node) == method.self:
        yield method.owner
        return
    kind = instances.of(ctx, node)
    for name in kind.names if kind is not None else ():
        if ":" in name:
            yield Ref.of(name)


def _forward(ctx: PythonContext, call: ast.Call) -> tuple[PythonContext, Function] | None:
    """The `forward` of the project's class that a call of a module runs, also of one that was prepared."""
    for each in possible_values(ctx, call.func, given=_given_here)[0]:
        node = each.node
        if each.path and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            place = each.path[0]
            given = positional(node, place) if isinstance(place, int) and place >= 0 else None
            node = given if given is not None else node
        if isinstance(node, ast.expr):
            made = node
            for ref in _classes(each.ctx, made) if not isinstance(made, ast.Call) else _made(each.ctx, made):
                is_a_module = each.ctx.index.descends(ref, TORCH_MODULE) is not False
                for name in ("forward", "__call__") if is_a_module else ("__call__",):
                    owner = each.ctx.index.method(ref, name)
                    other = each.ctx.other(owner.path) if owner is not None else None
                    if owner is not None and other is not None and (found := other.definition(f"{owner.name}.{name}")):
                        return found
    return None


def _made(ctx: PythonContext, call: ast.Call) -> Iterator[Ref]:
    for origin in ctx.origin(call.func):
        if ":" in origin and ctx.index.klass(ref := Ref.of(origin)) is not None:
            yield ref


def _is_of_a_library(ctx: PythonContext, call: ast.Call) -> bool:
    """Whether a library computes a value: it knows nothing of the accumulation that a script does by hand."""
    func = call.func
    if origins := ctx.origin(func):
        return all(":" not in origin for origin in origins)
    inner = func.func if isinstance(func, ast.Call) else None
    if inner is not None and (origins := ctx.origin(inner)):
        return all(":" not in origin and origin.rpartition(".")[2][:1].isupper() for origin in origins)
    kind = instances.of(ctx, func) or _prepared_kind(ctx, func)
    if kind is None and isinstance(func, ast.Attribute):
        kind = instances.of(ctx, func.value)
    return kind is not None and all(":" not in name and name.rpartition(".")[2][:1].isupper() for name in kind.names)


def _prepared_kind(ctx: PythonContext, func: ast.expr) -> instances.InstanceOf | None:
    """What a module is an instance of that was handed to `prepare`, and came back."""
    for each in possible_values(ctx, func, given=_given_here)[0]:
        node = each.node
        if each.path and isinstance(node, ast.Call) and isinstance(each.path[0], int) and each.path[0] >= 0:
            given = positional(node, each.path[0])
            if given is not None:
                return instances.of(each.ctx, given)
    return None


def _reciprocal(ctx: PythonContext, factor: ast.expr) -> ast.expr | None:
    """`n` of `1 / n`, also through a name."""
    for each in possible_values(ctx, factor)[0]:
        if isinstance(each.node, ast.BinOp) and isinstance(each.node.op, ast.Div) and not each.path:
            return each.node.right
    return None


def _comes_with(ctx: PythonContext, name: ast.Name, loop: Loop | None) -> bool:
    """Whether a name is set in each round of a loop: a mask, a weight of the batch."""
    return loop is not None and _of_the_batch(ctx, name, loop, 4, taken=True)


def _measured(ctx: PythonContext, divisor: ast.expr, loop: Loop | None, depth: int = 4) -> bool:
    """Whether a divisor is a literal, or measured on what comes with the batch (in a helper: with its arguments)."""
    if isinstance(literal(divisor), (int, float)):
        return True
    if depth == 0:
        return False
    if isinstance(divisor, ast.Name):
        return _of_the_batch(ctx, divisor, loop, depth)
    nodes = [divisor, *own(divisor)]
    names = [n for n in nodes if isinstance(n, ast.Name)]
    if isinstance(divisor, ast.BinOp):
        return all(_measured(ctx, part, loop, depth) for part in (divisor.left, divisor.right))
    measured = any(isinstance(n, ast.Call) or (isinstance(n, ast.Attribute) and n.attr == "shape") for n in nodes)
    within = [n for n in names if binder(ctx, n.id, n) is not None and not ctx.origin(n)]
    return measured and any(_of_the_batch(ctx, n, loop, depth, taken=True) for n in within)


def _of_the_batch(ctx: PythonContext, name: ast.Name, loop: Loop | None, depth: int, *, taken: bool = False) -> bool:
    """Whether a name is set in each round of a loop; without one, in the function, by measuring.

    Args:
        taken: whether it is only measured, as `batch` in `len(batch)`: then a parameter will do.
    """
    scope = binder(ctx, name.id, name)
    given = ctx.bindings(scope).get(name.id, ()) if scope is not None else ()
    if not given:
        return taken and loop is None and isinstance(scope, FUNCTIONS)
    for binding in given:
        if loop is not None and loop not in (binding.node, *ctx.ancestors(binding.node)):
            return False
        brought = isinstance(binding.node, (ast.For, ast.AsyncFor, ast.comprehension))
        if taken or brought:
            continue
        if binding.value is None or not _measured(ctx, binding.value, loop, depth - 1):
            return False
    return True


def _counts_steps(ctx: PythonContext, divisor: ast.expr, steps: set[object]) -> bool:
    if _STEPS.search(ctx.source(divisor)):
        return True
    value = literal(divisor)
    return (ctx.name(divisor) if value is ... else value) in steps


def _configured(ctx: PythonContext) -> set[object]:
    """What this file gives as `gradient_accumulation_steps`, by value or by name."""
    found: set[object] = set()
    for call in ctx.all(ast.Call):
        given = keyword(call, _NUMBER)
        if given is not None and ctx.calls(call, ACCELERATOR):
            found.add(ctx.name(given))
            values = (
                literal(each.node) for each in possible_values(ctx, given)[0] if isinstance(each.node, ast.Constant)
            )
            found.update(value for value in values if isinstance(value, int))  # `by_the_number_itself`
    return found - {None}


def _given_here(ctx: PythonContext, function: Function, name: str) -> Sequence[tuple[PythonContext, ast.expr] | None]:
    """What the calls in this file give for a parameter; None where it cannot be told."""
    return [held(ctx, ctx, call, function, name) for call in callers_here(ctx, function)]
