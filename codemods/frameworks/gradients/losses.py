"""What the rules about cut graphs ask of a value: is it a loss with a graph, and is it differentiated later on.

Both answers are about one function, read in order; whatever leaves it, or passes through a call that is not known to
hand gradients on, is unknown.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from codemods.frameworks.gradients.grad_mode import switched_off
from codemods.rules.context import Binding, Context
from codemods.syntax import flow
from codemods.syntax.rewrite import has_splat, keyword, literal, positional


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


class Made(enum.Enum):
    """What an expression's value is, as far as this function shows."""

    GRAPH = "a tensor with a graph"
    TENSOR = "a tensor"
    CUT = "a tensor without a graph"
    NUMBER = "a number"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Value:
    made: Made
    scalar: bool = False
    """Surely without dimensions."""


UNKNOWN = Value(Made.UNKNOWN)


# -- reaching definitions


def reaching(ctx: Context, use: cst.BaseExpression) -> tuple[list[Binding], bool]:
    """The assignments in its function that may give `use` (`loss`, `self.loss`) its value; True: there is no other."""
    name, parents = ctx.name(use), ctx.parents
    given = list(ctx.bindings(ctx.scope(use)).get(name or "", ()))
    before = [b for b in given if flow.reaches(parents, b.node, use)]
    certain = [i for i, b in enumerate(before) if _dominates(ctx, b.node, use)]
    kept = before[certain[-1] :] if certain else before
    first = kept[0].node if certain else None
    for b in given:
        if b not in kept and flow.comes_round(parents, b.node, use):
            loop = flow.loop_around(parents, b.node, use)
            if first is None or loop is None or loop not in ctx.ancestors(first):
                kept.append(b)
    return kept, bool(certain)


def _dominates(ctx: Context, node: cst.CSTNode, use: cst.CSTNode) -> bool:
    """Whether `use` cannot run without `node`, which comes before it."""
    around = set(ctx.ancestors(use))
    for above in ctx.ancestors(node):
        if isinstance(above, (cst.IndentedBlock, cst.SimpleStatementSuite, cst.Module)):
            if above in around:
                return True
            if not isinstance(ctx.parent(above), cst.With):
                return False
    return False


# -- what a value is


def value(ctx: Context, node: cst.BaseExpression, depth: int = 6) -> Value:
    """What is known of an expression."""
    if depth == 0:
        return UNKNOWN
    match node:
        case cst.Integer() | cst.Float() | cst.UnaryOperation(expression=cst.Integer() | cst.Float()):
            return Value(Made.NUMBER, True)
        case cst.UnaryOperation(operator=cst.Minus(), expression=inner):
            return value(ctx, inner, depth - 1)
        case cst.BinaryOperation(left=left, right=right):
            return _combined(value(ctx, left, depth - 1), value(ctx, right, depth - 1))
        case cst.IfExp(body=body, orelse=orelse):
            return _either([value(ctx, body, depth - 1), value(ctx, orelse, depth - 1)])
        case cst.Call():
            found = _called(ctx, node, depth)
            return Value(Made.CUT, found.scalar) if found.made is Made.GRAPH and switched_off(ctx, node) else found
        case cst.Attribute(value=inner, attr=cst.Name(value="data")):
            found = value(ctx, inner, depth - 1)
            return Value(Made.CUT, found.scalar) if found.made in (Made.GRAPH, Made.CUT, Made.TENSOR) else UNKNOWN
        case cst.Name() | cst.Attribute():
            bindings, complete = reaching(ctx, node)
            return _either([_bound(ctx, b, node, depth) for b in bindings]) if complete else UNKNOWN
    return UNKNOWN


def _bound(ctx: Context, binding: Binding, use: cst.BaseExpression, depth: int) -> Value:
    if binding.value is not None and isinstance(binding.node, (cst.Assign, cst.AnnAssign, cst.NamedExpr)):
        return value(ctx, binding.value, depth - 1)
    match binding.node:
        case cst.AugAssign(target=target, value=added):
            return _combined(value(ctx, target, depth - 1), value(ctx, added, depth - 1))
    return UNKNOWN


def _combined(a: Value, b: Value) -> Value:
    """Arithmetic of two values."""
    scalar = a.scalar and b.scalar
    made = {a.made, b.made}
    for kind in (Made.GRAPH, Made.TENSOR):
        if kind in made:
            return Value(kind, scalar)
    if made == {Made.CUT} or made == {Made.CUT, Made.NUMBER}:
        return Value(Made.CUT, scalar)
    return Value(Made.NUMBER, True) if made == {Made.NUMBER} else UNKNOWN


def _either(values: list[Value]) -> Value:
    kinds = {v.made for v in values}
    return Value(kinds.pop(), all(v.scalar for v in values)) if len(kinds) == 1 else UNKNOWN


def _called(ctx: Context, call: cst.Call, depth: int) -> Value:
    if ctx.means(call.func, LOSS_FUNCTIONS) or ctx.is_a(call.func, LOSS_MODULES):
        return _loss(ctx, call, depth)
    if ctx.means(call.func, NUMBERS) or ctx.name(call.func) in ("float", "len", "int", "round"):
        return Value(Made.NUMBER, True)
    if ctx.name(call.func) == "sum" and not ctx.origin(call.func) and len(call.args) == 1:
        summed = elements(_displayed(ctx, call.args[0].value), ctx)
        return _either([value(ctx, each, depth - 1) for each in summed]) if summed else UNKNOWN
    if ctx.means(call.func, FRESH):
        return Value(Made.CUT)
    if origins := ctx.origin(call.func):
        names = {o.rpartition(".")[2] for o in origins if o.startswith("torch.") and o.count(".") == 1}
        first = positional(call, 0)
        if first is None or len(names) != len(origins) or not names <= REDUCING | KEEPING | {"stack"}:
            return UNKNOWN
        found = value(ctx, first.value, depth - 1)
        made = found.made if found.made in (Made.GRAPH, Made.CUT) else Made.TENSOR
        scalar = found.scalar and not names & (_RESHAPING | {"stack", "pow"})
        return Value(made, scalar or (names <= REDUCING and len(call.args) == 1))
    if not isinstance(call.func, cst.Attribute):
        return UNKNOWN
    receiver, name = call.func.value, call.func.attr.value
    if name == "item":
        return Value(Made.NUMBER, True)
    if name in CUTTING:
        return Value(Made.CUT, value(ctx, receiver, depth - 1).scalar)
    if name in REDUCING | KEEPING:
        found = value(ctx, receiver, depth - 1)
        if found.made in (Made.GRAPH, Made.TENSOR, Made.CUT):
            kept = found.scalar and name not in _RESHAPING and not (name == "pow" and not _is_number(call))
            return Value(found.made, kept or (name in REDUCING and not call.args))
    return UNKNOWN


def _is_number(call: cst.Call) -> bool:
    return len(call.args) == 1 and isinstance(call.args[0].value, (cst.Integer, cst.Float))


def _loss(ctx: Context, call: cst.Call, depth: int) -> Value:
    """A loss of PyTorch: it hangs on the graph of its arguments, unless these are seen to be cut."""
    given = [value(ctx, a.value, depth - 1).made for a in call.args if not a.star]
    dead = bool(given) and all(made in (Made.CUT, Made.NUMBER) for made in given[:2])
    if given and given[0] in (Made.CUT, Made.NUMBER) and Made.GRAPH not in given:
        dead = True
    return Value(Made.CUT if dead else Made.GRAPH, _reduced(ctx, call))


def _reduced(ctx: Context, call: cst.Call) -> bool:
    """Whether a loss is surely one number: nothing but the default reduction, or `mean` or `sum`."""
    calls = [call]
    if not ctx.means(call.func, LOSS_FUNCTIONS):
        bindings: list[Binding] | None = None
        name, method = ctx.name(call.func) or "", ctx.method(call)
        if isinstance(call.func, cst.Call):
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
            calls = [b.value for b in bindings or () if isinstance(b.value, cst.Call)]
    return bool(calls) and all(_plain(c) for c in calls)


def _plain(call: cst.Call) -> bool:
    given = keyword(call, "reduction")
    if any(a.keyword is None and literal(a.value) is not ... for a in call.args):
        return False
    if has_splat(call) or keyword(call, "reduce") or keyword(call, "size_average"):
        return False
    return given is None or literal(given.value) in ("mean", "sum")


def _displayed(ctx: Context, node: cst.BaseExpression) -> cst.BaseExpression:
    """The list that a name surely is, where it is bound once; else the expression itself."""
    bindings, complete = reaching(ctx, node) if isinstance(node, cst.Name) else ([], False)
    shown = bindings[0].value if complete and len(bindings) == 1 else None
    return shown if isinstance(shown, (cst.List, cst.Tuple)) and shown.elements else node


def elements(node: cst.BaseExpression, ctx: Context) -> list[cst.BaseExpression] | None:
    """What a list holds: the elements of a display or comprehension, or what is appended to a list made here."""
    match node:
        case cst.List(elements=elements) | cst.Tuple(elements=elements):
            return [e.value for e in elements] if all(isinstance(e, cst.Element) for e in elements) else None
        case cst.ListComp(elt=element):
            return [element]
        case cst.Name(value=name):
            given = ctx.bindings(ctx.scope(node)).get(name, ())
            if not given or not all(isinstance(b.value, cst.List) and not b.value.elements for b in given):
                return None
            added: list[cst.BaseExpression] = []
            for use in uses(ctx, name, given[0].node):
                match ctx.parent(use):
                    case cst.Attribute(attr=cst.Name(value="append")) as attribute:
                        call = ctx.parent(attribute)
                        if not isinstance(call, cst.Call) or len(call.args) != 1:
                            return None
                        added.append(call.args[0].value)
                    case cst.Arg():
                        pass
                    case _:
                        return None
            return added or None
    return None


def uses(ctx: Context, name: str, after: cst.CSTNode | None = None) -> Iterator[cst.Name | cst.Attribute]:
    """The places in the function of `after` that read a name (`loss`, `self.loss`)."""
    scope = ctx.scope(after) if after is not None else ctx.module
    for node in flow.own(scope.body if isinstance(scope, cst.FunctionDef) else scope):
        if isinstance(node, (cst.Name, cst.Attribute)) and ctx.name(node) == name and is_read(ctx, node):
            yield node


def is_read(ctx: Context, node: cst.Name | cst.Attribute) -> bool:
    parent = ctx.parent(node)
    if isinstance(parent, cst.Attribute):
        return parent.value is node
    if isinstance(parent, cst.Arg):
        return parent.value is node
    if isinstance(parent, (cst.AugAssign, cst.AnnAssign)):
        return parent.target is not node
    return not isinstance(parent, (cst.AssignTarget, cst.Param, cst.AsName, cst.NameItem, cst.FunctionDef, cst.For))
