"""Optimizers that run the closure they are given with gradients off: the user's own, and two of Transformers."""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterator

from codemods.analysis.calls import values
from codemods.analysis.class_building import function_is_as_written, set_outside
from codemods.analysis.gradient_watchers import STEP_HOOKS
from codemods.analysis.python_context import PythonContext, program
from codemods.analysis.regions import WITHS
from codemods.flow.answers import Answer, question, unknown, unless, yes
from codemods.frameworks.gradients.grad_mode import gradients
from codemods.frameworks.gradients.questions import SWITCHING_ON, may_switch
from codemods.frameworks.versions.call_graph import methods, programs
from codemods.model.edits import Evidence
from codemods.model.names import canonical
from codemods.project.index import Ref
from codemods.rules.file_context import FileContext
from codemods.syntax.facts import Facts, dotted
from codemods.syntax.module import own as nodes

TRANSFORMERS = {
    "transformers.AdamW": ">=4.30,<4.50",
    "transformers.Adafactor": ">=4.30",
}
"""Where their `step` is under `torch.no_grad()`; `AdamW` is gone since 4.50."""

_OPTIMIZER = re.compile(r"torch\.optim\.[A-Z]\w*")
_BY_HAND = "automatic_optimization"
_SWITCHED = frozenset({"enable_grad", "set_grad_enabled", "_set_grad_enabled"})


def own(ctx: FileContext) -> Ref | None:
    """The first optimizer of the project that surely does so and that a LightningModule names."""
    return ctx.index.recall((own, ctx.index.root(ctx.path)), lambda: _own(ctx))


def _own(ctx: FileContext) -> Ref | None:
    users = configuring(ctx)
    for where in programs(ctx, (b"step",), "no_grad", "inference_mode") if users else ():
        for ref, method in methods(where):
            if method.name == "step" and _bare(where, method) and _optimizes(ctx, ref):
                if any(_mentions(facts, ref.name) for facts in users.values()):
                    return ref
    return None


def transformers(ctx: FileContext) -> tuple[str, str] | None:
    """The first such optimizer of Transformers that a LightningModule uses, or imports from a file that does."""
    return ctx.index.recall((transformers, ctx.index.root(ctx.path)), lambda: _transformers(ctx))


def _transformers(ctx: FileContext) -> tuple[str, str] | None:
    users = configuring(ctx)
    for path in ctx.index.search(ctx.path, (b"AdamW", b"Adafactor")) if users else ():
        module = posixpath.basename(path).removesuffix(".py")
        if path in users or any(_imports(facts, module) for facts in users.values()):
            if name := _used(ctx, path):
                return name, path
    return None


@question
def lightning_runs_it(ctx: FileContext) -> Answer:
    """Whether Lightning gives every optimizer its closure: no module steps in a way of its own, or by hand."""
    doubts = [
        where.evidence(node, "this step is another one")  # put_in_its_place
        for where in programs(ctx, (b".step = ",), "step")
        for node in where.all(ast.Attribute)
        if node.attr == "step" and isinstance(node.ctx, ast.Store)
    ]
    doubts += [
        where.evidence(node, "modules may be optimized by hand")  # by_hand, by_a_table
        for where in programs(ctx, (_BY_HAND.encode(),), _BY_HAND)
        for node in where.all(ast.Attribute, ast.Name, ast.Constant)
        if _last(node) == _BY_HAND or (isinstance(node, ast.Constant) and node.value == _BY_HAND)
    ]
    doubts += [
        where.evidence(node, f"`{_last(node)}` may change the step")  # wrapped_by_a_hook
        for where in programs(ctx, tuple(word.encode() for word in STEP_HOOKS), *STEP_HOOKS)
        for node in where.all(ast.Attribute, ast.Name)
        if _last(node) in STEP_HOOKS
    ]
    doubts += [
        where.evidence(call, "modules may be optimized by hand")  # set_by_a_made_name
        for where in programs(ctx, (b"setattr",), "setattr")
        for call in where.all(ast.Call)
        if where.name(call.func) == "setattr" and len(call.args) == 3 and isinstance(call.args[1], ast.JoinedStr)
    ]
    for path in ctx.index.search(ctx.path, (b"def optimizer_step",)):
        facts = ctx.index.facts(path)
        for klass in facts.classes.values() if facts is not None else ():
            if (method := klass.methods.get("optimizer_step")) is not None:
                doubts.append(Evidence(path, method.line, f"`{klass.name}` steps in its own way"))
    doubts += [
        each.shown  # (a_step_set_by_name)
        for where in programs(ctx, (b"setattr", b"optimizer_step"), "setattr", "__setattr__", "optimizer_step")
        for each in set_outside(where)
        if each.attribute in ("", "optimizer_step")
    ]
    return unless(doubts)


@question
def lightning_is_given_it(ctx: FileContext) -> Answer:
    """Whether a LightningModule makes such an optimizer in `configure_optimizers` (`stepped_by_a_loop`)."""
    optimizer = own(ctx)
    found = (optimizer.name, optimizer.path) if optimizer is not None else transformers(ctx)
    if found is None:
        return yes()
    name, path = found[0].rpartition(".")[2], found[1]
    if remade := [*_remade(ctx, name), *(_decorated(ctx, optimizer) if optimizer is not None else ())]:
        return unknown(*remade)
    for where in programs(ctx, (b"configure_optimizers",), "configure_optimizers"):
        for _, method in methods(where):
            made = (node.func for node in nodes(method) if isinstance(node, ast.Call))
            if method.name == "configure_optimizers" and any(_is_called(where, func, name) for func in made):
                return yes()
    return unknown(Evidence(path, 1, f"`{name}` may be stepped by other code than Lightning's"))


def _decorated(ctx: FileContext, optimizer: Ref) -> Iterator[Evidence]:
    """Where a decorator of the project may give the closure to `step` in another way (`lifted_by_a_decorator`)."""
    where = program(ctx.index, optimizer.path)
    found = where.method_of(optimizer, "step") if where is not None else None
    if found is not None:
        yield from function_is_as_written(found[0], found[1]).places


def _remade(ctx: FileContext, name: str) -> list[Evidence]:
    """Where something else gets the name of an optimizer: `Lion = trainable(sign.Lion)` (`made_anew`)."""
    return [
        where.evidence(statement, f"`{name}` is another one here")
        for where in programs(ctx, (f"{name} = ".encode(),), name)
        for statement in where.all(ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name) and target.id == name
    ]


def _is_called(ctx: PythonContext, func: ast.expr, name: str) -> bool:
    """Whether a class of this name is called, by whatever name it was imported (`renamed_import`)."""
    return _last(func) == name or any(each.rpartition(".")[2] == name for each in ctx.origin(func))


def configuring(ctx: FileContext) -> dict[str, Facts]:
    """The files in which LightningModules say what optimizes them, with their facts."""
    found = ((path, ctx.index.facts(path)) for path in ctx.index.search(ctx.path, (b"configure_optimizers",)))
    return {path: facts for path, facts in found if facts is not None and _configures(facts)}


def _configures(facts: Facts) -> bool:
    return any("configure_optimizers" in klass.methods for klass in facts.classes.values())


def _mentions(facts: Facts, name: str) -> bool:
    """Whether a file reads or imports a name, or holds it as an attribute or a string."""
    return name in facts.loads or name in facts.mentioned or _imports(facts, name)


def _imports(facts: Facts, name: str) -> bool:
    """Whether a file imports a module or a member of this name."""
    return any(name in i.target.split(".") for i in facts.imports)


def _used(ctx: FileContext, path: str) -> str | None:
    facts, module = ctx.index.facts(path), ctx.index.syntax(path)
    if facts is None or module is None:
        return None
    for i in facts.imports:
        name = canonical(i.target)
        if name in TRANSFORMERS and facts.loads.get(i.name) and not (i.conditional or facts.rebound.get(i.name)):
            return name
    if any(i.target == "transformers" and not i.conditional for i in facts.named("transformers")):
        called = (canonical(dotted(call.func) or "") for call in module.all(ast.Call))
        return next((name for name in called if name in TRANSFORMERS), None)
    return None


@question
def nobody_extends_it(ctx: FileContext, name: str) -> Answer:
    """Whether no class of the project extends one of Transformers, and runs the closure itself (`extended`)."""
    last = name.rpartition(".")[2]
    return unless(
        Evidence(path, klass.lineno, f"`{klass.name}` may run the closure itself")
        for path in ctx.index.search(ctx.path, (last.encode(),))
        if (module := ctx.index.syntax(path)) is not None
        for klass in module.all(ast.ClassDef)
        if any((dotted(base) or "").rpartition(".")[2] == last for base in klass.bases)
    )


def _optimizes(ctx: FileContext, ref: Ref) -> bool:
    return any(_OPTIMIZER.fullmatch(name) for name in ctx.index.lineage(ref).external)


def _bare(ctx: PythonContext, step: ast.FunctionDef) -> bool:
    """Whether a `step` calls its closure with gradients off, and switches them on nowhere."""
    given = [*step.args.posonlyargs, *step.args.args]
    if len(given) < 2 or any(_last(node) in _SWITCHED for node in ast.walk(step)):
        return False
    closure = given[1].arg
    calls = (n for n in nodes(step) if isinstance(n, ast.Call) and ctx.name(n.func) == closure and not values(n))
    return closure not in ctx.bindings(step) and any(_surely_off(ctx, call) for call in calls)


def _surely_off(ctx: PythonContext, call: ast.Call) -> bool:
    """Whether gradients are off at a call, and nothing entered around it may switch them on."""
    entered = (manager.entered for manager in ctx.regions(call) if isinstance(manager.holder, WITHS))
    return gradients(ctx, call) == "off" and not any(may_switch(ctx, each, SWITCHING_ON) for each in entered)


def _last(node: ast.AST) -> str:
    written = dotted(node) if isinstance(node, (ast.Name, ast.Attribute)) else None
    return (written or "").rpartition(".")[2]
