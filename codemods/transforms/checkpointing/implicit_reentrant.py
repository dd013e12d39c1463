"""`checkpoint(block, x)` without `use_reentrant`: reentrant by default.

## Why is this bad?
Reentrant checkpointing runs the block once under `no_grad` and builds its graph later, behind a function whose inputs
are the block's *positional tensors*. Where none of them requires a gradient (frozen embeddings, LoRA, raw data, inputs
given by closure, by keyword or in a dict), the block's parameters get none. If something after the block still
trains, nothing is raised; the only sign is a warning, else the backward fails:

    UserWarning: None of the inputs have requires_grad=True. Gradients will be None
    RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn

It also refuses `torch.autograd.grad` and `backward(inputs=…)`, and fails under DistributedDataParallel with
`Expected to mark a variable ready only once`. PyTorch has recommended `use_reentrant=False` since 2.1, and warns where
the argument is missing (every version from 2.1 to 2.15 falls back to `True`, none raises):

    UserWarning: torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly.

## Fix safety
`non-reentrant` (default) writes `use_reentrant=False`. Loss and gradients of a model that trains reentrant stay the
same, bit for bit. It is safe where all code that runs in the block was followed and is harmless; else it is unsafe,
for some blocks train reentrant and fail otherwise: TorchScript inside (`failed in the TorchScript interpreter`), an
`autograd.Function` that reads its saved tensors twice (`CheckpointError: Unpack is being triggered`), Python's or
numpy's random numbers (`different number of tensors`), a cache that grows (`different metadata`), or a closure over a
variable that changes before the backward. The message says what is in the way.

`preserve` writes `use_reentrant=True`: the behaviour of today, without the warning. Always safe.

## When it is not offered
Where `**kwargs` may hold the argument, or `context_fn`, `debug` or `respect_saved_tensors_hooks` is given (they belong
to the other variant); in code that tests versions; where the project replaces `torch.utils.checkpoint.checkpoint`; and
for functions of the same name from elsewhere. A closure without inputs over a variable that changes before the backward
(`x = x + checkpoint(lambda: f(x))`) is only reported: the recomputation would read the new value, and bring gradients,
but wrong ones. So is a call in a project that allows no torch from 2.1 on, which does not warn; where an input surely
requires a gradient, it costs nothing there, and nothing is said. In projects with flex attention, or that train frozen
weights under DeepSpeed ZeRO-3 (`CheckpointError … recomputed {'shape': [0]}`), only `preserve` is offered. The
decorator form (`@checkpoint(preserve_rng_state=False)`) exists from torch 2.14.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator

from codemods.analysis.calls import keyword, literal
from codemods.analysis.instances import called
from codemods.analysis.mentions import stores
from codemods.analysis.python_context import PythonContext
from codemods.flow.answers import Answer, question, unknown, unless, yes
from codemods.frameworks.checkpointing.closures import late_bound
from codemods.frameworks.checkpointing.project_traits import (
    adapters,
    forbids_non_reentrant,
    may_forbid_non_reentrant,
    no_hook_runs_inside,
)
from codemods.frameworks.checkpointing.reachable import trouble_in
from codemods.model.computed import Computed
from codemods.model.edits import Consequence, Safety
from codemods.model.effect import Effect
from codemods.model.names import CHECKPOINT, CHECKPOINT_SEQUENTIAL
from codemods.project import versions
from codemods.project.index import Index
from codemods.rules.rule import Draft, Remedy, Rule
from codemods.syntax.module import FUNCTIONS, TRIES, Function, dotted, own, walk
from codemods.syntax.verbs import edit_call

OTHER_VARIANT = frozenset({"context_fn", "debug", "respect_saved_tensors_hooks"})

rule = Rule(
    code="CKP001",
    name="implicit-reentrant",
    summary="`checkpoint` without `use_reentrant` is reentrant, and cuts gradients where no input requires one",
    fix_title="Pass `use_reentrant=False`",
    safety=Safety.SAFE,
    consequence=Consequence.WARNS,
    effect=Effect.NEW_GRADIENTS,
    follows=True,
    computed=Computed.NOTHING,
    knows=("requires_grad", "requires_grad_"),
    triggers=(("checkpoint", "checkpoint_sequential"),),
    errors=(
        "the use_reentrant parameter should be passed explicitly",
        "torch.utils.checkpoint: please pass in use_reentrant=True or use_reentrant=False explicitly",
        "None of the inputs have requires_grad=True. Gradients will be None",
        "element 0 of tensors does not require grad and does not have a grad_fn",
        "none of output has requires_grad=True, this checkpoint() is not necessary",
        "torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` parameter to .backward()",
        "Checkpointing is not compatible with .grad() or when an `inputs` parameter is passed to .backward()",
        "Expected to mark a variable ready only once",
    ),
    references=(
        "https://docs.pytorch.org/docs/stable/checkpoint.html",
        "https://github.com/hiyouga/LlamaFactory/issues/6675",
    ),
    strategies=("non-reentrant", "preserve"),
)


@rule.on(ast.Call)
def implicit_reentrant(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    floor = "1.11"
    given: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
    function = called(ctx, call)
    if function == {"functools.partial"} and call.args:
        function, given = ctx.origin(call.args[0]), given[1:]
        if _given_later(ctx):
            return
    if not function or not function <= CHECKPOINT:
        return
    names = {k.arg for k in call.keywords}
    if "use_reentrant" in names or names & OTHER_VARIANT or None in names:
        return
    sequential = function == {CHECKPOINT_SEQUENTIAL}
    if sequential and (len(given) > 3 or any(isinstance(a, ast.Starred) for a in call.args)):
        return
    if _tests_versions(ctx, call) or _is_replaced(ctx):
        return
    first = given[0] if given else None
    if sequential:
        floor = "2.0"
    elif first is None or isinstance(first, ast.keyword):
        floor = "2.14"
    what, is_right = _checkpointed(ctx, call, first if isinstance(first, ast.expr) else None, sequential)
    is_right += [nothing_changes_after(ctx, call), no_hook_runs_inside(ctx)]
    value = first.value if isinstance(first, (ast.keyword, ast.Starred)) else first
    late = late_bound(ctx, value) if value is not None else None
    if late is not None and len(given) > 1:
        why = f"`{late}` may have another value when it is recomputed; pass it as an input"
        is_right.append(unknown(ctx.evidence(call, why)))
        late = None
    costs, surely = _costs(ctx, call, sequential)
    if surely or not _input_requires_gradient(ctx, call):
        yield _draft(ctx, call, what, costs, surely, is_right, floor, late)


def _costs(ctx: PythonContext, call: ast.Call, sequential: bool) -> tuple[str, bool]:
    """What the call costs, for the message, and whether it surely costs something."""
    first = "2.4" if sequential else "2.1"
    warns = versions.may(ctx.target("torch"), f">={first}")
    lost = "its parameters get no gradient unless an input requires one"
    if not warns:
        return f"without `use_reentrant`: {lost}", False
    if _input_requires_gradient(ctx, call):
        return f"without `use_reentrant` warns since torch {first}; an input requires a gradient, so none is lost", True
    return f"without `use_reentrant` warns since torch {first}, and {lost}", True


def _input_requires_gradient(ctx: PythonContext, call: ast.Call) -> bool:
    """Whether the call runs only where an input requires a gradient: `if x.requires_grad: checkpoint(f, x)`."""
    names = {ctx.name(given) for given in (*call.args[1:], *(k.value for k in call.keywords))} - {None}
    below: ast.AST = call
    for above in ctx.ancestors(call):
        if isinstance(above, FUNCTIONS):
            return False
        if isinstance(above, ast.If) and below in above.body:
            for part in _conjuncts(above.test):
                if isinstance(part, ast.Attribute) and part.attr == "requires_grad" and ctx.name(part.value) in names:
                    return True
        below = above
    return False


def _conjuncts(test: ast.expr) -> Iterator[ast.expr]:
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        for value in test.values:
            yield from _conjuncts(value)
    else:
        yield test


def _draft(
    ctx: PythonContext,
    call: ast.Call,
    what: str,
    costs: str,
    surely: bool,
    is_right: list[Answer],
    floor: str,
    late: str | None,
) -> Draft:
    trained = adapters(ctx)
    forbidden = forbids_non_reentrant(ctx, partly_frozen=trained is not None)
    doubtful = may_forbid_non_reentrant(ctx) if trained is not None and forbidden is None else None
    evidence = [each for each in (forbidden, trained if forbidden or doubtful else None) if each]
    consequence = Consequence.WARNS if surely else Consequence.STYLE
    message = f"{what} {costs}"
    if late:
        message = f"{what} has no input, and no gradient; pass it `{late}`, which changes before the recomputation"
    elif forbidden:
        message += f"; left so: {forbidden.why}"
    elif doubtful:
        why = "DeepSpeed is used, and ZeRO-3 over frozen weights needs the reentrant variant"
        is_right = [*is_right, unknown(dataclasses.replace(doubtful, why=why))]
    target = ctx.target("torch")
    requires = {"torch": f">={floor}"} if floor == "2.14" or (target and target.spec) else {}
    remedies: dict[str, Remedy] = {}
    if not forbidden and not late:  # without an input it would bring gradients, but of other data: pass an argument
        fix = [edit_call(call, last=[("use_reentrant", "False")])]
        remedies["non-reentrant"] = Remedy(fix, is_right=is_right, requires=requires, on_request=not surely)
    fix = [edit_call(call, last=[("use_reentrant", "True")])]
    title = "Pass `use_reentrant=True`"  # it repairs nothing: it is for those who ask for it
    remedies["preserve"] = Remedy(fix, title, requires=requires, on_request=True)
    bites = {"torch": f">={floor}"}
    is_bug = [checkpoint_is_torchs(ctx)]
    return rule.offer(
        call, remedies, message=message, is_bug=is_bug, bites=bites, evidence=evidence, consequence=consequence
    )


def _checkpointed(
    ctx: PythonContext, call: ast.Call, function: ast.expr | None, sequential: bool
) -> tuple[str, list[Answer]]:
    """What is checkpointed, for the message, and whether the other variant suits it."""
    if function is not None and not isinstance(function, ast.Starred):
        what = f"`{'checkpoint_sequential' if sequential else 'checkpoint'}({ctx.written(function)}, …)`"
        return what, [runs_the_same_twice(ctx, call, function, several=sequential)]
    decorated = ctx.parent(call)
    if isinstance(decorated, FUNCTIONS) and call in decorated.decorator_list:
        return f"`checkpoint` on `{decorated.name}`", [runs_the_same_twice(ctx, call, decorated)]
    return "`checkpoint`", [unknown(ctx.evidence(call, "what it runs is not in sight"))]


@question
def runs_the_same_twice(
    ctx: PythonContext, call: ast.Call, function: ast.expr | Function, *, several: bool = False
) -> Answer:
    """Whether what is checkpointed is in sight as a whole, and may run twice without a trace."""
    if (trouble := trouble_in(ctx, function, several=several)) is not None:
        return unknown(trouble)
    preserved = keyword(call, "preserve_rng_state")
    if preserved is not None and literal(preserved) is not True:
        return unknown(ctx.evidence(preserved, "the random state is not kept"))
    return yes()


@question
def nothing_changes_after(ctx: PythonContext, call: ast.Call) -> Answer:
    """Whether the function changes nothing after the call, so that the recomputation runs the same."""
    function = ctx.function(call)
    flow = ctx.flow_of(function) if function is not None else None
    for node in own(function) if function is not None else ():
        if flow is None or not isinstance(node, ast.expr) or not (how := _change(ctx, node)):
            continue
        if flow.reaches(call, node) or flow.comes_round(call, node):
            return unknown(ctx.evidence(node, f"{how} after it, and before it is recomputed"))
    return yes()


def _change(ctx: PythonContext, node: ast.expr) -> str:
    """What a node changes of an object that what is recomputed may read; empty: nothing.

    An attribute may be the target of any statement (`stage_of_a_loop`); a method of the project may set one
    (`set_by_a_method`).
    """
    match node:
        case ast.Call(func=ast.Attribute(attr="eval" | "train" as name)) if len(node.args) + len(node.keywords) < 2:
            return f"`{name}()` is called"
        case ast.Call(func=ast.Name(id="setattr" | "delattr")):
            return "an attribute is set"
        case ast.Attribute(ctx=ast.Store() | ast.Del()):
            return f"`{ctx.name(node)}` is set"
        case ast.Subscript(value=ast.Attribute() as held, ctx=ast.Store() | ast.Del()):
            return f"`{ctx.name(held)}` is changed"
        case ast.Call(func=ast.Attribute()) if (run := ctx.callee(node)) is not None and run[0].method(run[1]):
            stores = (each for each in own(run[1]) if isinstance(each, ast.Attribute))
            if any(isinstance(each.ctx, ast.Store) for each in stores):
                return f"`{ctx.written(node.func)}` sets an attribute"
    return ""


def _given_later(ctx: PythonContext) -> bool:
    """Whether something else than `checkpoint` itself is called with `use_reentrant` in this file."""
    if (_given_later,) not in ctx.memo:
        calls = (each for each in ctx.all(ast.Call) if keyword(each, "use_reentrant") is not None)
        ctx.memo[_given_later,] = any(not ctx.means(each.func, CHECKPOINT) for each in calls)
    return bool(ctx.memo[_given_later,])


@question
def checkpoint_is_torchs(ctx: PythonContext) -> Answer:
    """Whether no code puts a function of its own into a module of torch, under a name that is not in sight."""
    return unless(
        each.evidence("`checkpoint` may be replaced here")
        for each in stores(ctx, "checkpoint")
        if isinstance(each.node, ast.Call) and each.ctx.origin(each.node.args[0])
    )


def _is_replaced(ctx: PythonContext) -> bool:
    """Whether the project puts another function (deepspeed's) in the place of torch's; it takes no keywords."""
    paths = ctx.index.search(ctx.path, (b"checkpoint.checkpoint",))
    return any(_replaces(ctx.index, path) for path in paths)


def _replaces(index: Index, path: str) -> bool:
    def found() -> bool:
        module = index.syntax(path)
        targets = (target for each in (module.all(ast.Assign) if module else ()) for target in each.targets)
        return any((dotted(target) or "").endswith("checkpoint.checkpoint") for target in targets)

    return index.recall((_replaces, path), found)


def _tests_versions(ctx: PythonContext, call: ast.Call) -> bool:
    """Whether the call stands in a branch for certain versions, or for those that refuse `use_reentrant`."""
    below: ast.AST = call
    for above in ctx.ancestors(call):
        if isinstance(above, (ast.If, ast.IfExp)) and below is not above.test:
            test = ast.unparse(above.test).lower()
            if any(word in test for word in ("version", "reentrant", "signature", "torch_")):
                return True
        if isinstance(above, ast.ExceptHandler):
            around = ctx.parent(above)
            tried = around.body if isinstance(around, TRIES) else ()  # type: ignore[attr-defined]
            if any(_says_use_reentrant(node) for statement in tried for node in walk(statement)):
                return True
        below = above
    return False


def _says_use_reentrant(node: ast.AST) -> bool:
    match node:
        case ast.keyword(arg="use_reentrant") | ast.Constant(value="use_reentrant") | ast.Name(id="use_reentrant"):
            return True
    return False
