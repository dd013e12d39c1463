"""`configure_optimizers` returns a schedule that counts steps, and Lightning advances it once an epoch.

## Why is this bad?
The interval of a schedule is `"epoch"` unless it is given. `OneCycleLR(total_steps=…)` or a warm-up of Transformers
then moves as many times as there are epochs, and the learning rate never leaves the beginning of the warm-up: in a run
of three epochs and twelve steps it took 3 values in place of 12, and never fell (run with Lightning 2.6.6). Nothing
raises and nothing warns.

## Fix safety
Unsafe: the learning rates change, which is the point. `{"scheduler": schedule, "interval": "step"}` advances it with
each step of the optimizer.

## When it is not offered
Silent where the interval is given, under manual optimization, and where the length speaks of epochs or is one
step an epoch. Possible where
the length is not surely counted in steps, where a class overrides `lr_scheduler_step`, and where the program takes its
schedules to step them itself. Only reported where a dictionary of several lines lacks the interval.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from codemods.analysis.calls import argument, keyword, literal, values
from codemods.analysis.definitions import reaching
from codemods.analysis.mentions import mentions
from codemods.analysis.optimizers import is_schedule
from codemods.analysis.python_context import PythonContext
from codemods.analysis.sources import sources
from codemods.analysis.values import possible_values
from codemods.flow.answers import Answer, no, question, unknown, unless
from codemods.frameworks.lightning.optimizers import methods_are_lightnings
from codemods.model.edits import Consequence, Evidence, Safety
from codemods.model.names import LIGHTNING_MODULE, LIGHTNING_SETUP
from codemods.project.index import Ref
from codemods.rules.rule import Draft, Rule
from codemods.syntax.module import FUNCTIONS, is_none
from codemods.syntax.verbs import Verb, replace

_WARM_UPS = (
    *("get_linear_schedule_with_warmup", "get_cosine_schedule_with_warmup"),
    *("get_polynomial_decay_schedule_with_warmup", "get_cosine_with_hard_restarts_schedule_with_warmup"),
)
"""Functions of Transformers and diffusers that make a schedule of `num_training_steps`."""

_COUNTED = re.compile(r"(?:warm_?up|train(?:ing)?|total|max|decay|num)_(?:training_)?(?:steps|iter(?:ation)?s?)\b")
"""Names of numbers of steps."""
_METHOD = "configure_optimizers"

rule = Rule(
    code="PL013",
    name="step-scheduler-per-epoch",
    summary="this schedule counts steps, and Lightning advances it once an epoch",
    fix_title="Advance the schedule with each step",
    safety=Safety.UNSAFE,
    consequence=Consequence.SILENT,
    triggers=(
        ("configure_optimizers",),
        ("OneCycleLR", "estimated_stepping_batches", "steps_per_epoch", "LambdaLR", *_WARM_UPS),
    ),
    subclasses=LIGHTNING_MODULE,
    references=("https://lightning.ai/docs/pytorch/stable/common/lightning_module.html#configure-optimizers",),
)


@rule.on(ast.Return)
def step_scheduler_per_epoch(given: ast.Return, ctx: PythonContext) -> Iterator[Draft]:
    method = ctx.method(given)
    if given.value is None or method is None or method.name != _METHOD:
        return
    if not ctx.index.descends(method.owner, LIGHTNING_MODULE) or ctx.function(given) is not method.node:
        return
    if ctx.index.constant(method.owner, "automatic_optimization", LIGHTNING_SETUP) is False:
        return  # nobody advances it but the class
    for schedule, said in _returned(ctx, given.value):
        for made in possible_values(ctx, schedule, returns=True)[0]:
            if made.ctx is not ctx or made.path or not isinstance(made.node, ast.Call):
                continue
            yield rule.finding(
                schedule,
                fix=_with_interval(ctx, schedule, said) if not _speaks_of_steps(ctx, made.node) else None,
                message=f"`{ctx.written(made.node.func)}` counts steps, and Lightning advances it once an epoch",
                is_bug=[
                    counts_steps(ctx, made.node),
                    methods_are_lightnings(ctx, method.owner, "lr_scheduler_step"),
                    no_subclass_adds_to_it(ctx, method.owner),
                    nobody_takes_schedules(ctx),
                ],
            )


def _returned(ctx: PythonContext, value: ast.expr) -> Iterator[tuple[ast.expr, ast.Dict | None]]:
    """The schedules that a method returns without an interval, each with the dictionary that lacks it."""
    for found in possible_values(ctx, value)[0]:
        match found.node:
            case ast.Tuple(elts=[_, ast.List(elts=schedules) | ast.Tuple(elts=schedules)]):
                given = list(schedules)
            case ast.Dict() as configured:
                given = [each for each in [_item(configured, "lr_scheduler")] if each is not None]
            case ast.Tuple(elts=several) | ast.List(elts=several):
                dictionaries = (each for each in several if isinstance(each, ast.Dict))
                given = [each for each in (_item(d, "lr_scheduler") for d in dictionaries) if each is not None]
            case _:
                given = []
        for each in given if found.ctx is ctx else ():
            said = next((v.node for v in possible_values(ctx, each)[0] if isinstance(v.node, ast.Dict)), None)
            if said is None:
                yield each, None
            elif None not in said.keys and _item(said, "interval") is None and (schedule := _item(said, "scheduler")):
                yield schedule, said


def _item(written: ast.Dict, name: str) -> ast.expr | None:
    pairs = zip(written.keys, written.values, strict=True)
    return next((value for key, value in pairs if isinstance(key, ast.Constant) and key.value == name), None)


def _with_interval(ctx: PythonContext, schedule: ast.expr, said: ast.Dict | None) -> list[Verb] | None:
    interval = f"{ctx.quoted('interval')}: {ctx.quoted('step')}"
    if said is None:
        return [replace(schedule, f"{{{ctx.quoted('scheduler')}: {ctx.source(schedule)}, {interval}}}")]
    written = ctx.source(said)
    if "\n" in written or "#" in written:
        return None
    return [replace(said, f"{written[:-1].rstrip().removesuffix(',')}, {interval}}}")]


@question
def counts_steps(ctx: PythonContext, made: ast.Call) -> Answer:
    """Whether the length of a schedule is counted in steps of the optimizer: no where it speaks of epochs."""
    steps = keyword(made, "steps_per_epoch")
    if steps is not None and is_schedule(ctx, made):
        one = literal(steps) == 1
        return no(ctx.evidence(steps, "one step an epoch")) if one else unless(_whole_batches(ctx))
    made_of = (node for value in values(made)[1:] for node in sources(ctx, ctx.scope(made), value))
    text = " ".join(ctx.source(node) for node in made_of if isinstance(node, ast.expr))
    if "estimated_stepping_batches" in text:
        return unless(_whole_batches(ctx))
    last = (ctx.name(made.func) or "").rpartition(".")[2]
    if last == "OneCycleLR" and is_schedule(ctx, made):
        length = argument(made, "total_steps", 2)
    elif last in _WARM_UPS and ctx.origin(made.func):
        length = argument(made, "num_training_steps", 2)
    elif not ctx.origin(made.func) and (length := keyword(made, "num_training_steps")) is not None:
        return unknown(ctx.evidence(made, f"what `{ctx.written(made.func)}` makes is not known"))  # by_a_table
    else:
        word = _speaks_of_steps(ctx, made)
        counted = f"whether `{word}` counts steps of the optimizer is not known"
        return unknown(ctx.evidence(made, counted)) if word else no(ctx.evidence(made, "it may count epochs"))
    if length is None or ("epoch" in text and "len(" not in text and "step" not in ctx.source(length)):
        return no(ctx.evidence(made, "it counts epochs"))
    if "len(" in text:
        return unless(_whole_batches(ctx))
    return unknown(ctx.evidence(length, "this may be a number of epochs"))


def _speaks_of_steps(ctx: PythonContext, made: ast.Call) -> str:
    """A name of numbers of steps in the function of a `LambdaLR`; empty: none, or it speaks of epochs, too.

    A name ranks a report, and decides no fix (`by_its_own_function`).
    """
    if not ctx.means(made.func, "torch.optim.lr_scheduler.LambdaLR"):
        return ""
    given = argument(made, "lr_lambda", 1)
    function = reaching(ctx, given)[0] if isinstance(given, ast.Name) else []
    bodies: list[ast.AST] = [each.node for each in function if isinstance(each.node, FUNCTIONS)]
    bodies += [given] if given is not None and not bodies else []
    names = [node.id for body in bodies for node in ast.walk(body) if isinstance(node, ast.Name)]
    if any("epoch" in name for name in names):
        return ""
    return next((name for name in names if _COUNTED.search(name)), "")


def _whole_batches(ctx: PythonContext) -> Iterator[Evidence]:
    """Where a batch may hold all examples: then steps and epochs are the same (`full_batch`)."""
    for call in ctx.all(ast.Call):
        size = keyword(call, "batch_size")
        whole = isinstance(size, ast.Call) and ctx.name(size.func) == "len"
        if size is not None and (whole or is_none(size)):
            yield ctx.evidence(size, "a batch may be an epoch")


@question
def no_subclass_adds_to_it(ctx: PythonContext, owner: Ref) -> Answer:
    """Whether no class of the project takes what a method returns, and may add the interval (`added_below`)."""
    found = [(ref, klass) for ref in ctx.index.subclasses(owner) if (klass := ctx.index.klass(ref)) is not None]
    return unless(
        Evidence(ref.path, klass.methods[_METHOD].line, f"`{ref.name}` may add the interval")
        for ref, klass in found
        if _METHOD in klass.methods
    )


@question
def nobody_takes_schedules(ctx: PythonContext) -> Answer:
    """Whether nothing in the program takes the schedules of a Trainer, to advance them itself."""
    taken = mentions(ctx, "lr_schedulers", "lr_scheduler_configs")
    return unless(each.evidence("schedules are taken here") for each in taken)
