"""What the rules about cut graphs ask of a value: is it a loss with a graph, and is it differentiated later on.

Both answers are about one function, read in order; whatever leaves it, or passes through a call that is not known to
hand gradients on, is unknown.
"""

from __future__ import annotations

import ast
import enum
from dataclasses import dataclass

from codemods.analysis.calls import has_splat, keyword, literal, positional, values
from codemods.analysis.mentions import definers
from codemods.analysis.python_context import PythonContext
from codemods.analysis.values import EACH, Following, PossibleValue, behind, possible_values
from codemods.frameworks.gradients.grad_mode import gradients
from codemods.syntax.module import is_none


def named(prefix: str, names: str) -> frozenset[str]:
    """The dotted names of a family of library objects."""
    return frozenset(f"{prefix}.{name}" for name in names.split())


LOSS_FUNCTIONS = named(
    "torch.nn.functional",
    "binary_cross_entropy binary_cross_entropy_with_logits cosine_embedding_loss cross_entropy ctc_loss "
    "gaussian_nll_loss hinge_embedding_loss huber_loss kl_div l1_loss margin_ranking_loss mse_loss "
    "multi_margin_loss multilabel_margin_loss multilabel_soft_margin_loss nll_loss poisson_nll_loss "
    "smooth_l1_loss soft_margin_loss triplet_margin_loss triplet_margin_with_distance_loss",
)
LOSS_MODULES = named(
    "torch.nn",
    "BCELoss BCEWithLogitsLoss CTCLoss CosineEmbeddingLoss CrossEntropyLoss GaussianNLLLoss HingeEmbeddingLoss "
    "HuberLoss KLDivLoss L1Loss MSELoss MarginRankingLoss MultiLabelMarginLoss MultiLabelSoftMarginLoss "
    "MultiMarginLoss NLLLoss PoissonNLLLoss SmoothL1Loss SoftMarginLoss TripletMarginLoss "
    "TripletMarginWithDistanceLoss",
)
REDUCING = frozenset({"mean", "sum", "max", "min", "nanmean", "nansum"})
KEEPING = frozenset(
    {"to", "float", "double", "half", "bfloat16", "cuda", "cpu", "clone", "contiguous", "type", "type_as"}
    | {"abs", "exp", "log", "sqrt", "pow", "neg", "square", "squeeze", "unsqueeze", "view", "reshape", "flatten"}
)
"""Methods and `torch` functions whose result hangs on the graph of what they are called on."""
_RESHAPING = frozenset({"unsqueeze", "view", "reshape", "flatten"})
CUTTING = frozenset({"detach", "numpy", "tolist", "argmax", "argmin", "argsort", "long", "int", "bool"})
_ARITHMETIC = tuple(f"__{how}{verb}__" for verb in ("add", "sub", "mul", "truediv") for how in ("", "r", "i"))
"""Methods by which an object of a class takes part in arithmetic."""
NUMBERS = frozenset({f"builtins.{name}" for name in ("float", "int", "len", "round", "bool")})
FRESH = named(
    "torch",
    "tensor FloatTensor DoubleTensor HalfTensor Tensor as_tensor asarray from_numpy zeros ones full empty rand "
    "randn randint arange linspace eye zeros_like ones_like full_like rand_like randn_like autograd.Variable",
)
"""What makes a tensor without a history, or a leaf."""


class LossOrigin(enum.Enum):
    """What an expression's value is, as far as this function shows."""

    GRAPH = "a tensor with a graph"
    TENSOR = "a tensor"
    CUT = "a tensor without a graph"
    NUMBER = "a number"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class LossValue:
    made: LossOrigin
    scalar: bool = False
    """Surely without dimensions."""


UNKNOWN = LossValue(LossOrigin.UNKNOWN)


# -- what a value is


def value(ctx: PythonContext, node: ast.expr) -> LossValue:
    """What is known of an expression."""
    key = (value, node)
    if key not in ctx.memo:
        ctx.memo[key] = _value(PossibleValue(ctx, node, following=Following(ordered=True)))
    found: LossValue = ctx.memo[key]
    return found


def _value(at: PossibleValue) -> LossValue:
    if not at.path and (found := _computed(at)) is not None:
        return found
    step = behind(at)
    return _either([_value(each) for each in step.values]) if step is not None and step.complete else UNKNOWN


def _computed(at: PossibleValue) -> LossValue | None:
    """What arithmetic and calls make; None for another expression."""
    node = at.node
    if at.is_far:
        return UNKNOWN
    match node:
        case ast.Constant() | ast.UnaryOp(operand=ast.Constant()) if _is_a_number(node):
            return LossValue(LossOrigin.NUMBER, True)
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return _value(at.at(inner))
        case ast.BinOp(left=left, right=right) | ast.AugAssign(target=left, value=right):
            return _combined(at.ctx, _value(at.at(left)), _value(at.at(right)))
        case ast.Call():
            found = _called(at, node)
            cut = found.made is LossOrigin.GRAPH and gradients(at.ctx, node) == "off"
            return LossValue(LossOrigin.CUT, found.scalar) if cut else found
        case ast.Attribute(value=inner, attr="data"):
            found = _value(at.at(inner))
            known = found.made in (LossOrigin.GRAPH, LossOrigin.CUT, LossOrigin.TENSOR)
            return LossValue(LossOrigin.CUT, found.scalar) if known else UNKNOWN
    return None


def _combined(ctx: PythonContext, a: LossValue, b: LossValue) -> LossValue:
    """Arithmetic of two values: what is unknown may be an object of the program that has an arithmetic of its own."""
    scalar = a.scalar and b.scalar
    made = {a.made, b.made}
    if LossOrigin.UNKNOWN in made and next(definers(ctx, *_ARITHMETIC), None) is not None:
        return UNKNOWN
    for kind in (LossOrigin.GRAPH, LossOrigin.TENSOR):
        if kind in made:
            return LossValue(kind, scalar)
    if made == {LossOrigin.CUT} or made == {LossOrigin.CUT, LossOrigin.NUMBER}:
        return LossValue(LossOrigin.CUT, scalar)
    return LossValue(LossOrigin.NUMBER, True) if made == {LossOrigin.NUMBER} else UNKNOWN


def _either(values: list[LossValue]) -> LossValue:
    kinds = {v.made for v in values}
    return LossValue(kinds.pop(), all(v.scalar for v in values)) if len(kinds) == 1 else UNKNOWN


def _called(at: PossibleValue, call: ast.Call) -> LossValue:
    ctx = at.ctx
    if ctx.means(call.func, LOSS_FUNCTIONS) or ctx.is_a(call.func, LOSS_MODULES):
        return _loss(at, call)
    if ctx.means(call.func, NUMBERS) or ctx.name(call.func) in ("float", "len", "int", "round"):
        return LossValue(LossOrigin.NUMBER, True)
    if ctx.name(call.func) == "sum" and not ctx.origin(call.func) and len(values(call)) == 1:
        return _value(at.at(values(call)[0], (EACH,)))
    if ctx.means(call.func, FRESH):
        return LossValue(LossOrigin.CUT)
    if origins := ctx.origin(call.func):
        names = {o.rpartition(".")[2] for o in origins if o.startswith("torch.") and o.count(".") == 1}
        first = positional(call, 0)
        if first is None or len(names) != len(origins) or not names <= REDUCING | KEEPING | {"stack"}:
            return UNKNOWN
        found = _value(at.at(first))
        made = found.made if found.made in (LossOrigin.GRAPH, LossOrigin.CUT) else LossOrigin.TENSOR
        scalar = found.scalar and not names & (_RESHAPING | {"stack", "pow"})
        return LossValue(made, scalar or (names <= REDUCING and len(values(call)) == 1))
    if not isinstance(call.func, ast.Attribute):
        return UNKNOWN
    receiver, name = call.func.value, call.func.attr
    if name == "item":
        return LossValue(LossOrigin.NUMBER, True)
    if name in CUTTING:
        return LossValue(LossOrigin.CUT, _value(at.at(receiver)).scalar)
    if name in REDUCING | KEEPING:
        found = _value(at.at(receiver))
        if found.made in (LossOrigin.GRAPH, LossOrigin.TENSOR, LossOrigin.CUT):
            kept = found.scalar and name not in _RESHAPING and not (name == "pow" and not _one_number(call))
            return LossValue(found.made, kept or (name in REDUCING and not values(call)))
    return UNKNOWN


def _is_a_number(node: ast.expr) -> bool:
    number = literal(node)
    return isinstance(number, (int, float)) and not isinstance(number, bool)


def _one_number(call: ast.Call) -> bool:
    given = values(call)
    return len(given) == 1 and isinstance(given[0], ast.Constant) and _is_a_number(given[0])


def _loss(at: PossibleValue, call: ast.Call) -> LossValue:
    """A loss of PyTorch: it hangs on the graph of its arguments, unless these are seen to be cut."""
    given = [_value(at.at(a)).made for a in call.args if not isinstance(a, ast.Starred)]
    given += [_value(at.at(k.value)).made for k in call.keywords if k.arg is not None]
    dead = bool(given) and all(made in (LossOrigin.CUT, LossOrigin.NUMBER) for made in given[:2])
    if given and given[0] in (LossOrigin.CUT, LossOrigin.NUMBER) and LossOrigin.GRAPH not in given:
        dead = True
    return LossValue(LossOrigin.CUT if dead else LossOrigin.GRAPH, _reduced(at.ctx, call))


def _reduced(ctx: PythonContext, call: ast.Call) -> bool:
    """Whether a loss is surely one number: nothing but the default reduction, or `mean` or `sum`."""
    if ctx.means(call.func, LOSS_FUNCTIONS):
        return _plain(call)
    found, complete = possible_values(ctx, call.func)
    made = [each.node for each in found if not is_none(each.node)]
    return complete and bool(made) and all(isinstance(each, ast.Call) and _plain(each) for each in made)


def _plain(call: ast.Call) -> bool:
    given = keyword(call, "reduction")
    if any(isinstance(literal(a), (bool, str)) for a in call.args):
        return False
    if has_splat(call) or keyword(call, "reduce") or keyword(call, "size_average"):
        return False
    return given is None or literal(given) in ("mean", "sum")
