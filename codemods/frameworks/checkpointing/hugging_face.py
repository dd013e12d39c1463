"""How Hugging Face switches gradient checkpointing on: the calls, their keyword arguments, and the models around."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from codemods.analysis import instances
from codemods.analysis.calls import argument, keyword, literal
from codemods.analysis.python_context import PythonContext
from codemods.project import versions
from codemods.project.index import Ref
from codemods.rules.file_context import FileContext
from codemods.syntax.module import own
from codemods.syntax.verbs import Verb, Verbs, edit_call, insert_after, insert_before, replace

ENABLERS = {
    "gradient_checkpointing_enable": "gradient_checkpointing_kwargs",
    "activation_checkpointing_enable": "activation_checkpointing_kwargs",
}
"""Methods of models, each with the name of its argument; the second pair exists from transformers 5.23."""

KBIT = frozenset({"peft.prepare_model_for_kbit_training"})
GET_PEFT_MODEL = frozenset({"peft.get_peft_model"})
FIRST_WITH_KWARGS = ">=4.35"
"""The transformers from which the calls take `gradient_checkpointing_kwargs`."""

FIRST_WITH_INPUT_GRADS = ">=4.27"
"""The transformers whose models have `enable_input_require_grads`."""

INPUT_GRADS_GIVEN = ">=5"
"""The transformers whose calls let the embeddings' outputs require gradients by themselves."""

RENAMED = ">=5.23"
"""The transformers from which the names say `activation_checkpointing`."""


def is_implicit(given: ast.expr | None) -> bool:
    """Whether the keyword arguments of checkpointing are left out, None or `{}`."""
    match given:
        case None | ast.Constant(value=None) | ast.Dict(keys=[]):
            return True
        case ast.Call(func=ast.Name(id="dict"), args=[], keywords=[]):
            return True
    return False


def reentrant_item(given: ast.expr | None) -> ast.expr | None:
    """The `True` of `{"use_reentrant": True}` or `dict(use_reentrant=True)`."""
    match given:
        case ast.Dict(keys=keys, values=values):
            items = (value for key, value in zip(keys, values, strict=True) if literal(key) == "use_reentrant")
            value = next(items, None)
        case ast.Call(func=ast.Name(id="dict")):
            value = keyword(given, "use_reentrant")
        case _:
            return None
    return value if literal(value) is True else None


def with_kwargs(ctx: PythonContext, call: ast.Call, name: str, given: ast.expr | None, *, reentrant: bool) -> Verb:
    """Give a call `name={"use_reentrant": …}`, in the place of what it is given."""
    code = f"{{{ctx.quoted('use_reentrant')}: {reentrant}}}"
    return edit_call(call, last=[(name, code)]) if given is None else replace(given, code)


def allows(ctx: FileContext, package: str, range: str) -> bool:
    """Whether the project may run with a version in `range`."""
    return versions.may(ctx.target(package), range)


def proves(ctx: FileContext, package: str, range: str) -> bool:
    """Whether all versions that the project allows are in `range`."""
    return versions.surely(ctx.target(package), range)


def is_foreign_model(ctx: PythonContext, model: ast.expr) -> bool | None:
    """Whether a receiver is surely no Hugging Face model (True), surely one (False), or unknown (None)."""
    kind = instances.of(ctx, model)
    if kind is None:
        return None
    if all(name.startswith(("transformers.", "peft.", "trl.")) for name in kind.names):
        return False
    for name in kind.names:
        if ":" in name:
            lineage = ctx.index.lineage(Ref.of(name))
            if any(base.startswith(("transformers.", "peft.")) for base in lineage.external):
                return False
    return None if any(name.startswith("unsloth.") for name in kind.names) else True


def becomes_peft_model(ctx: PythonContext, call: ast.Call, model: ast.expr) -> bool:
    """Whether `get_peft_model` gets this model later in the same function: PEFT then sees to the input gradients."""
    name, scope = ctx.name(model), ctx.scope(call)
    for other in _calls(scope):
        if name is not None and ctx.means(other.func, GET_PEFT_MODEL) and ctx.name(argument(other, "model", 0)) == name:
            if ctx.flow_of(scope).reaches(call, other):
                return True
    return False


def _calls(scope: ast.AST) -> Iterator[ast.Call]:
    """The calls that a function, or a module outside of its functions, makes itself."""
    return (node for node in own(scope) if isinstance(node, ast.Call))


def implicit_enablers(ctx: PythonContext) -> Mapping[ast.Call, tuple[str, ast.expr | None]]:
    """The calls of this file that switch checkpointing on for a model without saying how.

    Returns:
        For each the name of the argument that says so, and what is given for it.
    """
    if (implicit_enablers,) not in ctx.memo:
        ctx.memo[implicit_enablers,] = {
            call: (name, given)
            for call in ctx.all(ast.Call)
            if isinstance(call.func, ast.Attribute)
            and (name := ENABLERS.get(call.func.attr)) is not None
            and len(call.args) + len(call.keywords) <= 1
            and ((given := argument(call, name, 0)) is not None or not (call.args or call.keywords))
            and is_implicit(given)
        }
    found: Mapping[ast.Call, tuple[str, ast.expr | None]] = ctx.memo[implicit_enablers,]
    return found


def input_grads(ctx: PythonContext, at: ast.AST) -> Verbs | None:
    """`model.enable_input_require_grads()`, where the model around `at` is made: before PEFT gets it, else after."""
    if not allows(ctx, "transformers", FIRST_WITH_INPUT_GRADS):
        return None
    scope = ctx.scope(at)
    wrapped = [c for c in _calls(scope) if ctx.means(c.func, GET_PEFT_MODEL)]
    if len(wrapped) == 1 and (name := ctx.name(argument(wrapped[0], "model", 0))) and _is_small(ctx, wrapped[0]):
        return [insert_before(wrapped[0], f"{name}.enable_input_require_grads()")]
    if wrapped:
        return None
    made = [(name, b.value) for name, each in ctx.bindings(scope).items() for b in each if _loads_model(ctx, b.value)]
    if len(made) == 1 and made[0][1] is not None and _is_small(ctx, made[0][1]):
        return [insert_after(made[0][1], f"{made[0][0]}.enable_input_require_grads()")]
    return None


def _is_small(ctx: PythonContext, node: ast.AST) -> bool:
    return isinstance(ctx.statement(node), (ast.Assign, ast.AnnAssign, ast.Expr))


def _loads_model(ctx: PythonContext, value: ast.expr | None) -> bool:
    """`AutoModelForCausalLM.from_pretrained(…)` and the like."""
    match value:
        case ast.Call(func=ast.Attribute(value=klass, attr="from_pretrained" | "from_config")):
            origins = ctx.origin(klass)
            words = ("Model", "For", "LM")
            return bool(origins) and all(
                o.startswith("transformers.") and any(w in o.rpartition(".")[2] for w in words) for o in origins
            )
    return False
