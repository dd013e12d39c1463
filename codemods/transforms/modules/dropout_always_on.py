"""Dropout that stays on when the module is evaluated: `F.dropout(x, 0.1)` without `training`.

## Why is this bad?
`training` of `F.dropout`, `dropout1d`, `dropout2d` and `dropout3d` is True unless it is given, and
`F.scaled_dot_product_attention` drops whatever `dropout_p` says. `model.eval()` reaches neither, so that validation,
early stopping and predictions are noisy, and two passes over the same input differ (run on PyTorch 2.13). Nothing
raises and nothing warns.

## Fix safety
Unsafe: the numbers of an evaluation change, which is the point, and Monte Carlo dropout is written in the same way.
Training stays as it is.

## When it is not offered
Silent outside of the methods of a module, where `training` is given, in whatever way, where a test of it decides, where
the rate is 0, and in `training_step`. Possible where the rate may be 0 or is not in sight, where something else may set
it or decides, for a method that `forward` does not call, where nothing in the program evaluates a model, and where the
spread of several passes is taken.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence

from codemods.analysis.calls import argument, given, has_splat, literal, values
from codemods.analysis.mentions import Occurrence, is_mentioned, stores, told
from codemods.analysis.optimizers import uses_of
from codemods.analysis.python_context import Method, PythonContext
from codemods.analysis.values import possible_values
from codemods.flow.answers import Answer, every, no, question, unknown, unless, yes
from codemods.model.edits import Consequence, Evidence, Safety
from codemods.model.names import TORCH_MODULE
from codemods.rules.rule import Draft, Rule
from codemods.syntax.module import own
from codemods.syntax.verbs import edit_call

_DROPOUT = frozenset(f"torch.nn.functional.dropout{kind}" for kind in ("", "1d", "2d", "3d"))
_ATTENTION = "torch.nn.functional.scaled_dot_product_attention"
_TRAINED_BY = ("lightning", "pytorch_lightning", "transformers", "accelerate", "ignite", "fastai")
"""Libraries that evaluate models themselves."""
_SPREAD = ("std", "var", "std_mean", "var_mean", "quantile", "stdev", "variance")
"""Functions of samples of the same."""
_OF_TRAINING = frozenset({"training_step", "training_step_end", "__init__"})
"""Methods that run in training mode, or in no mode."""

rule = Rule(
    code="MOD001",
    name="dropout-always-on",
    summary="this dropout stays on when the module is evaluated",
    fix_title="Let the mode of the module decide",
    safety=Safety.UNSAFE,
    consequence=Consequence.SILENT,
    follows=True,
    triggers=(("dropout", "dropout1d", "dropout2d", "dropout3d", "scaled_dot_product_attention"),),
    subclasses=TORCH_MODULE,
    references=("https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.dropout.html",),
)


@rule.on(ast.Call)
def dropout_always_on(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    if not ctx.means(call.func, _DROPOUT | {_ATTENTION}):
        return
    method = ctx.method(call)
    if method is None or has_splat(call) or not _is_of_a_module(ctx, method):
        return
    if ctx.means(call.func, _DROPOUT):
        rate = argument(call, "p", 1)
        if argument(call, "training", 2) is not None:
            return
        fix = edit_call(call, last=[("training", f"{method.self}.training")])
    elif ctx.means(call.func, _ATTENTION) and (rate := argument(call, "dropout_p", 4)) is not None:
        written = ctx.source(rate) if isinstance(rate, ast.Constant) else ctx.operand(rate)
        gated = f"{written} if {method.self}.training else 0.0"
        fix = edit_call(call, values={next((k for k in call.keywords if k.value is rate), rate): gated})
    else:
        return
    is_bug = [
        no_test_of_the_mode(ctx, call, method),
        rate_is_positive(ctx, rate),
        runs_in_evaluation(ctx, method),
        something_evaluates(ctx, call),
        is_part_of_what_is_evaluated(ctx, method),
    ]
    if every(is_bug).is_yes:
        is_bug.append(nothing_is_sampled(ctx))  # which reads every file that takes a spread
    yield rule.finding(
        call,
        fix=[fix],
        message=f"this dropout is on in every mode of `{method.klass.name}`: `eval()` does not switch it off",
        is_bug=is_bug,
    )


def _is_of_a_module(ctx: PythonContext, method: Method) -> bool:
    static = any(ctx.name(each) in ("staticmethod", "classmethod") for each in method.node.decorator_list)
    if static or method.name in _OF_TRAINING:
        return False
    return ctx.index.descends(method.owner, TORCH_MODULE) is True


@question
def no_test_of_the_mode(ctx: PythonContext, call: ast.Call, method: Method) -> Answer:
    """Whether nothing but the call decides that something is dropped: no where a test of the mode does."""
    around = [each.test for each in ctx.ancestors(call) if isinstance(each, (ast.If, ast.IfExp, ast.While))]
    before = (each for each in own(method.node) if isinstance(each, ast.If) and each.lineno < call.lineno)
    around += [each.test for each in before if isinstance(each.body[-1], (ast.Return, ast.Raise))]
    asking = {"training"}.union(
        each.name for each in method.klass.body if isinstance(each, ast.FunctionDef) and _asks(each, {"training"})
    )
    if (decided := next((each for each in around if _asks(each, asking)), None)) is not None:
        return no(ctx.evidence(decided, "the mode decides"))
    others = [ctx.evidence(each, "this decides, too") for each in around]
    asked = (each for each in own(method.node) if isinstance(each, ast.Attribute) and each.attr == "training")
    return unless((*others, *(ctx.evidence(each, "the mode is asked here") for each in asked)))


def _asks(node: ast.AST, words: Collection[str]) -> bool:
    """Whether something reads the mode, or what the class computes from it (`of_a_property`)."""
    return any(isinstance(each, ast.Attribute) and each.attr in words for each in ast.walk(node))


@question
def rate_is_positive(ctx: PythonContext, rate: ast.expr | None) -> Answer:
    """Whether something is dropped: no where the rate surely is 0, or the mode is a part of it."""
    if rate is None:
        return yes()
    found, complete = possible_values(ctx, rate, given=given)
    held = [literal(each.node) if isinstance(each.node, ast.expr) and not each.path else ... for each in found]
    bound = [each.node for each in ctx.bindings(ctx.scope(rate)).get(ctx.name(rate) or "", ())]
    tests = [above.test for each in bound for above in ctx.ancestors(each) if isinstance(above, ast.If)]
    if any(_asks(each, {"training"}) for each in (rate, *(each.node for each in found), *bound, *tests)):
        return no(ctx.evidence(rate, "the mode is a part of the rate"))
    if complete and all(each == 0 for each in held):
        return no(ctx.evidence(rate, "nothing is dropped"))
    others = [each.evidence("the rate may be set here") for each in _set_elsewhere(ctx, rate)]
    if complete and all(isinstance(each, (int, float)) and each > 0 for each in held):
        return unless(others)
    return unknown(ctx.evidence(rate, "the rate may be 0"), *others)


def _set_elsewhere(ctx: PythonContext, rate: ast.expr) -> Iterator[Occurrence]:
    """Where code outside of the class sets the attribute that a rate is read from."""
    if isinstance(rate, ast.Attribute):
        own_class = ctx.klass(rate)
        yield from (each for each in stores(ctx, rate.attr) if each.ctx.klass(each.node) != own_class)


@question
def runs_in_evaluation(ctx: PythonContext, method: Method) -> Answer:
    """Whether `forward` is the method, or calls it, perhaps by way of others of the class."""
    methods = {each.name: each for each in method.klass.body if isinstance(each, ast.FunctionDef)}
    reached, waiting = set(), ["forward"]
    while waiting:
        name = waiting.pop()
        if name in methods and name not in reached:
            reached.add(name)
            waiting += [each.attr for each in ast.walk(methods[name]) if isinstance(each, ast.Attribute)]
    return yes() if method.name in reached else unknown(ctx.evidence(method.node, f"who calls `{method.name}`?"))


@question
def something_evaluates(ctx: PythonContext, call: ast.Call) -> Answer:
    """Whether the program puts a model into evaluation mode, or uses a library that does."""
    if is_mentioned(ctx, "eval") or any(ctx.index.using(ctx.path, _TRAINED_BY)):
        return yes()
    return unknown(ctx.evidence(call, "nothing in sight evaluates a model"))


@question
def is_part_of_what_is_evaluated(ctx: PythonContext, method: Method) -> Answer:
    """Whether no object of the class is one that a function makes, calls itself and never evaluates (`of_a_recipe`)."""
    return unless(
        ctx.evidence(call, f"nothing evaluates `{name}`")
        for call in ctx.all(ast.Call)
        if ctx.klass(call) != method.owner and ctx.index.resolve(ctx.path, method.klass.name) == ctx.origin(call.func)
        for name in _called_alone(ctx, call)
    )


def _called_alone(ctx: PythonContext, call: ast.Call) -> Iterator[str]:
    """The name that a new module is given in a function, if it is called by it, and `eval` is not."""
    scope = ctx.scope(call)
    for name, bindings in ctx.bindings(scope).items():
        if any(call in ast.walk(each.value) for each in bindings if each.value is not None):
            asked = uses_of(ctx, call, name)
            handed = any(name == ctx.name(given) for each in ctx.all(ast.Call) for given in values(each))
            if "()" in asked and "eval" not in asked and not handed:
                yield name


@question
def nothing_is_sampled(ctx: PythonContext) -> Answer:
    """Whether no code takes the spread of several passes: then the noise is meant (`monte_carlo`)."""
    return unless(told(ctx, _spreads, *_SPREAD))


def _spreads(found: Sequence[Occurrence]) -> tuple[Evidence, ...]:
    return tuple(each.evidence("the spread of several passes may be taken here") for each in found if _repeats(each))


def _repeats(spread: Occurrence) -> bool:
    """Whether the function of a place repeats something a number of times, whatever the number of the round."""
    ctx, scope = spread.ctx, spread.ctx.scope(spread.node)
    read = {each.id for each in own(scope) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)}
    for each in own(scope):
        if isinstance(each, (ast.For, ast.comprehension)) and isinstance(each.iter, ast.Call):
            if ctx.name(each.iter.func) == "range" and isinstance(each.target, ast.Name) and each.target.id not in read:
                return True
    return False
