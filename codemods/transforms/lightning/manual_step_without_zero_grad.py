"""An optimizer that a manual `training_step` steps, and whose gradients nobody sets to zero.

## Why is this bad?
With `automatic_optimization = False` Lightning no longer calls `zero_grad()`. Without it every step adds to the
gradients of all steps before. Under `16-mixed` it is worse, and silent: the first steps of a gradient scaler overflow
by design, the infinities stay in `.grad` for good, so every later step is skipped and the scale is halved, down to
nothing. Of 32 steps none changed a weight, where 30 did with `zero_grad()` (Lightning 2.4.0 and 2.6.6).

## Fix safety
Unsafe: training takes another course, for it now does what it says. `zero_grad()` is put before the first backward of
the step, and behind the step where gradients are accumulated (`if batch_idx % 4 == 0: opt.step()`). Possible where a
callback, a data module or a plugin of the project may zero them, and beside optimizers of the project.

## When it is not offered
Nothing is said where anything in the class or its ancestors zeroes gradients in a way that may concern this optimizer
(`self.zero_grad()`, `p.grad = None`), or hands the optimizer to a function that might, and where a callback of the
project zeroes gradients. Reported, but left as it is, where the backward that belongs to the step is not seen in the
same method, runs in a closure, or stands outside the condition under which the optimizer steps.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.acting import AROUND_STEPS
from codemods.analysis.calls import values
from codemods.analysis.gradient_use import ReachedCode, deep
from codemods.analysis.gradient_watchers import no_hook_changes_a_step
from codemods.analysis.mentions import Occurrence, called_by_text, definers, may_run_during, mentions, stores
from codemods.analysis.python_context import Method, PythonContext
from codemods.flow.answers import Answer, question, unless
from codemods.frameworks.lightning.closures import runs_by_hand
from codemods.frameworks.lightning.hooks import BACKWARD_HOOKS, TRAINING, runs
from codemods.frameworks.lightning.optimizers import ALL, which
from codemods.model.computed import Computed
from codemods.model.edits import Consequence, Evidence, Safety
from codemods.model.names import LIGHTNING_CALLBACK, LIGHTNING_MODULE, OPTIMIZER
from codemods.project.index import Ref
from codemods.rules.rule import Draft, Rule
from codemods.syntax.module import FUNCTIONS, LOOPS, TRIES, Function, own
from codemods.syntax.verbs import Verb, insert_after, insert_before

rule = Rule(
    code="PL002",
    name="manual-step-without-zero-grad",
    summary="an optimizer is stepped by hand, but nothing sets its gradients to zero",
    fix_title="Call `zero_grad()` before the backward pass",
    safety=Safety.UNSAFE,
    consequence=Consequence.SILENT,
    follows=True,
    computed=Computed.NOTHING,
    knows=AROUND_STEPS,
    triggers=(("step",), ("optimizers",)),
    subclasses=LIGHTNING_MODULE,
    references=("https://lightning.ai/docs/pytorch/stable/model/manual_optimization.html",),
)

HARMLESS = frozenset(
    {"toggle_optimizer", "untoggle_optimizer", "toggled_optimizer", "clip_gradients", "isinstance", "print", "len"}
)
"""Calls that take an optimizer and leave its gradients alone, or as good as."""


@rule.on(ast.Call)
def step_without_zero_grad(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "step":
        return
    stepped = which(ctx, call.func.value)
    method = ctx.method(call)
    if not stepped or method is None or not ctx.index.descends(method.owner, LIGHTNING_MODULE):
        return
    if not runs_by_hand(ctx, method):
        return
    zeroed = _zeroed(ctx, method.klass)
    if zeroed is None or ALL in zeroed or stepped & zeroed or (ALL in stepped and zeroed):
        return
    if _handed_on(ctx, method.klass) or not runs(ctx, method.owner, method.node, TRAINING):
        return
    if _callback_zeroes(ctx):
        return
    given = values(call)
    if given and not _own_closure(ctx, call, method.node):
        return
    is_bug = [nobody_else_zeroes(ctx, method), no_hook_changes_a_step(ctx), optimizers_are_torchs(ctx)]
    name = ctx.source(call.func.value)
    message = f"`{name}` is stepped, but nothing sets its gradients to zero"
    if given or ctx.scope(call) is not method.node:
        yield rule.finding(call, message=message, is_bug=is_bug)
    elif not _always_follows(ctx, call, method.node):
        title, fix = "Call `zero_grad()` after the step", [insert_after(call, f"{name}.zero_grad()")]
        counted = _counts_batches(ctx, call, method.node)
        yield rule.finding(call, fix=fix if counted else None, message=message, is_bug=is_bug, title=title)
    elif (place := _first_backward(ctx, call, method.node)) is None:
        yield rule.finding(call, message=message, is_bug=is_bug)
    else:
        anchor, loop = place
        yield rule.finding(call, fix=[_zeroing(ctx, name, anchor, loop)], message=message, is_bug=is_bug)


def _zeroed(ctx: PythonContext, klass: ast.ClassDef) -> frozenset[str] | None:
    """The optimizers whose gradients the class zeroes; None where it may do so in another way."""
    for ref in ctx.index.lineage(ctx.ref(klass)).refs:
        other = ctx.other(ref.path)
        if other is not None and any(_mentions_zeroing(k) for k in other.classes(ref.name) if k is not klass):
            return None
    found: set[str] = set()
    for node in _deep(klass):
        match node:
            case ast.Call(func=ast.Attribute(value=owner, attr="zero_grad")):
                if not (zeroed := which(ctx, owner)):
                    return None
                found |= zeroed
            case ast.Name(id="optimizer_zero_grad") | ast.Attribute(attr="optimizer_zero_grad"):
                return None
            case ast.FunctionDef(name="optimizer_zero_grad"):
                return None
            case _ if _sets_gradients(node):
                return None
    return frozenset(found)


@question
def nobody_else_zeroes(ctx: PythonContext, method: Method) -> Answer:
    """Whether no code of another class, such as the optimizer's own `step`, zeroes gradients while the method runs.

    A method may be called by a name that only a run tells (a law: `computed-name`).
    """
    lineage = {ref.path: ref for ref in ctx.index.lineage(method.owner).refs}
    scopes = ReachedCode([(ctx, method.node)]).scopes
    places = [*mentions(ctx, "zero_grad"), *(each for each in stores(ctx, "grad") if _sets(each))]
    zeroing = (
        each.evidence("this may set the gradients to zero")
        for each in places
        if _is_kept(each)
        or ((each.ctx.klass(each.node) or method.owner) != lineage.get(each.ctx.path) and may_run_during(each, scopes))
    )
    return unless([*zeroing, *called_by_text(ctx)])


@question
def optimizers_are_torchs(ctx: PythonContext) -> Answer:
    """Whether no class of the program is an optimizer with a `step` of its own, which may want gradients to pile up."""
    return unless(
        Evidence(path, klass.line, f"`{klass.name}` may need the gradients of the last step")
        for path, klass, _ in definers(ctx, "step")
        if ctx.index.descends(Ref(path, klass.name), OPTIMIZER) is not False
    )


def _is_kept(mention: Occurrence) -> bool:
    """Whether `zero_grad` is put away for others to call: under another name, by its name as a string, in a lambda."""
    if mention.word != "zero_grad":
        return False
    is_away = isinstance(mention.ctx.scope(mention.node), (ast.Lambda, ast.Module))
    return is_away or mention.call is None or isinstance(mention.node, ast.Constant)


def _sets(store: Occurrence) -> bool:
    """Whether what is put into `.grad` may be nothing, or zero."""
    return not isinstance(store.node, ast.Attribute) or _sets_gradients(store.node)


def _mentions_zeroing(klass: ast.ClassDef) -> bool:
    spoken = {"zero_grad", "grad", "optimizer_zero_grad"}
    for node in _deep(klass):
        match node:
            case (
                ast.Name(id=name)
                | ast.Attribute(attr=name)
                | ast.FunctionDef(name=name)
                | ast.keyword(arg=name)
                | ast.Constant(value=str(name))
            ):
                if name in spoken:
                    return True
    return False


def _deep(klass: ast.ClassDef) -> Iterator[ast.AST]:
    """The nodes of a class, those of its methods too."""
    for node in own(klass):
        yield node
        if isinstance(node, (ast.Lambda, *FUNCTIONS)):
            yield from deep(node)


def _callback_zeroes(ctx: PythonContext) -> bool:
    """Whether a callback of the project zeroes gradients, itself or in a function that it calls."""
    hooks = (*(hook for hook in TRAINING if hook != "training_step"), *BACKWARD_HOOKS)
    for path in ctx.index.search(ctx.path, tuple(hook.encode() for hook in hooks)):
        facts = ctx.index.facts(path)
        for name, klass in facts.classes.items() if facts else ():
            hooked = any(hook in klass.methods for hook in hooks)
            if (
                hooked
                and ctx.index.descends(Ref(path, name), LIGHTNING_CALLBACK) is not False
                and (other := ctx.other(path))
            ):
                methods = (other.definition(f"{name}.{method}") for method in klass.methods)
                if any(_zeroes(node) for _, node in ReachedCode(m for m in methods if m).nodes):
                    return True
    return False


def _zeroes(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr="zero_grad")):
            return True
    return _sets_gradients(node)


def _sets_gradients(node: ast.AST) -> bool:
    """`p.grad = …`, `del p.grad`, `p.grad.zero_()`."""
    match node:
        case ast.Attribute(attr="grad", ctx=ast.Store() | ast.Del()):
            return True
        case ast.Attribute(value=ast.Attribute(attr="grad"), attr="zero_"):
            return True
    return False


def _handed_on(ctx: PythonContext, klass: ast.ClassDef) -> bool:
    """Whether an optimizer is given to a function, which may zero its gradients."""
    for node in _deep(klass):
        if isinstance(node, ast.Call) and (ctx.name(node.func) or "").rpartition(".")[2] not in HARMLESS:
            if any(which(ctx, value) for value in values(node)):
                return True
    return False


def _own_closure(ctx: PythonContext, call: ast.Call, method: Function) -> bool:
    """Whether the closure given to `step` stands in this method."""
    names = {ctx.name(value) for value in values(call)}
    return any(isinstance(n, FUNCTIONS) and n.name in names for n in deep(method))


def _backwards(ctx: PythonContext, step: ast.Call, method: Function) -> list[ast.Call]:
    """The backward passes of a method that belong to a step of it: those behind the step before, last first."""
    events = [
        (node, ctx.loss_of(node) is not None)
        for node in own(method)
        if isinstance(node, ast.Call) and (ctx.loss_of(node) is not None or _is_step(ctx, node))
    ]
    before = events[: next((i for i, (node, _) in enumerate(events) if node is step), 0)]
    while before and not before[-1][1]:
        before.pop()
    found: list[ast.Call] = []
    while before and before[-1][1]:
        found.append(before.pop()[0])
    return found


def _always_follows(ctx: PythonContext, step: ast.Call, method: Function) -> bool:
    """Whether the step is taken after every backward pass before it; a loop over optimizers counts as their steps."""
    loops = [above.iter for above in ctx.ancestors(step) if isinstance(above, ast.For) and _loops_over(above, step)]
    flow = ctx.flow_of(method)
    return all(flow.surely_follows(call, [step, *loops]) for call in _backwards(ctx, step, method))


def _counts_batches(ctx: PythonContext, step: ast.Call, method: Function) -> bool:
    """Whether a condition on the number of the batch decides about the step, and about no backward pass."""
    flow = ctx.flow_of(method)
    tests = flow.tests(step).items() - {
        item for call in _backwards(ctx, step, method) for item in flow.tests(call).items()
    }
    return any(_is_of_a_number(test) for test, _ in tests)


def _is_of_a_number(test: str) -> bool:
    nodes = ast.walk(ast.parse(test, mode="eval"))
    return any(isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mod) for n in nodes) or "accum" in test


def _first_backward(ctx: PythonContext, step: ast.Call, method: Function) -> tuple[ast.stmt, ast.For | None] | None:
    """The statement before which to zero, and the loop over optimizers in which the step stands."""
    if not (backwards := _backwards(ctx, step, method)):
        return None
    first = backwards[-1]
    blocks = {ctx.module.block(s) for s in ctx.ancestors(first) if isinstance(s, ast.stmt)}
    loop: ast.For | None = None
    for statement in ctx.ancestors(step):
        if not isinstance(statement, ast.stmt):
            continue
        block = ctx.module.block(statement)
        if block in blocks:
            return _anchor(ctx, first, block, step, loop)
        around = block[0]
        if isinstance(around, ast.For) and block[1] == "body" and _loops_over(around, step) and loop is None:
            loop = around
        elif isinstance(around, (ast.If, *LOOPS, *TRIES, ast.Match, *FUNCTIONS)):
            return None
    return None


def _anchor(
    ctx: PythonContext, first: ast.Call, block: tuple[ast.AST, str], step: ast.Call, loop: ast.For | None
) -> tuple[ast.stmt, ast.For | None] | None:
    """The statement of `block` that holds the first backward, if the optimizer is known by then."""
    around = [s for s in ctx.ancestors(first) if isinstance(s, ast.stmt)]
    held_in = [ctx.module.block(s) for s in around]
    below = around[held_in.index(block)]
    receiver = loop.iter if loop is not None else step.func.value  # type: ignore[attr-defined]
    for name in (n for n in (receiver, *own(receiver)) if isinstance(n, ast.Name)):
        for binding in ctx.assigned(name) or ():
            bound = ctx.statement(binding.node)
            if bound is None or ctx.module.block(bound) not in held_in:
                return None
            if not ctx.flow_of(ctx.scope(first)).stands_before(bound, first):
                return None
    return below, loop


def _is_step(ctx: PythonContext, call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == "step" and bool(which(ctx, call.func.value))


def _loops_over(loop: ast.For, step: ast.Call) -> bool:
    target = loop.target
    receiver = step.func.value  # type: ignore[attr-defined]
    return isinstance(target, ast.Name) and isinstance(receiver, ast.Name) and target.id == receiver.id


def _zeroing(ctx: PythonContext, name: str, anchor: ast.stmt, loop: ast.For | None) -> Verb:
    """`opt.zero_grad()`, or a loop of it, before a statement."""
    if loop is None:
        return insert_before(anchor, f"{name}.zero_grad()")
    return insert_before(anchor, f"for {name} in {ctx.source(loop.iter)}:\n    {name}.zero_grad()")
