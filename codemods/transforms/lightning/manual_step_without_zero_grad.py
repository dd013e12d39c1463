"""An optimizer that a manual `training_step` steps, and whose gradients nobody sets to zero.

## Why is this bad?
With `automatic_optimization = False` Lightning no longer calls `zero_grad()`. Without it every step adds to the
gradients of all steps before. Under `16-mixed` it is worse, and silent: the first steps of a gradient scaler overflow
by design, the infinities stay in `.grad` for good, so every later step is skipped and the scale is halved, down to
nothing. Of 32 steps none changed a weight, where 30 did with `zero_grad()` (Lightning 2.4.0 and 2.6.6).

## Fix safety
Unsafe: training takes another course, for it now does what it says. `zero_grad()` is put before the first backward of
the step, and behind the step where gradients are accumulated (`if batch_idx % 4 == 0: opt.step()`).

## When it is not offered
Nothing is said where anything in the class or its ancestors zeroes gradients in a way that may concern this optimizer
(`self.zero_grad()`, `p.grad = None`), or hands the optimizer to a function that might, and where a callback of the
project zeroes gradients. Reported, but left as it is, where the backward that belongs to the step is not seen in the
same method, runs in a closure, or stands outside the condition under which the optimizer steps.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from codemods.frameworks.gradient_consumers import Code, inside
from codemods.frameworks.lightning.hooks import BACKWARD_HOOKS, TRAINING, runs
from codemods.frameworks.lightning.optimizers import ALL, which
from codemods.model.edits import Consequence, Safety
from codemods.model.names import LIGHTNING_CALLBACK, LIGHTNING_MODULE, LIGHTNING_SETUP
from codemods.project.index import Ref
from codemods.rules.context import Context
from codemods.rules.rule import Draft, Rule
from codemods.syntax import flow
from codemods.syntax.rewrite import Replacement, insert, statement

rule = Rule(
    code="PL002",
    name="manual-step-without-zero-grad",
    summary="an optimizer is stepped by hand, but nothing sets its gradients to zero",
    fix_title="Call `zero_grad()` before the backward pass",
    safety=Safety.UNSAFE,
    consequence=Consequence.SILENT,
    triggers=(("step",), ("optimizers",)),
    together=(("step",),),
    subclasses=LIGHTNING_MODULE,
    references=("https://lightning.ai/docs/pytorch/stable/model/manual_optimization.html",),
)

HARMLESS = frozenset(
    {"toggle_optimizer", "untoggle_optimizer", "toggled_optimizer", "clip_gradients", "isinstance", "print", "len"}
)
"""Calls that take an optimizer and leave its gradients alone, or as good as."""
BLOCKS = (cst.IndentedBlock, cst.SimpleStatementSuite)


@rule.on(cst.Call)
def step_without_zero_grad(call: cst.Call, ctx: Context) -> Iterator[Draft]:
    if not isinstance(call.func, cst.Attribute) or call.func.attr.value != "step":
        return
    stepped = which(ctx, call.func.value)
    method = ctx.method(call)
    if not stepped or method is None or not ctx.index.descends(method.owner, LIGHTNING_MODULE):
        return
    if ctx.index.constant(method.owner, "automatic_optimization", LIGHTNING_SETUP) is not False:
        return
    zeroed = _zeroed(ctx, method.klass)
    if zeroed is None or ALL in zeroed or stepped & zeroed or (ALL in stepped and zeroed):
        return
    if _handed_on(ctx, method.klass) or not runs(ctx, method.owner, method.node, TRAINING):
        return
    if _callback_zeroes(ctx):
        return
    if call.args and not _own_closure(ctx, call, method.node):
        return
    name = ctx.module.code_for_node(call.func.value)
    message = f"`{name}` is stepped, but nothing sets its gradients to zero"
    if call.args or ctx.scope(call) is not method.node:
        yield rule.finding(call, message=message)
    elif _accumulates(ctx, call):
        title = "Call `zero_grad()` after the step"
        yield rule.finding(
            call, fix=insert(ctx, call, [f"{name}.zero_grad()"], after=True), message=message, title=title
        )
    elif (place := _first_backward(ctx, call, method.node)) is None:
        yield rule.finding(call, message=message)
    else:
        anchor, loop = place
        yield rule.finding(call, fix=_zeroing(ctx, name, anchor, loop), message=message)


def _zeroed(ctx: Context, klass: cst.ClassDef) -> frozenset[str] | None:
    """The optimizers whose gradients the class zeroes; None where it may do so in another way."""
    for ref in ctx.index.lineage(ctx.ref(klass)).refs:
        other = ctx.other(ref.path)
        if other is not None and any(_mentions_zeroing(k) for k in other.classes(ref.name) if k is not klass):
            return None
    found: set[str] = set()
    for node in _deep(klass):
        match node:
            case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value="zero_grad"))):
                if not (zeroed := which(ctx, owner)):
                    return None
                found |= zeroed
            case cst.AssignTarget(target=cst.Attribute(attr=cst.Name(value="grad"))):
                return None
            case cst.Attribute(value=cst.Attribute(attr=cst.Name(value="grad")), attr=cst.Name(value="zero_")):
                return None
            case cst.Name(value="optimizer_zero_grad"):
                return None
    return frozenset(found)


def _mentions_zeroing(klass: cst.ClassDef) -> bool:
    names = {node.value for node in _deep(klass) if isinstance(node, cst.Name)}
    return bool(names & {"zero_grad", "grad", "optimizer_zero_grad"})


def _deep(klass: cst.ClassDef) -> Iterator[cst.CSTNode]:
    """The nodes of a class, those of its methods too."""
    for node in flow.own(klass.body):
        yield node
        if isinstance(node, (cst.FunctionDef, cst.Lambda)):
            yield from inside(node)


def _callback_zeroes(ctx: Context) -> bool:
    """Whether a callback of the project zeroes gradients, itself or in a function that it calls."""
    hooks = (*(hook for hook in TRAINING if hook != "training_step"), *BACKWARD_HOOKS)
    for path in ctx.index.search(ctx.path, tuple(hook.encode() for hook in hooks)):
        facts = ctx.index.facts(path)
        for name, klass in facts.classes.items() if facts else ():
            hooked = any(hook in klass.methods for hook in hooks)
            if hooked and ctx.index.descends(Ref(path, name), LIGHTNING_CALLBACK) and (other := ctx.other(path)):
                methods = (other.definition(f"{name}.{method}") for method in klass.methods)
                if any(_zeroes(node) for _, node in Code(m for m in methods if m).nodes):
                    return True
    return False


def _zeroes(node: cst.CSTNode) -> bool:
    match node:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="zero_grad"))):
            return True
        case cst.AssignTarget(target=cst.Attribute(attr=cst.Name(value="grad"))):
            return True
        case cst.Attribute(value=cst.Attribute(attr=cst.Name(value="grad")), attr=cst.Name(value="zero_")):
            return True
    return False


def _handed_on(ctx: Context, klass: cst.ClassDef) -> bool:
    """Whether an optimizer is given to a function, which may zero its gradients."""
    for node in _deep(klass):
        if isinstance(node, cst.Call) and (ctx.name(node.func) or "").rpartition(".")[2] not in HARMLESS:
            if any(which(ctx, a.value) for a in node.args):
                return True
    return False


def _own_closure(ctx: Context, call: cst.Call, method: cst.FunctionDef) -> bool:
    """Whether the closure given to `step` stands in this method."""
    names = {ctx.name(a.value) for a in call.args}
    return any(isinstance(n, cst.FunctionDef) and n.name.value in names for n in inside(method))


def _accumulates(ctx: Context, step: cst.Call) -> bool:
    """Whether the step is taken under a condition on the number of the batch, the backward outside of it."""
    for above in ctx.ancestors(step):
        if isinstance(above, cst.FunctionDef):
            return False
        if isinstance(above, cst.If):
            asked = (above.test, *flow.own(above.test))
            counted = any(_is_modulo(n) or "accum" in (ctx.name(n) or "") for n in asked)
            within = any(isinstance(n, cst.Call) and ctx.loss_of(n) is not None for n in flow.own(above))
            if counted and not within:
                return True
    return False


def _is_modulo(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Modulo)


def _first_backward(ctx: Context, step: cst.Call, method: cst.FunctionDef) -> tuple[cst.CSTNode, cst.For | None] | None:
    """The statement before which to zero, and the loop over optimizers in which the step stands."""
    events = [
        (node, ctx.loss_of(node) is not None)
        for node in flow.own(method.body)
        if isinstance(node, cst.Call) and (ctx.loss_of(node) is not None or _is_step(ctx, node))
    ]
    before = events[: next(i for i, (node, _) in enumerate(events) if node is step)]
    while before and not before[-1][1]:
        before.pop()
    first = None
    while before and before[-1][1]:
        first = before.pop()[0]
    if first is None:
        return None
    blocks = {b for b in ctx.ancestors(first) if isinstance(b, BLOCKS)}
    loop: cst.For | None = None
    below: cst.CSTNode = step
    for above in ctx.ancestors(step):
        if above in blocks:
            return _anchor(ctx, first, above, step, loop)
        if isinstance(above, cst.For) and below is above.body and _loops_over(above, step) and loop is None:
            loop = above
        elif isinstance(above, (cst.If, cst.For, cst.While, cst.Try, cst.TryStar, cst.Match, cst.FunctionDef)):
            return None
        below = above
    return None


def _anchor(
    ctx: Context, first: cst.CSTNode, block: cst.CSTNode, step: cst.Call, loop: cst.For | None
) -> tuple[cst.CSTNode, cst.For | None] | None:
    """The statement of `block` that holds the first backward, if the optimizer is known by then."""
    around = list(ctx.ancestors(first))
    below = around[around.index(block) - 1]
    if isinstance(below, cst.SimpleStatementLine):
        below = ctx.statement(first) or below
    elif loop is not None and isinstance(block, cst.SimpleStatementSuite):
        return None
    receiver = loop.iter if loop is not None else step.func.value  # type: ignore[attr-defined]
    for name in (n for n in (receiver, *flow.own(receiver)) if isinstance(n, cst.Name)):
        for binding in ctx.assigned(name) or ():
            held_by = next((b for b in ctx.ancestors(binding.node) if isinstance(b, BLOCKS)), None)
            if held_by not in around or flow.order(ctx.parents, binding.node, first) is not flow.Order.BEFORE:
                return None
    return below, loop


def _is_step(ctx: Context, call: cst.Call) -> bool:
    return isinstance(call.func, cst.Attribute) and call.func.attr.value == "step" and bool(which(ctx, call.func.value))


def _loops_over(loop: cst.For, step: cst.Call) -> bool:
    target = loop.target
    receiver = step.func.value  # type: ignore[attr-defined]
    return isinstance(target, cst.Name) and isinstance(receiver, cst.Name) and target.value == receiver.value


def _zeroing(ctx: Context, name: str, anchor: cst.CSTNode, loop: cst.For | None) -> dict[cst.CSTNode, Replacement]:
    """`opt.zero_grad()`, or a loop of it, before a statement."""
    if loop is None:
        return insert(ctx, anchor, [f"{name}.zero_grad()"], after=False)
    header = f"for {name} in {ctx.module.code_for_node(loop.iter)}:"
    code = f"{header}\n{ctx.module.default_indent}{name}.zero_grad()\n"
    line = ctx.parent(anchor)
    if not isinstance(line, cst.SimpleStatementLine) or len(line.body) == 1:
        return insert(ctx, anchor, [code], after=False)
    at = next(i for i, each in enumerate(line.body) if each is anchor)
    front, rest = list(line.body[:at]), line.body[at:]
    if not front:
        zeroing = statement(ctx, code).with_changes(leading_lines=line.leading_lines)
        return {line: [zeroing, line.with_changes(leading_lines=())]}
    front[-1] = front[-1].with_changes(semicolon=cst.MaybeSentinel.DEFAULT)
    head = cst.SimpleStatementLine(front, leading_lines=line.leading_lines)
    return {line: [head, statement(ctx, code), line.with_changes(body=rest, leading_lines=())]}
