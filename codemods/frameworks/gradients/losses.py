"""What the rules about cut graphs ask of a value: is it a loss with a graph, and is it differentiated later on.

Both answers are about one function, read in order; whatever leaves it, or passes through a call that is not known to
hand gradients on, is unknown.
"""

from __future__ import annotations

import ast
import enum
from dataclasses import dataclass

from codemods.analysis.calls import has_splat, keyword, literal, positional, values
from codemods.analysis.definitions import reaching, uses
from codemods.analysis.python_context import Binding, PythonContext
from codemods.frameworks.gradients.grad_mode import gradients


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


def value(ctx: PythonContext, node: ast.expr, depth: int = 6) -> LossValue:
    """What is known of an expression."""
    if depth == 0:
        return UNKNOWN
    match node:
        case ast.Constant() | ast.UnaryOp(operand=ast.Constant()) if _is_a_number(node):
            return LossValue(LossOrigin.NUMBER, True)
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return value(ctx, inner, depth - 1)
        case ast.BinOp(left=left, right=right):
            return _combined(value(ctx, left, depth - 1), value(ctx, right, depth - 1))
        case ast.IfExp(body=body, orelse=orelse):
            return _either([value(ctx, body, depth - 1), value(ctx, orelse, depth - 1)])
        case ast.Call():
            found = _called(ctx, node, depth)
            return (
                LossValue(LossOrigin.CUT, found.scalar)
                if found.made is LossOrigin.GRAPH and gradients(ctx, node) == "off"
                else found
            )
        case ast.Attribute(value=inner, attr="data"):
            found = value(ctx, inner, depth - 1)
            return (
                LossValue(LossOrigin.CUT, found.scalar)
                if found.made in (LossOrigin.GRAPH, LossOrigin.CUT, LossOrigin.TENSOR)
                else UNKNOWN
            )
        case ast.Name() | ast.Attribute():
            bindings, complete = reaching(ctx, node)
            return _either([_bound(ctx, b, node, depth) for b in bindings]) if complete else UNKNOWN
    return UNKNOWN


def _bound(ctx: PythonContext, binding: Binding, use: ast.expr, depth: int) -> LossValue:
    if binding.value is not None and isinstance(binding.node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)):
        return value(ctx, binding.value, depth - 1)
    match binding.node:
        case ast.AugAssign(target=target, value=added):
            return _combined(value(ctx, target, depth - 1), value(ctx, added, depth - 1))
    return UNKNOWN


def _combined(a: LossValue, b: LossValue) -> LossValue:
    """Arithmetic of two values."""
    scalar = a.scalar and b.scalar
    made = {a.made, b.made}
    for kind in (LossOrigin.GRAPH, LossOrigin.TENSOR):
        if kind in made:
            return LossValue(kind, scalar)
    if made == {LossOrigin.CUT} or made == {LossOrigin.CUT, LossOrigin.NUMBER}:
        return LossValue(LossOrigin.CUT, scalar)
    return LossValue(LossOrigin.NUMBER, True) if made == {LossOrigin.NUMBER} else UNKNOWN


def _either(values: list[LossValue]) -> LossValue:
    kinds = {v.made for v in values}
    return LossValue(kinds.pop(), all(v.scalar for v in values)) if len(kinds) == 1 else UNKNOWN


def _called(ctx: PythonContext, call: ast.Call, depth: int) -> LossValue:
    if ctx.means(call.func, LOSS_FUNCTIONS) or ctx.is_a(call.func, LOSS_MODULES):
        return _loss(ctx, call, depth)
    if ctx.means(call.func, NUMBERS) or ctx.name(call.func) in ("float", "len", "int", "round"):
        return LossValue(LossOrigin.NUMBER, True)
    if ctx.name(call.func) == "sum" and not ctx.origin(call.func) and len(values(call)) == 1:
        summed = elements(_displayed(ctx, values(call)[0]), ctx)
        return _either([value(ctx, each, depth - 1) for each in summed]) if summed else UNKNOWN
    if ctx.means(call.func, FRESH):
        return LossValue(LossOrigin.CUT)
    if origins := ctx.origin(call.func):
        names = {o.rpartition(".")[2] for o in origins if o.startswith("torch.") and o.count(".") == 1}
        first = positional(call, 0)
        if first is None or len(names) != len(origins) or not names <= REDUCING | KEEPING | {"stack"}:
            return UNKNOWN
        found = value(ctx, first, depth - 1)
        made = found.made if found.made in (LossOrigin.GRAPH, LossOrigin.CUT) else LossOrigin.TENSOR
        scalar = found.scalar and not names & (_RESHAPING | {"stack", "pow"})
        return LossValue(made, scalar or (names <= REDUCING and len(values(call)) == 1))
    if not isinstance(call.func, ast.Attribute):
        return UNKNOWN
    receiver, name = call.func.value, call.func.attr
    if name == "item":
        return LossValue(LossOrigin.NUMBER, True)
    if name in CUTTING:
        return LossValue(LossOrigin.CUT, value(ctx, receiver, depth - 1).scalar)
    if name in REDUCING | KEEPING:
        found = value(ctx, receiver, depth - 1)
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


def _loss(ctx: PythonContext, call: ast.Call, depth: int) -> LossValue:
    """A loss of PyTorch: it hangs on the graph of its arguments, unless these are seen to be cut."""
    given = [value(ctx, a, depth - 1).made for a in call.args if not isinstance(a, ast.Starred)]
    given += [value(ctx, k.value, depth - 1).made for k in call.keywords if k.arg is not None]
    dead = bool(given) and all(made in (LossOrigin.CUT, LossOrigin.NUMBER) for made in given[:2])
    if given and given[0] in (LossOrigin.CUT, LossOrigin.NUMBER) and LossOrigin.GRAPH not in given:
        dead = True
    return LossValue(LossOrigin.CUT if dead else LossOrigin.GRAPH, _reduced(ctx, call))


def _reduced(ctx: PythonContext, call: ast.Call) -> bool:
    """Whether a loss is surely one number: nothing but the default reduction, or `mean` or `sum`."""
    calls = [call]
    if not ctx.means(call.func, LOSS_FUNCTIONS):
        bindings: list[Binding] | None = None
        name, method = ctx.name(call.func) or "", ctx.method(call)
        if isinstance(call.func, ast.Call):
            calls = [call.func]
        elif method and name.startswith(method.self + "."):
            settings = [a.value for _, a in ctx.index.assigned(method.owner, name.partition(".")[2])]
            return bool(settings) and all(
                not s.splat
                and not any(isinstance(a.literal, (bool, str)) for a in s.args)
                and not s.keywords.keys() & {"reduce", "size_average"}
                and ("reduction" not in s.keywords or s.keywords["reduction"].literal in ("mean", "sum"))
                for s in settings
            )
        else:
            bindings = ctx.assigned(call.func)
            calls = [b.value for b in bindings or () if isinstance(b.value, ast.Call)]
    return bool(calls) and all(_plain(c) for c in calls)


def _plain(call: ast.Call) -> bool:
    given = keyword(call, "reduction")
    if any(literal(a) is not ... for a in call.args):
        return False
    if has_splat(call) or keyword(call, "reduce") or keyword(call, "size_average"):
        return False
    return given is None or literal(given) in ("mean", "sum")


def _displayed(ctx: PythonContext, node: ast.expr) -> ast.expr:
    """The list that a name surely is, where it is bound once; else the expression itself."""
    bindings, complete = reaching(ctx, node) if isinstance(node, ast.Name) else ([], False)
    shown = bindings[0].value if complete and len(bindings) == 1 else None
    return shown if isinstance(shown, (ast.List, ast.Tuple)) and shown.elts else node


def elements(node: ast.expr, ctx: PythonContext) -> list[ast.expr] | None:
    """What a list holds: the elements of a display or comprehension, or what is appended to a list made here."""
    match node:
        case ast.List(elts=held) | ast.Tuple(elts=held):
            return None if any(isinstance(e, ast.Starred) for e in held) else held
        case ast.ListComp(elt=element):
            return [element]
        case ast.Name(id=name):
            given = ctx.bindings(ctx.scope(node)).get(name, ())
            if not given or not all(isinstance(b.value, ast.List) and not b.value.elts for b in given):
                return None
            added: list[ast.expr] = []
            for use in uses(ctx, name, given[0].node):
                match ctx.parent(use):
                    case ast.Attribute(attr="append") as attribute:
                        call = ctx.parent(attribute)
                        if not isinstance(call, ast.Call) or len(call.args) != 1 or call.keywords:
                            return None
                        added.append(call.args[0])
                    case ast.Call() | ast.keyword() | ast.Starred():
                        pass
                    case _:
                        return None
            return added or None
    return None
