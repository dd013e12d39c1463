"""What a module is called (`("self", "net", "[0]")`), what is one at all, and whether autocast caches its weights."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from codemods.analysis import instances
from codemods.analysis.calls import literal, values
from codemods.analysis.python_context import PythonContext
from codemods.analysis.values import expressions
from codemods.frameworks.autocast.openings import DEPTH
from codemods.model.names import TORCH_MODULE
from codemods.project.index import Ref
from codemods.syntax.module import own

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
_FREEZERS = ("requires_grad", "set_requires_grad", "freeze", "set_grad", "toggle_grad", "freeze_model", "freeze_params")


def overlap(a: Path, b: Path) -> bool:
    """Whether two paths lead to common weights: one is the other, or a part of it."""
    return a[: len(b)] == b[: len(a)]


def covers(a: Path, b: Path) -> bool:
    """Whether all weights of `b` are among those of `a`."""
    return b[: len(a)] == a


def written(path: Path) -> str:
    return ".".join(path).replace(".[", "[")


def path_of(ctx: PythonContext, node: ast.AST, depth: int = DEPTH) -> Path | None:
    """The path of an expression, plain aliases followed; None where it has none.

    A path is a way to write something, not its value: only what is assigned once, and always, is an alias.
    """
    match node:
        case ast.Name(id=name):
            if (listed := _listed(ctx, node)) is not None:
                base = path_of(ctx, listed, depth - 1) if depth else None
                return (*base, "[…]") if base is not None else None
            bindings = ctx.assigned(node) if depth else None
            if bindings and len(bindings) == 1 and not bindings[0].conditional:
                value = _unwrapped(bindings[0].value)
                if isinstance(value, (ast.Name, ast.Attribute)) and (found := path_of(ctx, value, depth - 1)):
                    return found
            return (name,)
        case ast.Attribute(value=owner, attr=attribute):
            base = path_of(ctx, owner, depth)
            if base is None:
                return None
            if len(base) == 1 and depth and (alias := _attribute_alias(ctx, node, attribute)):
                return (base[0], alias)
            return (*base, attribute)
        case ast.Subscript(value=several, slice=index):
            base = path_of(ctx, several, depth)
            key = literal(index)
            return (*base, f"[{key}]") if base is not None and isinstance(key, (int, str)) else None
    return None


_LISTS = frozenset({"torch.nn.ModuleList", "torch.nn.Sequential"})


def _listed(ctx: PythonContext, node: ast.Name) -> ast.expr | None:
    """The list of modules that a loop around a node takes its variable from: `for block in self.blocks`."""
    below: ast.AST = node
    for above in ctx.ancestors(node):
        match above:
            case ast.For(target=ast.Name(id=name), iter=listed, body=body) if name == node.id and below in body:
                return listed if ctx.is_a(listed, _LISTS) else None
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda() | ast.ClassDef():
                return None
        below = above
    return None


def _unwrapped(value: ast.expr | None) -> ast.expr | None:
    """`model` of `accelerator.unwrap_model(model)`."""
    match value:
        case ast.Call(func=ast.Attribute(attr="unwrap_model"), args=[inner, *_]):
            return inner
    return value


def _attribute_alias(ctx: PythonContext, node: ast.Attribute, name: str) -> str | None:
    """`student` for `self.teacher` where the class only ever says `self.teacher = self.student`."""
    method = ctx.method(node)
    if method is None or ctx.name(node.value) != method.self:
        return None
    given = list(ctx.index.assigned(method.owner, name))
    if len(given) != 1 or given[0][1].value.call or not given[0][1].method:
        return None
    head, _, attribute = (given[0][1].value.dotted or "").partition(".")
    return attribute if head == "self" and attribute and "." not in attribute else None


def is_module(ctx: PythonContext, node: ast.expr) -> bool:
    """Whether a call of `node` runs weights that autocast caches: by constructor, by use, or by its name."""
    while isinstance(node, ast.Subscript) and path_of(ctx, node):
        node = node.value
    if isinstance(node, ast.Name) and (listed := _listed(ctx, node)) is not None:
        found = path_of(ctx, listed)
        return found is not None and not cast_or_frozen(ctx, listed, found)
    path = path_of(ctx, node)
    method = ctx.method(node)
    if path is None or ctx.origin(node) or (method is not None and path == (method.self,)):
        return False
    kind = instances.of(ctx, node)
    verdicts = {_is_module_class(ctx, name) for name in kind.names} if kind else {None}
    if False in verdicts:
        return False
    likely = verdicts == {True} or _NAMED.fullmatch(path[-1]) is not None or _trained(ctx, path)
    return likely and not cast_or_frozen(ctx, node, path)


def _is_module_class(ctx: PythonContext, name: str) -> bool | None:
    if ":" in name:
        where, _, klass = name.partition(":")
        return ctx.index.descends(Ref(where, klass), TORCH_MODULE) if klass else None
    if _WEIGHTLESS.fullmatch(name):
        return False
    return True if name.startswith("torch.nn.") or _LIBRARIES.fullmatch(name) else None


def _trained(ctx: PythonContext, path: Path) -> bool:
    """Whether the file speaks of it as of a module: `X.parameters()`, `X.train()`, under its name or its last one."""
    key = (_trained,)
    if key not in ctx.memo:
        called = (c.func for c in ctx.all(ast.Call) if isinstance(c.func, ast.Attribute))
        owners = {ctx.name(func.value) for func in called if func.attr in _TRAINED_BY} - {None}
        ctx.memo[key] = owners | {(name or "").rpartition(".")[2] for name in owners}
    names: set[str] = ctx.memo[key]
    return written(path) in names or path[-1] in names


def cast_or_frozen(ctx: PythonContext, node: ast.expr, path: Path) -> bool:
    """Whether the file freezes it, compiles it, or keeps its weights in low precision: then nothing is cached."""
    for _, value in expressions(ctx, node):
        if isinstance(value, ast.Call) and (
            ctx.means(value.func, _COMPILED) or any(_quiet(ctx, c) for c in _chain(value))
        ):
            return True
    key = (cast_or_frozen,)
    if key not in ctx.memo:
        ctx.memo[key] = [(ctx.name(owner), path_of(ctx, owner)) for owner in _quieted(ctx)]
    for name, found in ctx.memo[key]:
        if name is not None and (name == written(path) or name.rpartition(".")[2] == path[-1]):
            return True
        if found is not None and len(found) > 1 and covers(found, path):
            return True
    return False


def _quieted(ctx: PythonContext) -> Iterator[ast.expr]:
    """What the file freezes or casts to low precision."""
    for call in ctx.all(ast.Call):
        if _quiet(ctx, call) and isinstance(call.func, ast.Attribute):
            owner = call.func.value
            while isinstance(owner, ast.Call) and isinstance(owner.func, ast.Attribute):
                owner = owner.func.value
            yield owner
        elif (ctx.name(call.func) or "").rpartition(".")[2] in _FREEZERS and call.args:
            yield call.args[0]
    for loop in ctx.all(ast.For):
        match loop.iter:
            case ast.Call(func=ast.Attribute(value=owner, attr="parameters" | "named_parameters")):
                if any(_freezes(node) for node in own(loop)):
                    yield owner


_COMPILED = frozenset({"torch.compile", "torch.jit.script", "torch.jit.trace"})


def _chain(call: ast.expr) -> Iterator[ast.Call]:
    """The calls of `a().b().c()`, last first."""
    while isinstance(call, ast.Call):
        yield call
        call = call.func.value if isinstance(call.func, ast.Attribute) else call.func


def _quiet(ctx: PythonContext, call: ast.Call) -> bool:
    """`.requires_grad_(False)`, `.half()`, `.to(torch.bfloat16)`, `.freeze()`."""
    given = values(call)
    match call.func:
        case ast.Attribute(attr="requires_grad_"):
            return len(given) == 1 and literal(given[0]) is not True
        case ast.Attribute(attr="half" | "bfloat16" | "freeze"):
            return not given
        case ast.Attribute(attr="to"):
            return any(ctx.means(value, *_LOW) for value in given)
    return False


def _freezes(node: ast.AST) -> bool:
    match node:
        case ast.Assign(targets=[ast.Attribute(attr="requires_grad")], value=value):
            return literal(value) is not True
        case ast.Call(func=ast.Attribute(attr="requires_grad_")):
            given = values(node)
            return len(given) == 1 and literal(given[0]) is not True
    return False
