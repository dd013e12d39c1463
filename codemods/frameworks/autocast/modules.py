"""What a module is called (`("self", "net", "[0]")`), what is one at all, and whether autocast caches its weights."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from codemods.frameworks.autocast.openings import DEPTH, values
from codemods.model.names import TORCH_MODULE
from codemods.project.index import Ref
from codemods.rules.context import Context
from codemods.syntax import flow
from codemods.syntax.rewrite import literal

Path = tuple[str, ...]

_MODULE_NAMES = (
    r"model|net|network|unet|encoder|decoder|backbone|generator|discriminator|critic|actor|policy|student|teacher|head"
    r"|transformer|denoiser|module|classifier|segmentor|detector|predictor|projector|embedder|feature_extractor"
)
_VERBS = (
    r"unwrap|wrap|build|get|create|load|save|make|select|init|initialize|setup|prepare|export|compile|freeze|unfreeze"
    r"|update|reset|train|eval|copy|clone|set|restore|store|parse|print|log|test|fit|convert|move|init|register|push"
)
_NAMED = re.compile(
    rf"(?!(?:{_VERBS})_)(?:(?:.*_)?(?:{_MODULE_NAMES})\d*|net_?[a-z]|[dg]_?net|model_?\w)", re.IGNORECASE
)
_LIBRARIES = re.compile(
    r"(torchvision\.models|timm|transformers|diffusers|segmentation_models_pytorch|monai\.networks|torch_geometric\.nn"
    r"|open_clip|efficientnet_pytorch|sentence_transformers)\..+"
)
_WEIGHTLESS = re.compile(
    r"torch\.nn\.(\w*Loss\w*|\w*LU|GELU|Sigmoid|Tanh|Softmax\w*|LogSoftmax|Softplus|Dropout\w*|\w*Pool\w*|Identity"
    r"|\w*Norm\w*|Embedding\w*|Flatten|Unflatten|Upsample|\w*Pad\w*|PixelShuffle|PixelUnshuffle|Fold|Unfold|CosineSimilarity|ParameterList)"
    r"|(torchmetrics|torch\.optim|torchvision\.transforms|torch\.utils|numpy|torch\.compile|torch\.jit|kornia)\b.*"
)
_TRAINED_BY = ("parameters", "named_parameters", "train", "state_dict", "load_state_dict", "zero_grad", "no_sync")
_LOW = ("torch.float16", "torch.bfloat16", "torch.half")
_QUIETING = ("requires_grad", "half", "bfloat16", "freeze", "set_grad", "toggle_grad")
"""One of these stands in whatever freezes weights, or casts them to low precision by a method."""
_FREEZERS = ("requires_grad", "set_requires_grad", "freeze", "set_grad", "toggle_grad", "freeze_model", "freeze_params")


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
            if (listed := _listed(ctx, node)) is not None:
                base = path_of(ctx, listed, depth - 1) if depth else None
                return (*base, "[…]") if base is not None else None
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


_LISTS = frozenset({"torch.nn.ModuleList", "torch.nn.Sequential"})


def _listed(ctx: Context, node: cst.Name) -> cst.BaseExpression | None:
    """The list of modules that a loop around a node takes its variable from: `for block in self.blocks`."""
    below: cst.CSTNode = node
    for above in ctx.ancestors(node):
        match above:
            case cst.For(target=cst.Name(value=name), iter=listed, body=body) if name == node.value and below is body:
                return listed if ctx.is_a(listed, _LISTS) else None
            case cst.FunctionDef() | cst.Lambda() | cst.ClassDef():
                return None
        below = above
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


def is_module(ctx: Context, node: cst.CSTNode) -> bool:
    """Whether a call of `node` runs weights that autocast caches: by constructor, by use, or by its name."""
    while isinstance(node, cst.Subscript) and path_of(ctx, node):
        node = node.value
    if isinstance(node, cst.Name) and (listed := _listed(ctx, node)) is not None:
        found = path_of(ctx, listed)
        return found is not None and not cast_or_frozen(ctx, listed, found)
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
        return ctx.index.descends(Ref(where, klass), TORCH_MODULE) if klass else None
    if _WEIGHTLESS.fullmatch(name):
        return False
    return True if name.startswith("torch.nn.") or _LIBRARIES.fullmatch(name) else None


def _trained(ctx: Context, path: Path) -> bool:
    """Whether the file speaks of it as of a module: `X.parameters()`, `X.train()`."""
    key = (_trained, path[-1])
    if key not in ctx.memo:
        speaking = re.compile(rf"{re.escape(path[-1])}[\s)\\]*\.[\s\\]*(?:{'|'.join(_TRAINED_BY)})\b")
        calls = (c.func for c in ctx.all(cst.Call, speaking) if isinstance(c.func, cst.Attribute))
        owners = (ctx.name(func.value) for func in calls if func.attr.value in _TRAINED_BY)
        ctx.memo[key] = any(name is not None and _same_thing(name, path) for name in owners)
    known: bool = ctx.memo[key]
    return known


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
    for call in ctx.all(cst.Call, *_QUIETING, *ctx.spellings(*_LOW)):
        if _quiet(ctx, call) and isinstance(call.func, cst.Attribute):
            owner = call.func.value
            while isinstance(owner, cst.Call) and isinstance(owner.func, cst.Attribute):
                owner = owner.func.value
            yield owner
        elif (ctx.name(call.func) or "").rpartition(".")[2] in _FREEZERS and call.args:
            yield call.args[0].value
    for loop in ctx.all(cst.For, "requires_grad"):
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
            return any(ctx.means(a.value, *_LOW) for a in args)
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
