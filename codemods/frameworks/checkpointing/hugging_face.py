"""How Hugging Face switches gradient checkpointing on: the calls, their keyword arguments, and the models around."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import libcst as cst

from codemods.project import versions
from codemods.project.index import Ref
from codemods.rules.context import Context
from codemods.syntax import flow, rewrite
from codemods.syntax.rewrite import Replacement

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


def is_implicit(arg: cst.Arg | None) -> bool:
    """Whether the keyword arguments of checkpointing are left out, None or `{}`."""
    if arg is None or rewrite.literal(arg.value) is None:
        return True
    match arg.value:
        case cst.Dict(elements=[]) | cst.Call(func=cst.Name(value="dict"), args=[]):
            return True
        case _:
            return False


def reentrant_item(arg: cst.Arg | None) -> cst.BaseExpression | None:
    """The `True` of `{"use_reentrant": True}` or `dict(use_reentrant=True)`."""
    match arg.value if arg is not None else None:
        case cst.Dict(elements=elements):
            for e in elements:
                if isinstance(e, cst.DictElement) and rewrite.literal(e.key) == "use_reentrant":
                    return e.value if rewrite.literal(e.value) is True else None
        case cst.Call(func=cst.Name(value="dict")) as call:
            given = rewrite.keyword(call, "use_reentrant")
            return given.value if given is not None and rewrite.literal(given.value) is True else None
    return None


def with_kwargs(ctx: Context, call: cst.Call, name: str, arg: cst.Arg | None, *, reentrant: bool) -> cst.Call:
    """The call with `name={"use_reentrant": …}` in the place of what it has."""
    value = cst.Dict([cst.DictElement(rewrite.quoted(ctx, "use_reentrant"), cst.Name(str(reentrant)))])
    return rewrite.with_argument(call, name, value) if arg is None else rewrite.with_value(call, arg, value)


def allows(ctx: Context, package: str, range: str) -> bool:
    """Whether the project may run with a version in `range`."""
    return versions.may(ctx.target(package), range)


def proves(ctx: Context, package: str, range: str) -> bool:
    """Whether all versions that the project allows are in `range`."""
    return versions.surely(ctx.target(package), range)


def is_foreign_model(ctx: Context, model: cst.BaseExpression) -> bool | None:
    """Whether a receiver is surely no Hugging Face model (True), surely one (False), or unknown (None)."""
    kind = ctx.kind(model)
    if kind is None:
        return None
    if all(name.startswith(("transformers.", "peft.", "trl.")) for name in kind.names):
        return False
    for name in kind.names:
        if ":" in name:
            lineage = ctx.index.lineage(Ref(*name.split(":", 1)))
            if any(base.startswith(("transformers.", "peft.")) for base in lineage.external):
                return False
    return None if any(name.startswith("unsloth.") for name in kind.names) else True


def becomes_peft_model(ctx: Context, call: cst.Call, model: cst.BaseExpression) -> bool:
    """Whether `get_peft_model` gets this model later in the same function: PEFT then sees to the input gradients."""
    name, scope = ctx.name(model), ctx.scope(call)
    for other in _calls(scope):
        if ctx.means(other.func, GET_PEFT_MODEL):
            given = rewrite.argument(other, "model", 0)
            if given is not None and name is not None and ctx.name(given.value) == name:
                if flow.reaches(ctx.parents, call, other):
                    return True
    return False


def _calls(scope: cst.CSTNode) -> Iterator[cst.Call]:
    """The calls that a function, or a module outside of its functions, makes itself."""
    body = scope.body if isinstance(scope, (cst.FunctionDef, cst.ClassDef, cst.Lambda)) else scope
    return (node for node in flow.own(body) if isinstance(node, cst.Call))


def implicit_enablers(ctx: Context) -> list[tuple[cst.Call, str, cst.Arg | None]]:
    """The calls of this file that switch checkpointing on for a model without saying how."""
    found = []
    for call in ctx.all(cst.Call, *ENABLERS):
        match call.func:
            case cst.Attribute(attr=cst.Name(value=method)) if method in ENABLERS and len(call.args) <= 1:
                arg = rewrite.argument(call, ENABLERS[method], 0)
                if (arg is not None or not call.args) and is_implicit(arg):
                    found.append((call, ENABLERS[method], arg))
    return found


def input_grads(ctx: Context, at: cst.CSTNode) -> Mapping[cst.CSTNode, Replacement] | None:
    """`model.enable_input_require_grads()`, where the model around `at` is made: before PEFT gets it, else after."""
    if not allows(ctx, "transformers", FIRST_WITH_INPUT_GRADS):
        return None
    scope = ctx.scope(at)
    wrapped = [c for c in _calls(scope) if ctx.means(c.func, GET_PEFT_MODEL)]
    if len(wrapped) == 1 and (given := rewrite.argument(wrapped[0], "model", 0)) is not None:
        if (name := ctx.name(given.value)) and _is_small(ctx, wrapped[0]):
            return rewrite.insert(ctx, wrapped[0], [f"{name}.enable_input_require_grads()"], after=False)
    if wrapped:
        return None
    made = [(n, b) for n, each in ctx.bindings(scope).items() for b in each if _loads_model(ctx, b.value)]
    if len(made) == 1 and made[0][1].value is not None and _is_small(ctx, made[0][1].value):
        return rewrite.insert(ctx, made[0][1].value, [f"{made[0][0]}.enable_input_require_grads()"], after=True)
    return None


def _is_small(ctx: Context, node: cst.CSTNode) -> bool:
    return isinstance(ctx.statement(node), (cst.Assign, cst.AnnAssign, cst.Expr))


def _loads_model(ctx: Context, value: cst.BaseExpression | None) -> bool:
    """`AutoModelForCausalLM.from_pretrained(…)` and the like."""
    match value:
        case cst.Call(func=cst.Attribute(value=klass, attr=cst.Name(value="from_pretrained" | "from_config"))):
            origins = ctx.origin(klass)
            words = ("Model", "For", "LM")
            return bool(origins) and all(
                o.startswith("transformers.") and any(w in o.rpartition(".")[2] for w in words) for o in origins
            )
        case _:
            return False
