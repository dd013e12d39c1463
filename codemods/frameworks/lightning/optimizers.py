"""Which optimizers of a LightningModule a name in its methods stands for."""

from __future__ import annotations

import ast

from codemods.analysis import instances
from codemods.analysis.calls import argument, literal
from codemods.analysis.python_context import PythonContext
from codemods.analysis.values import EACH, PossibleValue, behind, verdicts
from codemods.flow.answers import Answer, question, unless
from codemods.model.edits import Evidence
from codemods.model.names import GRAD_SCALER, OPTIMIZER
from codemods.project.index import Ref

ALL = "*"
NOBODY: frozenset[str] = frozenset()


def which(ctx: PythonContext, node: ast.expr) -> frozenset[str]:
    """The optimizers that an expression surely stands for: positions in `self.optimizers()`, "" for the only one.

    `ALL` is in the answer for a name that a loop gives every one of them; empty: unknown, or no optimizer.
    """
    return _which(PossibleValue(ctx, node))


def _which(value: PossibleValue) -> frozenset[str]:
    if _is_optimizers(value.ctx, value.node):
        match value.path:
            case ():
                return frozenset({""})
            case (int(position),):
                return frozenset({str(position)})
        return frozenset({ALL}) if value.path == (EACH,) else NOBODY
    step = behind(value)
    given = [_which(each) for each in step.values] if step is not None and step.complete else []
    in_turn = value.path == (EACH,) and isinstance(value.node, (ast.List, ast.Tuple))
    return frozenset().union(*given) if all(given) and (in_turn or len(set(given)) == 1) else NOBODY


def _is_optimizers(ctx: PythonContext, node: ast.AST) -> bool:
    """`self.optimizers()`."""
    if not isinstance(node, ast.Call) or not (method := ctx.method(node)):
        return False
    return ctx.name(node.func) == f"{method.self}.optimizers"


def stepped_by_the_trainer(ctx: PythonContext, node: ast.expr) -> bool | None:
    """Whether the `step` of an optimizer goes through the Trainer: it, or each of several, is of `self.optimizers()`.

    False: surely not (`use_pl_optimizer=False`, `opt.optimizer`, `trainer.optimizers`, an optimizer of torch).
    """
    told = verdicts(PossibleValue(ctx, node), _of_the_trainer)
    return False if False in told else True if told and all(told) else None


@question
def methods_are_lightnings(ctx: PythonContext, owner: Ref, *names: str) -> Answer:
    """Whether methods such as `optimizers` are Lightning's own, in a class and in those that descend from it."""
    found: list[Evidence] = []
    for heir in (owner, *ctx.index.subclasses(owner)):
        lineage = ctx.index.lineage(heir)
        for ref in lineage.refs:
            klass = ctx.index.klass(ref)
            for name in names if klass is not None else ():
                if klass is not None and name in klass.methods:
                    line = klass.methods[name].line
                    found.append(Evidence(ref.path, line, f"`{ref.name}` has its own `{name}`"))
                elif klass is not None and (given := klass.attributes.get(name)):
                    found.append(Evidence(ref.path, given[0].line, f"`{ref.name}` sets `{name}` itself"))
        if not lineage.complete and (klass := ctx.index.klass(heir)) is not None:
            found.append(Evidence(heir.path, klass.line, f"a base of `{heir.name}` is not in sight"))
    return unless(found)


def _of_the_trainer(value: PossibleValue) -> bool | None:
    ctx, node = value.ctx, value.node
    if isinstance(node, ast.Call) and _is_optimizers(ctx, node):
        wrapped = argument(node, "use_pl_optimizer", 0)
        flag = True if wrapped is None else literal(wrapped)
        return flag if isinstance(flag, bool) else None
    if isinstance(node, ast.Attribute):
        if node.attr == "optimizer" and stepped_by_the_trainer(ctx, node.value):
            return False
        if (ctx.name(node) or "").endswith(("trainer.optimizers", "strategy.optimizers")):
            return False
    kind = instances.of(ctx, node) if isinstance(node, ast.expr) and not value.path else None
    if kind is None:
        return None
    return False if all(_is_raw(ctx, name) for name in kind.names) else None


def _is_raw(ctx: PythonContext, name: str) -> bool:
    """Whether a class is one of optimizers as torch has them, or of what steps them without the Trainer."""
    if ":" in name:
        return ctx.index.descends(Ref.of(name), OPTIMIZER) is True
    last = name.rpartition(".")[2]
    return name in GRAD_SCALER or (name.startswith("torch.optim.") and last[:1].isupper())
