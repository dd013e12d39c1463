"""Plain loops of torch: what the calls of a training do to its optimizer, its model and its scheduler, as tables.

The protocols below are literals: which event leads from which state to which, and which must not come.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Mapping

from codemods.analysis.calls import argument, binder, given, literal, positional, values
from codemods.analysis.gradient_use import ReachedCode
from codemods.analysis.instances import library_values
from codemods.analysis.mentions import may_run_during, mentions, stores
from codemods.analysis.optimizers import is_schedule, optimizes, stepped
from codemods.analysis.python_context import PythonContext
from codemods.analysis.scaled_training import writes
from codemods.analysis.sources import sources
from codemods.analysis.summaries import Cast, happenings
from codemods.analysis.values import possible_values
from codemods.flow.answers import Answer, no, question, unknown, unless, yes
from codemods.flow.control_flow import condition
from codemods.flow.protocols import ANY, ANYTHING, UNKNOWN, Course, Protocol, Summary, Violation, run
from codemods.syntax.module import FUNCTIONS, LOOPS, Scope, own

# -- events

BACKWARD, STEP, ZERO = "backward", "step", "zero"
"""Gradients are added, used by the optimizer, and thrown away."""
TRAIN, EVAL = "train", "eval"
"""The model is put into training mode, and into evaluation mode."""
MADE, ADVANCE = "made", "advance"
"""The scheduler is made, and stepped."""
MAY_BACKWARD, MAY_STEP, MAY_ZERO, MAY_SWITCH, MAY_ADVANCE = "backward?", "step?", "zero?", "mode?", "advance?"
"""The same of an object that may be this one."""
_LEAVES = "leaves"
"""Nothing that a protocol speaks of."""

# -- protocols

GRADIENTS = Protocol(
    UNKNOWN,
    {
        (ANY, ZERO): "clean",
        ("clean", BACKWARD): "held",
        (ANY, STEP): "used",
        ("used", BACKWARD): "repeated",
        (ANY, MAY_BACKWARD): UNKNOWN,
        (ANY, MAY_ZERO): UNKNOWN,
        (ANY, MAY_STEP): UNKNOWN,
    },
    {("repeated", STEP): "repeated", ("held", ZERO): "dropped", ("clean", STEP): "nothing"},
    keeps=frozenset({"repeated"}),
)
"""The gradients of an optimizer: none, those of batches since the last step, or also those that a step has used."""

MODE = Protocol(
    UNKNOWN,
    {
        (ANY, TRAIN): "training",
        ("training", STEP): "trained",
        ("training", EVAL): "evaluating",
        ("trained", EVAL): "left",
        (UNKNOWN, EVAL): "evaluating",
        (ANY, MAY_SWITCH): UNKNOWN,
    },
    {("left", STEP): "left in evaluation"},
)
"""The mode of a model: that of training, that of evaluation, or the latter after it was trained."""

SCHEDULE = Protocol(
    UNKNOWN,
    {
        (ANY, MADE): "new",
        ("new", ADVANCE): "early",
        (ANY, STEP): "stepped",
        ("stepped", ADVANCE): "advanced",
        (ANY, MAY_STEP): UNKNOWN,
        (ANY, MAY_ADVANCE): UNKNOWN,
    },
    {("new", ADVANCE): "early", ("advanced", ADVANCE): "outrun"},
)
"""A scheduler beside its optimizer: made, or advanced with and without a step in between."""

# -- tables

_OPTIMIZER = {
    "step": STEP,
    "zero_grad": ZERO,
    **dict.fromkeys(("state_dict", "load_state_dict", "add_param_group"), _LEAVES),
}
_MODEL = {
    "zero_grad": ZERO,
    "train": TRAIN,
    "eval": EVAL,
    **dict.fromkeys(
        (
            *("parameters", "named_parameters", "modules", "named_modules", "children", "named_children", "buffers"),
            *("state_dict", "load_state_dict", "to", "cuda", "cpu", "half", "float", "requires_grad_", "forward"),
            *("no_sync", "share_memory", "compile", "get_parameter", "get_submodule", "save_pretrained"),
        ),
        _LEAVES,
    ),
}
_SCHEDULER = {"step": ADVANCE, **dict.fromkeys(("state_dict", "load_state_dict", "get_last_lr", "get_lr"), _LEAVES)}
_MAY: Mapping[str, str] = {"zero_grad": MAY_ZERO, "train": MAY_SWITCH, "eval": MAY_SWITCH}
_HARMLESS = (
    *("torch", "torchvision", "torchaudio", "numpy", "tqdm", "logging", "wandb", "time", "os", "sys", "math", "random"),
    *("json", "copy", "matplotlib", "sklearn", "torchmetrics", "tensorboardX", "pathlib", "collections", "itertools"),
    *("transformers", "timm", "einops", "contextlib", "functools", "argparse", "pandas", "scipy", "datasets", "typing"),
)
"""Libraries that neither step an optimizer which they are given, nor zero its gradients, nor switch a model's mode."""
_TAKING = frozenset({"unscale_", "scale", "update", "prepare", "item", "append"})
"""Methods that are given an optimizer or a model, and leave it as it is."""


class LoopWords:
    """The vocabulary of plain training loops: the roles are `optimizer`, `model` and `scheduler`.

    Args:
        made: the calls that make the optimizer, as far as they are in sight.
        alone: whether the loop steps no other optimizer, so that each backward pass is meant for this one.
    """

    methods = frozenset({"step", "zero_grad", "train", "eval"})

    def __init__(self, made: frozenset[ast.Call], *, alone: bool) -> None:
        self.made, self.alone = made, alone

    def event(self, ctx: PythonContext, node: ast.AST, cast: Cast) -> str | None:
        """What a node does by itself."""
        if isinstance(node, (ast.Name, ast.Attribute)) and not isinstance(node.ctx, ast.Load):
            role = next((role for role, name in cast.items() if name == ctx.name(node)), "")
            if role:
                return MADE if role == "scheduler" and _is_made(ctx, node) else ANYTHING
        if isinstance(node, ast.Attribute):
            return MAY_ZERO if writes(ctx, node) or _is_deleted(ctx, node) else None
        if not isinstance(node, ast.Call):
            return None
        if (loss := ctx.loss_of(node)) is not None:
            return BACKWARD if self.alone or _is_of(ctx, loss, cast.get("model", "")) else MAY_BACKWARD
        name = ctx.name(node.func)
        if name is not None and name in cast.values():
            return _LEAVES  # `model(x)`
        if isinstance(node.func, ast.Attribute):
            return self._method(ctx, node, node.func, cast)
        return None

    def _method(self, ctx: PythonContext, call: ast.Call, func: ast.Attribute, cast: Cast) -> str | None:
        receiver, method = ctx.name(func.value), func.attr
        role = next((role for role, name in cast.items() if name == receiver), "")
        if role == "optimizer":
            return ANYTHING if method == "step" and (call.args or call.keywords) else _OPTIMIZER.get(method)
        if role == "scheduler":
            return _SCHEDULER.get(method)
        if role == "model":
            return _switched(call) if method == "train" else _MODEL.get(method)
        first = positional(call, 0)
        if method in ("step", "unscale_") and first is not None and ctx.name(first) == cast.get("optimizer"):
            return STEP if method == "step" else _LEAVES  # of a gradient scaler
        if method == "step":
            return self._of_another(ctx, call, func.value, cast)
        if method in _MAY:
            return _LEAVES if self._is_another(ctx, func.value) else _may(ctx, func.value, method, cast)
        return None

    def _of_another(self, ctx: PythonContext, call: ast.Call, receiver: ast.expr, cast: Cast) -> str | None:
        """What `x.step()` does, of something that has no role."""
        if is_schedule(ctx, receiver):
            return MAY_ADVANCE if "scheduler" in cast else _LEAVES
        if stepped(ctx, call) is None and optimizes(ctx, receiver) is False:
            return None
        return _LEAVES if self._is_another(ctx, receiver) else MAY_STEP

    def _is_another(self, ctx: PythonContext, node: ast.expr) -> bool:
        """Whether something surely is another optimizer: other calls make it (`two_optimizers`)."""
        if not self.made or optimizes(ctx, node) is not True:
            return False
        found, complete = possible_values(ctx, node, returns=True, given=given)
        return complete and bool(found) and self.made.isdisjoint(each.node for each in found)

    def is_harmless(self, ctx: PythonContext, call: ast.Call) -> bool:
        """Whether a call of a library leaves the objects that it is given as they are."""
        origins = ctx.origin(call.func)
        if origins:
            return all(":" not in each and each.partition(".")[0] in _HARMLESS for each in origins)
        func = call.func
        if isinstance(func, ast.Name):
            return hasattr(builtins, func.id) and not any(ctx.facts.named(func.id)) and func.id not in ctx.facts.rebound
        if not isinstance(func, ast.Attribute):
            return False
        if func.attr in _TAKING:
            return True
        made = library_values(ctx, func.value)
        return bool(made) and all(_is_plain(where, node) for where, node in made or ())


def _is_plain(ctx: PythonContext, node: ast.expr) -> bool:
    maker = node.func if isinstance(node, ast.Call) else node
    return all(each.partition(".")[0] in _HARMLESS for each in ctx.origin(maker))


def _switched(call: ast.Call) -> str:
    """What `model.train(…)` does."""
    if not call.args and not call.keywords:
        return TRAIN
    given = literal(call.args[0] if call.args else call.keywords[0].value)
    return TRAIN if given is True else EVAL if given is False else MAY_SWITCH


def _is_of(ctx: PythonContext, loss: ast.expr, model: str) -> bool:
    """Whether a loss is made of what a model computes, and hands gradients back to it."""
    made = sources(ctx, ctx.scope(loss), loss) if model else ()
    return any(isinstance(node, ast.Call) and ctx.name(node.func) == model and not _is_cut(ctx, node) for node in made)


def _is_cut(ctx: PythonContext, node: ast.AST) -> bool:
    """Whether a value is detached where it is made (`several`)."""
    within = (each for each in ctx.ancestors(node) if isinstance(each, ast.Attribute))
    return any(each.attr in ("detach", "data", "item") for each in within)


def _may(ctx: PythonContext, receiver: ast.expr, method: str, cast: Cast) -> str | None:
    """What `x.zero_grad()`, `x.train()` and `x.eval()` do, of something that has no role."""
    name, model = ctx.name(receiver), cast.get("model", "")
    if method != "zero_grad" and model and name is not None and name.startswith(f"{model}."):
        return _LEAVES  # a part of the model has a mode of its own
    return _MAY[method]


def _is_deleted(ctx: PythonContext, node: ast.Attribute) -> bool:
    return node.attr == "grad" and isinstance(node.ctx, ast.Del)


def _is_made(ctx: PythonContext, target: ast.Name | ast.Attribute) -> bool:
    """Whether a name is given a scheduler that a call makes."""
    match ctx.parent(target):
        case ast.Assign(value=ast.Call() as call) | ast.AnnAssign(value=ast.Call() as call):
            return is_schedule(ctx, call)
    return False


# -- the objects of a loop


def cast_of(ctx: PythonContext, step: ast.Call) -> dict[str, str]:
    """The optimizer that a call steps in a loop, by itself or by a scaler, and the model whose parameters it holds.

    Nothing where it steps nothing that surely is an optimizer; no model where the optimizer's constructor is not in
    sight, or is given the parameters of several.
    """
    if ctx.enclosing(step, *LOOPS) is None:
        return {}
    stepping = stepped(ctx, step)
    node = stepping if stepping is not None else positional(step, 0)
    if not isinstance(step.func, ast.Attribute) or step.func.attr != "step" or node is None:
        return {}
    name = ctx.name(node)
    if name is None or not _is_made_in_sight(ctx, node):
        return {}
    held = {model for where, call in makers(ctx, node) for model in _models(where, call, ctx, step)}
    return {"optimizer": name} | ({"model": held.pop()} if len(held) == 1 and "" not in held else {})


def _is_made_in_sight(ctx: PythonContext, node: ast.expr) -> bool:
    """Whether calls in sight make an optimizer, of a class that is one: another may zero gradients itself (`star`)."""
    found, complete = possible_values(ctx, node, returns=True, given=given)
    return (
        complete
        and bool(found)
        and all(
            isinstance(each.node, ast.Call) and not each.path and optimizes(each.ctx, each.node) is True
            for each in found
        )
    )


def makers(ctx: PythonContext, node: ast.expr) -> list[tuple[PythonContext, ast.Call]]:
    """The calls that make an object, as far as they are in sight."""
    found, _ = possible_values(ctx, node, returns=True, given=given)
    return [(each.ctx, each.node) for each in found if isinstance(each.node, ast.Call) and not each.path]


def _models(where: PythonContext, maker: ast.Call, ctx: PythonContext, step: ast.Call) -> Iterator[str]:
    """The names, where `step` stands, of the models whose parameters an optimizer is given; empty for what is not known
    there.
    """
    first = argument(maker, "params", 0)
    for node in sources(where, where.scope(maker), first) if first is not None else ():
        match node:
            case ast.Call(func=ast.Attribute(value=owner, attr="parameters" | "named_parameters")):
                name = where.name(owner)
                yield _known_as(where, maker, name, ctx, step) if name is not None else ""


def _known_as(where: PythonContext, maker: ast.Call, name: str, ctx: PythonContext, at: ast.AST) -> str:
    """What is called `name` where an object is made, by its name at another place; empty: it has none there."""
    made_in, used_in = where.method(maker), ctx.method(at)
    if where is not ctx:
        return ""
    if where.scope(maker) is ctx.scope(at):
        return name
    if made_in and used_in and made_in.owner == used_in.owner and name.startswith(f"{made_in.self}."):
        return f"{used_in.self}{name.removeprefix(made_in.self)}"
    function = ctx.scope(at)
    if isinstance(function, FUNCTIONS):
        for parameter in ctx.parameter_names(function):
            held = given(ctx, function, parameter)
            if held and all(each is not None and _is_named(each, where, maker, name) for each in held):
                return parameter
    head = name.partition(".")[0]
    return name if binder(ctx, head, at) is binder(where, head, maker) else ""


def _is_named(given: tuple[PythonContext, ast.expr], where: PythonContext, maker: ast.Call, name: str) -> bool:
    """Whether what a parameter is given is called so where an object was made."""
    ctx, value = given
    return ctx is where and ctx.name(value) == name and ctx.scope(value) is where.scope(maker)


def vocabulary(ctx: PythonContext, scope: Scope, cast: Cast) -> LoopWords:
    """What the nodes of a function do, with what is known of the optimizer of a cast there."""
    key = (vocabulary, scope, cast["optimizer"])
    if key not in ctx.memo:
        steps = [node for each in own(scope) if isinstance(each, ast.Call) and (node := stepped(ctx, each))]
        mine = [node for node in steps if ctx.name(node) == cast["optimizer"]]
        made = frozenset(call for node in mine[:1] for _, call in makers(ctx, node))
        others = any(each not in made for each in _made_around(ctx, scope))
        ctx.memo[key] = LoopWords(made, alone=len(mine) == len(steps) and not others)
    found: LoopWords = ctx.memo[key]
    return found


def _made_around(ctx: PythonContext, scope: Scope) -> Iterator[ast.Call]:
    """The calls that make optimizers which a function may know: its own, those of its class, those of the file."""
    read = {node.id for node in own(scope) if isinstance(node, ast.Name)}
    method = ctx.method(scope)
    inside = [each for each in own(method.klass) if isinstance(each, FUNCTIONS)] if method is not None else []
    for around in dict.fromkeys((scope, *inside, ctx.module.tree)):
        for name, bindings in ctx.bindings(around).items():
            if around is ctx.module.tree and scope is not around and name.partition(".")[0] not in read:
                continue
            for each in bindings:
                if isinstance(each.value, ast.Call) and optimizes(ctx, each.value) is True:
                    yield each.value


def course_of(ctx: PythonContext, scope: Scope, cast: Cast, protocol: Protocol) -> Course:
    """What a protocol says of the objects of a cast in a function."""
    key = (course_of, scope, tuple(sorted(cast.items())), id(protocol))
    if key not in ctx.memo:
        nodes = happenings(ctx, scope, cast, vocabulary(ctx, scope, cast), protocol)
        ctx.memo[key] = run(protocol, ctx.flow_of(scope), nodes, protocol.start)
    course: Course = ctx.memo[key]
    return course


def schedule_of(ctx: PythonContext, advance: ast.Call) -> dict[str, str]:
    """The scheduler that `scheduler.step()` steps, and its optimizer; nothing where one of them is not certain."""
    if not isinstance(advance.func, ast.Attribute) or advance.func.attr != "step":
        return {}
    node = advance.func.value
    name = ctx.name(node)
    if name is None or ctx.enclosing(advance, *LOOPS) is None or not is_schedule(ctx, node):
        return {}
    found = {_optimizer_of(where, call, ctx, advance) for where, call in makers(ctx, node)}
    optimizer = found.pop() if len(found) == 1 else ""
    return {"scheduler": name, "optimizer": optimizer} if optimizer else {}


def _optimizer_of(where: PythonContext, maker: ast.Call, ctx: PythonContext, advance: ast.Call) -> str:
    """The name, where a scheduler is stepped, of the optimizer that it was made for."""
    first = argument(maker, "optimizer", 0)
    name = where.name(first) if first is not None else None
    if first is None or name is None or not _is_made_in_sight(where, first):
        return ""
    return _known_as(where, maker, name, ctx, advance)


# -- questions about a loop


def counted(ctx: PythonContext, step: ast.Call, violation: Violation) -> ast.expr | None:
    """The test that was passed on the way, where it counts rounds and decides about a step; else None."""
    test = violation.passed[0] if len(violation.passed) == 1 else None
    if not isinstance(test, ast.expr) or not _counts(ctx, test):
        return None
    if any(isinstance(above, ast.If) and above.test is test for above in ctx.ancestors(step)):
        return test
    said = condition(test, holds=True)
    return test if said is not None and said[0] in ctx.flow_of(ctx.scope(step)).tests(step) else None


def _counts(ctx: PythonContext, test: ast.expr) -> bool:
    """Whether a test takes a remainder, itself or in what a name in it is given, or compares what counts rounds."""
    scope = ctx.scope(test)
    if any(isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) for node in sources(ctx, scope, test)):
        return True
    counters = {
        ctx.name(node.target)
        for node in own(scope)
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add) and isinstance(node.value, ast.Constant)
    }
    return isinstance(test, ast.Compare) and ctx.name(test.left) in counters - {None}


def is_zeroing(ctx: PythonContext, call: ast.Call, cast: Cast) -> bool:
    """Whether a call is the `zero_grad()` of the optimizer or of its model."""
    return vocabulary(ctx, ctx.scope(call), cast).event(ctx, call, cast) == ZERO


def happens_around(ctx: PythonContext, scope: Scope, cast: Cast, step: ast.Call) -> bool:
    """Whether loops around the one of a step do something to its optimizer, in their own rounds."""
    flow = ctx.flow_of(scope)
    inner = flow.loop(step)
    nodes = happenings(ctx, scope, cast, vocabulary(ctx, scope, cast), GRADIENTS)
    outer = (node for node, what in nodes.items() if GRADIENTS.speaks_of(what) and inner and flow.loop(inner, node))
    return any(all(above is not inner for above in ctx.ancestors(each)) for each in outer)


def reads_gradients(ctx: PythonContext, scope: Scope) -> bool:
    """Whether a function, or one that it calls, reads the gradients of something itself."""
    nodes = ReachedCode([(ctx, scope)]).nodes
    return any(isinstance(node, ast.Attribute) and node.attr == "grad" for _, node in nodes)


def is_stepped_after(ctx: PythonContext, scope: Scope, cast: Cast, node: ast.AST, loop: ast.AST) -> bool:
    """Whether the optimizer is stepped behind a place, in the same round of a loop."""
    flow, nodes = ctx.flow_of(scope), happenings(ctx, scope, cast, vocabulary(ctx, scope, cast), SCHEDULE)
    return any(
        flow.reaches(node, each) and any(above is loop for above in ctx.ancestors(each))
        for each, happening in nodes.items()
        if happening == STEP or (isinstance(happening, Summary) and "stepped" in happening.after.get(UNKNOWN, ()))
    )


def step_beside(ctx: PythonContext, scope: Scope, cast: Cast, node: ast.AST) -> ast.Call | None:
    """The only step of the optimizer in the loop around a place, and in no loop inside of that one (`by_epochs`)."""
    flow, words = ctx.flow_of(scope), vocabulary(ctx, scope, cast)
    loop = flow.loop(node)
    steps = [
        each
        for each in own(scope)
        if isinstance(each, ast.Call)
        and words.event(ctx, each, cast) == STEP
        and any(above is loop for above in ctx.ancestors(each))
    ]
    return steps[0] if len(steps) == 1 and loop is not None and flow.loop(steps[0]) is loop else None


@question
def no_other_code_zeroes(ctx: PythonContext, scope: Scope) -> Answer:
    """Whether nothing sets gradients to zero that may run during a function, and that it is not seen to call."""
    followed = ReachedCode([(ctx, scope)]).scopes
    zeroing = [
        each.evidence("this may set the gradients to zero")
        for each in mentions(ctx, "zero_grad")
        if (each.ctx.function(each.node) or each.ctx.module.tree) not in followed and may_run_during(each, followed)
    ]
    # of gradients that are views of something else, that may be zeroed (`views_of_a_buffer`)
    made = [each.evidence("gradients may be made here") for each in stores(ctx, "grad")]
    return unless((*zeroing, *made))


def is_meant_to_add_up(ctx: PythonContext, scope: Scope, cast: Cast, backward: ast.AST, test: ast.expr) -> bool:
    """Whether gradients are accumulated: the loss is divided by what a test counts to, or no other optimizer trains.

    Beside another one, an optimizer that is stepped in every N-th round only may leave out the others (`in_turns`).
    """
    if vocabulary(ctx, scope, cast).alone:
        return True
    loss = ctx.loss_of(backward)
    made = sources(ctx, scope, loss) if loss is not None else ()
    return any(
        isinstance(each, ast.BinOp) and isinstance(each.op, ast.Div) and ctx.source(each.right) in _windows(ctx, test)
        for each in made
    )


def _windows(ctx: PythonContext, test: ast.expr) -> set[str]:
    """What a test counts to, as text."""
    return {ctx.source(each) for each in _counted_to(test)}


def _counted_to(test: ast.expr) -> list[ast.expr]:
    """What a test takes a remainder by; without one, what it compares a counter with."""
    found = [each.right for each in ast.walk(test) if isinstance(each, ast.BinOp) and isinstance(each.op, ast.Mod)]
    return found or (test.comparators if isinstance(test, ast.Compare) else [])


@question
def a_window_has_several_rounds(ctx: PythonContext, test: ast.expr) -> Answer:
    """Whether a test holds in every N-th round only: no where it counts to one."""
    for each in _counted_to(test):
        found, complete = possible_values(ctx, each, given=given)
        told = {value.node.value if isinstance(value.node, ast.Constant) else None for value in found}
        if complete and told == {1}:
            return no()
        if not complete or not told or None in told or 1 in told:
            return unknown(ctx.evidence(each, f"`{ctx.written(each)}` may be 1"))
    return yes()


@question
def schedule_counts_steps(ctx: PythonContext, advance: ast.Call, test: ast.expr) -> Answer:
    """Whether the length of a schedule is counted in steps of the optimizer: divided by what a test counts to.

    No where it is the length of a loader, undivided: then it counts batches on purpose (`counted_in_batches`).
    """
    assert isinstance(advance.func, ast.Attribute)
    windows = _windows(ctx, test)
    for where, maker in makers(ctx, advance.func.value):
        given = [node for value in values(maker)[1:] for node in sources(where, where.scope(maker), value)]
        if any(isinstance(n, ast.Call) and where.callee(n) is not None for n in given):
            continue  # a function of the project counts
        divided = [n for n in given if isinstance(n, ast.BinOp) and isinstance(n.op, (ast.Div, ast.FloorDiv))]
        if any(where.source(each.right) in windows for each in divided):
            return yes(where.evidence(maker, "its length is divided by the batches of a step"))
        if not divided and any(isinstance(n, ast.Call) and where.name(n.func) == "len" for n in given):
            return no(where.evidence(maker, "its length is counted in batches"))
    return unknown(ctx.evidence(advance, "the schedule may be counted in batches"))
