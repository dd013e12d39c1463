"""What runs a module's weights where: uses of `self.net`, `model`, `self.weight`, followed through the project's calls.

A use is written as a path (`("self", "net", "[0]")`); two uses share weights where one path leads to the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from codemods import flow, known
from codemods.context import Context
from codemods.index import Ref
from codemods.rewrite import keyword, literal, positional
from codemods.transforms.autocast.regions import DEPTH, switched_off, values

Path = tuple[str, ...]

_MODULE_NAMES = (
    r"model|net|network|unet|encoder|decoder|backbone|generator|discriminator|critic|actor|policy|student|teacher|head"
    r"|transformer|denoiser|module|classifier|segmentor|detector|predictor|projector|embedder|feature_extractor"
)
_NAMED = re.compile(rf"(?:.*_)?(?:{_MODULE_NAMES})\d*|net_?[a-z]|[dg]_?net|model_?\w", re.IGNORECASE)
_FORWARDS = re.compile(r"_*(forward|encode|decode|embed|generate|predict|sample|extract|get_\w+_features)(_\w*)?")
_LIBRARIES = re.compile(
    r"(torchvision\.models|timm|transformers|diffusers|segmentation_models_pytorch|monai\.networks|torch_geometric\.nn"
    r"|open_clip|efficientnet_pytorch|sentence_transformers)\..+"
)
_WEIGHTLESS = re.compile(
    r"torch\.nn\.(\w*Loss\w*|\w*LU|GELU|Sigmoid|Tanh|Softmax\w*|LogSoftmax|Softplus|Dropout\w*|\w*Pool\w*|Identity"
    r"|Flatten|Unflatten|Upsample|\w*Pad\w*|PixelShuffle|PixelUnshuffle|Fold|Unfold|CosineSimilarity|ParameterList)"
    r"|(torchmetrics|torch\.optim|torchvision\.transforms|torch\.utils|numpy|torch\.compile|torch\.jit|kornia)\b.*"
)
_TRAINED_BY = ("parameters", "named_parameters", "train", "state_dict", "load_state_dict", "zero_grad", "no_sync")
_MATMULS = re.compile(
    r"linear|bilinear|matmul|mm|bmm|addmm|baddbmm|einsum|conv(_transpose)?[123]d|(multi_head|scaled)_.*"
)
_FREEZERS = ("requires_grad", "set_requires_grad", "freeze", "set_grad", "toggle_grad", "freeze_model", "freeze_params")


@dataclass(frozen=True, slots=True)
class Use:
    """One run of a module's weights, as seen from one function."""

    path: Path
    node: cst.CSTNode
    """The call (or operand) in that function, through which it happens."""
    off: bool
    """Without gradients."""
    sure: bool = True
    """Whether the use happens whenever `node` runs."""


def overlap(a: Path, b: Path) -> bool:
    """Whether two paths lead to common weights: one is the other, or a part of it."""
    return a[: len(b)] == b[: len(a)]


def covers(a: Path, b: Path) -> bool:
    """Whether all weights of `b` are among those of `a`."""
    return b[: len(a)] == a


def written(path: Path) -> str:
    return ".".join(path).replace(".[", "[")


def path_of(ctx: Context, node: cst.CSTNode, depth: int = DEPTH) -> Path | None:
    """The path of an expression, plain aliases followed; None where it has none."""
    match node:
        case cst.Name():
            bindings = ctx.assigned(node) if depth else None
            if bindings and len(bindings) == 1 and not bindings[0].conditional:
                value = _unwrapped(bindings[0].value)
                if isinstance(value, (cst.Name, cst.Attribute)) and (found := path_of(ctx, value, depth - 1)):
                    return found
            return (node.value,)
        case cst.Attribute(value=value, attr=attr):
            base = path_of(ctx, value, depth)
            if base is None:
                return None
            if len(base) == 1 and depth and (alias := _attribute_alias(ctx, node, attr.value)):
                return (base[0], alias)
            return (*base, attr.value)
        case cst.Subscript(value=value, slice=[cst.SubscriptElement(slice=cst.Index(value=index))]):
            base = path_of(ctx, value, depth)
            key = literal(index)
            return (*base, f"[{key}]") if base is not None and isinstance(key, (int, str)) else None
        case _:
            return None


def _unwrapped(value: cst.CSTNode | None) -> cst.CSTNode | None:
    """`model` of `accelerator.unwrap_model(model)`."""
    match value:
        case cst.Call(func=cst.Attribute(attr=cst.Name("unwrap_model")), args=[cst.Arg(value=inner), *_]):
            return inner
        case _:
            return value


def _attribute_alias(ctx: Context, node: cst.Attribute, name: str) -> str | None:
    """`student` for `self.teacher` where the class only ever says `self.teacher = self.student`."""
    method = ctx.method(node)
    if method is None or ctx.name(node.value) != method.self:
        return None
    given = list(ctx.index.assigned(method.owner, name))
    if len(given) != 1 or given[0][1].value.call or not given[0][1].method:
        return None
    head, _, attribute = (given[0][1].value.dotted or "").partition(".")
    return attribute if head == "self" and attribute and "." not in attribute else None


# -- gradients on or off


def grad_mode(ctx: Context, node: cst.CSTNode) -> str:
    """What a context manager or decorator does to gradients: `off`, `on`, `maybe`, or "" for nothing."""
    bare = node.func if isinstance(node, cst.Call) else node
    if ctx.means(bare, known.NO_GRAD):
        mode = positional(node, 0) or keyword(node, "mode") if isinstance(node, cst.Call) else None
        given = literal(mode.value) if mode else True
        return "off" if given is True else "maybe" if given is ... else ""
    if ctx.means(bare, "torch.enable_grad"):
        return "on"
    if ctx.means(bare, "torch.set_grad_enabled") and isinstance(node, cst.Call):
        mode = positional(node, 0) or keyword(node, "mode")
        given = literal(mode.value) if mode else ...
        return "off" if given is False else "on" if given is True else "maybe"
    if isinstance(node, cst.IfExp):
        return "maybe" if grad_mode(ctx, node.body) or grad_mode(ctx, node.orelse) else ""
    if isinstance(node, (cst.Name, cst.Call)):
        for where, value in values(ctx, bare):
            if value is not node and grad_mode(where, value):
                return "maybe"
    return ""


def gradients(ctx: Context, node: cst.CSTNode) -> str:
    """`off`, `on` or `maybe` where a node runs, as far as its own function says; "" where it says nothing."""
    below = node
    for above in ctx.ancestors(node):
        if isinstance(above, cst.With) and below is above.body:
            if modes := [m for item in above.items if (m := grad_mode(ctx, item.item))]:
                return modes[-1]
        elif isinstance(above, (cst.IndentedBlock, cst.Module)):
            for statement in reversed(above.body[: above.body.index(below)]):
                if mode := switch(ctx, statement):
                    return mode
        elif isinstance(above, cst.FunctionDef) and below is above.body:
            return next((m for d in above.decorators if (m := grad_mode(ctx, d.decorator))), "")
        if isinstance(above, (cst.Lambda, cst.ClassDef)):
            return ""
        below = above
    return ""


def switch(ctx: Context, statement: cst.CSTNode) -> str:
    """`off`, `on` or `maybe` for a statement `torch.set_grad_enabled(…)`."""
    match statement:
        case cst.SimpleStatementLine(body=[cst.Expr(value=cst.Call() as call)]):
            return grad_mode(ctx, call) if ctx.means(call.func, "torch.set_grad_enabled") else ""
        case _:
            return ""


# -- uses


def uses(ctx: Context, root: cst.CSTNode, depth: int = DEPTH) -> list[Use]:
    """Every run of weights in a body, with those in the project's functions that it calls."""
    key = (uses, root, depth)
    if key not in ctx.memo:
        ctx.memo[key] = []  # what a function that calls itself sees
        ctx.memo[key] = list(_uses(ctx, root, depth))
    found: list[Use] = ctx.memo[key]
    return found


def _uses(ctx: Context, root: cst.CSTNode, depth: int) -> Iterator[Use]:
    for node in flow.own(root):
        found: list[Use] = []
        if isinstance(node, cst.Call):
            found = list(_call(ctx, node, depth))
        elif isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.MatrixMultiply):
            found = [Use(p, node, False) for side in (node.left, node.right) if (p := _parameter(ctx, side))]
        mode = gradients(ctx, node) if found else ""
        if mode == "maybe" or (found and switched_off(ctx, node)):
            continue
        yield from (Use(u.path, u.node, u.off or mode == "off", u.sure) for u in found)


def _call(ctx: Context, call: cst.Call, depth: int) -> Iterator[Use]:
    if (target := followed(ctx, call)) is not None:
        where, function = target
        for inner in uses(where, function.body, depth - 1) if depth else ():
            if (path := outward(ctx, call, where, function, inner.path)) is not None:
                sure = inner.sure and flow.dominates(where.parents, inner.node, function)
                yield Use(path, call, inner.off, sure)
        return
    last = (ctx.name(call.func) or "").rpartition(".")[2]
    if _MATMULS.fullmatch(last):
        yield from (Use(p, call, False) for arg in call.args if (p := _parameter(ctx, arg.value)))
    match call.func:
        case cst.Attribute(value=owner, attr=cst.Name(value=attribute)) if _FORWARDS.fullmatch(attribute):
            if is_module(ctx, owner) and (path := path_of(ctx, call.func)):
                yield Use(path[:-1] if attribute == "forward" else path, call, False)
                return
    if is_module(ctx, call.func) and (path := path_of(ctx, call.func)):
        yield Use(path, call, False)


def followed(ctx: Context, call: cst.Call) -> tuple[Context, cst.FunctionDef] | None:
    """The project's function that a call runs; `self(x)` runs `forward`."""
    method = ctx.method(call)
    if method is not None and ctx.name(call.func) == method.self:
        owner = ctx.index.method(method.owner, "forward")
        where = ctx.other(owner.path) if owner else None
        return where.definition(f"{owner.name}.forward") if where and owner else None
    return ctx.callee(call)


def outward(ctx: Context, call: cst.Call, where: Context, function: cst.FunctionDef, path: Path) -> Path | None:
    """A path in a called function as the caller would write it."""
    root, rest = path[0], path[1:]
    params = [p.name.value for p in (*function.params.posonly_params, *function.params.params)]
    if (inner := where.method(function)) is not None and inner.node is function:
        if root == inner.self:
            caller = ctx.method(call)
            return (caller.self, *rest) if caller is not None else None
        params = params[1:]
    given: cst.Arg | None = None
    if root in params:
        given = keyword(call, root) or positional(call, params.index(root))
    elif root in (p.name.value for p in function.params.kwonly_params):
        given = keyword(call, root)
    elif root in where.bindings(function) or where is not ctx:
        return None
    else:
        return path
    base = path_of(ctx, given.value) if given is not None else None
    return (*base, *rest) if base is not None else None


def _parameter(ctx: Context, node: cst.CSTNode) -> Path | None:
    if isinstance(node, cst.Attribute) and ctx.is_a(node, frozenset({"torch.nn.Parameter"})):
        return path_of(ctx, node)
    return None


# -- what is a module, and whether its weights are cached


def is_module(ctx: Context, node: cst.CSTNode) -> bool:
    """Whether a call of `node` runs weights that autocast caches: by constructor, by use, or by its name."""
    while isinstance(node, cst.Subscript) and path_of(ctx, node):
        node = node.value
    path = path_of(ctx, node)
    method = ctx.method(node)
    if path is None or ctx.origin(node) or (method is not None and path == (method.self,)):
        return False
    kind = ctx.kind(node)
    verdicts = {_is_module_class(ctx, name) for name in kind.names} if kind else {None}
    if False in verdicts:
        return False
    likely = verdicts == {True} or _NAMED.fullmatch(path[-1]) is not None or _trained(ctx, path)
    return likely and not cast_or_frozen(ctx, node, path)


def _is_module_class(ctx: Context, name: str) -> bool | None:
    if ":" in name:
        where, _, klass = name.partition(":")
        return ctx.index.descends(Ref(where, klass), known.TORCH_MODULE) if klass else None
    if _WEIGHTLESS.fullmatch(name):
        return False
    return True if name.startswith("torch.nn.") or _LIBRARIES.fullmatch(name) else None


def _trained(ctx: Context, path: Path) -> bool:
    """Whether the file speaks of it as of a module: `X.parameters()`, `X.train()`."""
    key = (_trained,)
    if key not in ctx.memo:
        calls = (call.func for call in ctx.all(cst.Call) if isinstance(call.func, cst.Attribute))
        ctx.memo[key] = {ctx.name(func.value) for func in calls if func.attr.value in _TRAINED_BY}
    return any(name is not None and _same_thing(name, path) for name in ctx.memo[key])


def _same_thing(name: str, path: Path) -> bool:
    """Whether a name elsewhere in the file likely means the path: the same, or the same last name."""
    return name == written(path) or name.rpartition(".")[2] == path[-1]


def cast_or_frozen(ctx: Context, node: cst.CSTNode, path: Path) -> bool:
    """Whether the file freezes it, compiles it, or keeps its weights in low precision: then nothing is cached."""
    for _, value in values(ctx, node):
        if isinstance(value, cst.Call) and (
            ctx.means(value.func, _COMPILED) or any(_quiet(ctx, c) for c in _chain(value))
        ):
            return True
    key = (cast_or_frozen,)
    if key not in ctx.memo:
        ctx.memo[key] = [(ctx.name(owner), path_of(ctx, owner)) for owner in _quieted(ctx)]
    for name, found in ctx.memo[key]:
        if name is not None and _same_thing(name, path):
            return True
        if found is not None and len(found) > 1 and covers(found, path):
            return True
    return False


def _quieted(ctx: Context) -> Iterator[cst.BaseExpression]:
    """What the file freezes or casts to low precision."""
    for call in ctx.all(cst.Call):
        if _quiet(ctx, call) and isinstance(call.func, cst.Attribute):
            owner = call.func.value
            while isinstance(owner, cst.Call) and isinstance(owner.func, cst.Attribute):
                owner = owner.func.value
            yield owner
        elif (ctx.name(call.func) or "").rpartition(".")[2] in _FREEZERS and call.args:
            yield call.args[0].value
    for loop in ctx.all(cst.For):
        match loop.iter:
            case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name("parameters" | "named_parameters"))):
                if any(_freezes(node) for node in flow.own(loop.body)):
                    yield owner


_COMPILED = frozenset({"torch.compile", "torch.jit.script", "torch.jit.trace"})


def _chain(call: cst.BaseExpression) -> Iterator[cst.Call]:
    """The calls of `a().b().c()`, last first."""
    while isinstance(call, cst.Call):
        yield call
        call = call.func.value if isinstance(call.func, cst.Attribute) else call.func


def _quiet(ctx: Context, call: cst.Call) -> bool:
    """`.requires_grad_(False)`, `.half()`, `.to(torch.bfloat16)`, `.freeze()`."""
    match call:
        case cst.Call(func=cst.Attribute(attr=cst.Name("requires_grad_")), args=[cst.Arg(value=given)]):
            return literal(given) is not True
        case cst.Call(func=cst.Attribute(attr=cst.Name("half" | "bfloat16" | "freeze")), args=[]):
            return True
        case cst.Call(func=cst.Attribute(attr=cst.Name("to")), args=args):
            return any(ctx.means(a.value, "torch.float16", "torch.bfloat16", "torch.half") for a in args)
        case _:
            return False


def _freezes(node: cst.CSTNode) -> bool:
    match node:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Attribute(attr=cst.Name("requires_grad")))], value=value):
            return literal(value) is not True
        case cst.Call(func=cst.Attribute(attr=cst.Name("requires_grad_")), args=[cst.Arg(value=given)]):
            return literal(given) is not True
        case _:
            return False


def forgets(ctx: Context, root: cst.CSTNode, depth: int = DEPTH) -> list[cst.CSTNode]:
    """The nodes of a body that empty the weight cache."""
    key = (forgets, root, depth)
    if key not in ctx.memo:
        ctx.memo[key] = []
        ctx.memo[key] = [node for node in flow.own(root) if isinstance(node, cst.Call) and _forgets(ctx, node, depth)]
    found: list[cst.CSTNode] = ctx.memo[key]
    return found


def _forgets(ctx: Context, call: cst.Call, depth: int) -> bool:
    if ctx.means(call.func, "torch.clear_autocast_cache"):
        return True
    target = ctx.callee(call) if depth else None
    return target is not None and bool(forgets(target[0], target[1].body, depth - 1))


def between(ctx: Context, first: cst.CSTNode, nodes: Sequence[cst.CSTNode], last: cst.CSTNode) -> bool:
    """Whether one of `nodes` stands on the way from one node to another, in one pass or round a loop."""
    straight = flow.order(ctx.parents, first, last) is flow.Order.BEFORE
    for node in nodes:
        after = flow.order(ctx.parents, first, node) in (flow.Order.BEFORE, flow.Order.NESTED)
        before = flow.order(ctx.parents, node, last) is flow.Order.BEFORE
        if (after and before) if straight else (after or before):
            return True
    return False
