"""What a module is called (`("self", "net", "[0]")`), what is one at all, and whether autocast caches its weights."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Sequence

from codemods.analysis import instances
from codemods.analysis.calls import binder, given, literal, values
from codemods.analysis.definitions import reaching
from codemods.analysis.mentions import Occurrence, told
from codemods.analysis.places import file_of
from codemods.analysis.python_context import Binding, PythonContext
from codemods.analysis.tensors import METHODS, is_tensor
from codemods.analysis.values import possible_values
from codemods.flow.answers import Answer, question, unknown, unless, yes
from codemods.frameworks.autocast.openings import DEPTH
from codemods.frameworks.gradients.grad_mode import gradients
from codemods.frameworks.gradients.losses import LOSS_FUNCTIONS, LOSS_MODULES
from codemods.model.edits import Evidence
from codemods.model.names import TORCH_MODULE
from codemods.project.index import Ref
from codemods.syntax.module import FUNCTIONS, own

Path = tuple[str, ...]

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
_CAST = frozenset(
    {
        *("Linear", "LazyLinear", "Bilinear", "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d"),
        *("ConvTranspose3d", "GRU", "RNN", "LSTM", "LSTMCell", "GRUCell", "RNNCell", "MultiheadAttention", "PReLU"),
        *("Transformer", "TransformerEncoder", "TransformerEncoderLayer", "TransformerDecoder", "linear", "bilinear"),
        *("TransformerDecoderLayer", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "matmul"),
        *("conv_transpose3d", "mm", "bmm", "mv", "einsum", "addmm", "baddbmm", "prelu", "chain_matmul"),
        "scaled_dot_product_attention",
    }
)
"""Modules and functions whose weights autocast casts: https://docs.pytorch.org/docs/stable/amp.html"""
_LAYERS = frozenset(name for name in _CAST if name[:1].isupper())
_MADE = re.compile(r"torch\.nn\.[A-Z]\w*")
_WITHOUT_MODULES = frozenset({"torch", "numpy", "math", "tqdm"}) | sys.stdlib_module_names
_LOW = ("torch.float16", "torch.bfloat16", "torch.half")
_LOW_WORDS = ("float16", "bfloat16", "half", "float64", "double", "set_default_dtype")
_LOADING = frozenset({"from_pretrained", "from_config", "from_single_file", "BitsAndBytesConfig", "load_model"})
"""Functions that make a model of the type that they are given."""
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
                if isinstance(value, (ast.Name, ast.Attribute, ast.Subscript)) and (
                    found := path_of(ctx, value, depth - 1)
                ):
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


def is_module(ctx: PythonContext, node: ast.expr) -> bool | None:
    """Whether a call of `node` runs weights that autocast caches: by constructor, or by what is done with it.

    None where its class is not in sight, and it is a parameter, a variable, or an attribute of `self`: it may.
    """
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
    if isinstance(node, ast.Attribute) and kind and all(_is_of_a_function(ctx, name) for name in kind.names):
        kind = None  # what it returns may be a module (`built_by_a_function`)
    verdicts = {_is_module_class(ctx, name) for name in kind.names} if kind else {None}
    if False in verdicts or cast_or_frozen(ctx, node, path):
        return False
    if verdicts == {True} or _trained(ctx, path) or _makes_the_loss(ctx, node):
        return True
    return None if kind is None and _may_be_called(ctx, node) else False


def _may_be_called(ctx: PythonContext, node: ast.expr) -> bool:
    """Whether a name is a variable or parameter of a function, or an attribute of `self` that somebody assigns."""
    if isinstance(node, ast.Name):
        bound = binder(ctx, node.id, node)
        given = ctx.bindings(bound).get(node.id, ()) if bound is not None else ()
        return isinstance(bound, FUNCTIONS) and not any(_is_a_function(ctx, b) for b in given)
    method = ctx.method(node)
    if method is None or not isinstance(node, ast.Attribute) or ctx.name(node.value) != method.self:
        return False
    return next(ctx.index.assigned(method.owner, node.attr), None) is not None


def _is_a_function(ctx: PythonContext, binding: Binding) -> bool:
    """Whether a name is bound to a function, a class, or a method of something else than `self`."""
    if isinstance(binding.node, (*FUNCTIONS, ast.ClassDef)):
        return True
    method = ctx.method(binding.node)
    value = binding.value
    return isinstance(value, ast.Attribute) and (method is None or ctx.name(value.value) != method.self)


def _makes_the_loss(ctx: PythonContext, node: ast.expr) -> bool:
    """Whether it alone, beside torch and the batch, makes what is differentiated: then it has the weights."""
    name = ctx.name(node)
    key = (_makes_the_loss, ctx.scope(node))
    if key not in ctx.memo:
        ctx.memo[key] = frozenset(_only_makers(ctx, ctx.scope(node)))
    return name is not None and name in ctx.memo[key]


def _only_makers(ctx: PythonContext, scope: ast.AST) -> Iterator[str]:
    for call in own(scope):
        if not isinstance(call, ast.Call) or gradients(ctx, call) == "off":
            continue
        loss = ctx.loss_of(call)
        given = values(call) if _is_a_loss(ctx, call) else [loss] if loss is not None else []
        made = [each for value in given for each in _called(ctx, value)]
        called = {ctx.name(c.func) or ast.unparse(c.func) for c in made if gradients(ctx, c) != "off"}
        if len(called) == 1:
            yield from called


def _is_a_loss(ctx: PythonContext, call: ast.Call) -> bool:
    return ctx.means(call.func, LOSS_FUNCTIONS) or ctx.is_a(call.func, LOSS_MODULES)


_MOVING = frozenset(
    {"to", "cuda", "cpu", "type", "type_as", "long", "int", "bool", "pin_memory", "permute", "transpose"}
)
"""Methods that give a tensor of the batch as another one (`moved_batch`)."""


def _called(ctx: PythonContext, value: ast.expr, depth: int = 2) -> Iterator[ast.Call]:
    """The calls of what belongs to no library by which a value is computed, also by way of a variable."""
    for node in (value, *own(value)):
        match node:
            case ast.Call(func=func) if not ctx.origin(func):
                if not (isinstance(func, ast.Attribute) and func.attr in METHODS | _MOVING):
                    yield node
            case ast.Name() if depth:
                for binding in reaching(ctx, node)[0]:  # what it is later says nothing (`chained`)
                    if binding.value is not None and binding.value is not value:
                        yield from _called(ctx, binding.value, depth - 1)


def takes_outputs(ctx: PythonContext, called: ast.expr) -> bool:
    """Whether a name is probably a loss function: called with outputs and targets, or with outputs only."""
    name = ctx.name(called)
    calls = [n for n in own(ctx.scope(called)) if isinstance(n, ast.Call) and ctx.name(n.func) == name]
    given = [call.args or values(call) for call in calls]  # a flag beside them says nothing (`head_alone`)
    outputs = [[any(True for _ in _called(ctx, value)) for value in each] for each in given]
    return all(any(each) for each in outputs) or any(any(each) and not all(each) for each in outputs)


@question
def has_weights(ctx: PythonContext, sure: bool, at: ast.expr | ast.stmt, path: Path) -> Answer:
    """Whether what runs twice surely is a module with weights."""
    return yes() if sure else unknown(ctx.evidence(at, f"`{written(path)}` may have no weights"))


@question
def something_is_cast(ctx: PythonContext, at: ast.expr | ast.stmt) -> Answer:
    """Whether autocast may cast weights of a model: embeddings and products have none that it does (`nothing_is_cast`).

    Models of other libraries, and those that a file is given, are taken for such that it does.
    """
    if _casts(ctx, set()):
        return yes()
    makes = (origin for call in ctx.all(ast.Call) for origin in ctx.origin(call.func))
    if not any(_MADE.fullmatch(origin) or instances.is_module_class(ctx, origin) for origin in makes):
        return yes()
    return unknown(ctx.evidence(at, "nothing in this file has weights that autocast casts"))


def _casts(ctx: PythonContext, seen: set[str]) -> bool:
    """Whether a file, or one of the project that it imports, may have weights that autocast casts (`scales_alone`)."""
    called = ctx.facts.called
    products = not called.isdisjoint(_CAST) or any(isinstance(each.op, ast.MatMult) for each in ctx.all(ast.BinOp))
    # of a parameter of its own a product may take a view, which is not kept (`used_as_a_view`)
    if not called.isdisjoint(_LAYERS) or (products and "Parameter" not in called):
        return True
    seen.add(ctx.path)  # one for all ways: what two files import is looked at once
    for each in ctx.facts.imports:
        if each.target.partition(".")[0] in _WITHOUT_MODULES:
            continue
        path = file_of(ctx.index, ctx.path, each)
        if not isinstance(path, str):
            return True
        there = ctx.other(path) if path not in seen else None
        if there is not None and _casts(there, seen):
            return True
    return False


@question
def weights_are_float32(ctx: PythonContext, path: Path) -> Answer:
    """Whether nothing in the program may keep the weights in low precision: autocast caches copies of float32 only."""
    low, casts = told(ctx, _low_types, *_LOW_WORDS), told(ctx, _casts_by_name, "to", "type")
    is_kept = any(place is None for place in low)
    return unless(
        (
            *(place for place in low if place is not None),
            *(place for place, from_a_table in casts if is_kept or not from_a_table),
        )
    )


def _low_types(found: Sequence[Occurrence]) -> tuple[Evidence | None, ...]:
    """Where a file may cast weights to a type of low precision; None where it keeps such a type in a table."""
    kept = (None,) if any(map(_is_kept, found)) else ()
    return (*map(_of_the_weights, filter(_is_of_weights, found)), *kept)


def _of_the_weights(mention: Occurrence) -> Evidence:
    return mention.evidence(f"`{mention.ctx.written(mention.node)}` may be the type of the weights")


def _casts_by_name(found: Sequence[Occurrence]) -> tuple[tuple[Evidence, bool], ...]:
    """Where a file casts a module to a type that only a run can tell, and whether that comes from a table."""
    told_by = [(each, how) for each in found if (how := _is_cast_by_name(each)) is not None]
    return tuple((_of_the_weights(each), how) for each, how in told_by)


def _is_kept(mention: Occurrence) -> bool:
    """Whether a type of low precision is put into a table, or handed out by a function: any cast may be to it."""
    return mention.word != "half" and mention.is_kept and not isinstance(mention.ctx.parent(mention.node), ast.keyword)


def _behind(ctx: PythonContext, value: ast.expr) -> list[ast.expr]:
    """A value, or what a name stands for."""
    if not isinstance(value, ast.Name):
        return [value]
    found = (each.node for each in possible_values(ctx, value)[0] if each.ctx is ctx)
    return [each for each in found if isinstance(each, ast.expr)]


def _is_cast_by_name(mention: Occurrence) -> bool | None:
    """`net.to(TYPES[name])` (True), `net.to(getattr(torch, name))` (False): to a type that only a run can tell.

    Returns:
        Whether the type comes from a table; None of any other call.
    """
    ctx, call, receiver = mention.ctx, mention.call, mention.receiver
    if call is None or receiver is None:
        return None
    for dtype in (each for value in values(call) for each in _behind(ctx, value)):
        match dtype:
            case ast.Subscript():
                from_a_table = True
            case ast.Call(args=[owner, attribute, *_]) if ctx.name(dtype.func) == "getattr":
                if ctx.name(owner) != "torch" or isinstance(attribute, ast.Constant):
                    continue
                from_a_table = False
            case _:
                continue
        if _may_be_a_module(ctx, receiver):
            return from_a_table
    return None


def _is_of_weights(mention: Occurrence) -> bool:
    """Whether a place that names a type of low precision may cast weights: no region, no plain tensor, no test."""
    ctx, node = mention.ctx, mention.node
    below: ast.AST = node
    for above in ctx.ancestors(node):
        match above:
            case ast.Compare():
                return False
            case ast.Call(func=ast.Attribute(value=owner, attr="to" | "type" | "half" | "bfloat16")):
                return below is above.func or _may_be_a_module(ctx, owner)
            case ast.Call(func=func):
                last = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
                return last in _LOADING or last == "set_default_dtype"
            case ast.stmt():
                return False
        below = above
    return False


def _may_be_a_module(ctx: PythonContext, owner: ast.expr) -> bool:
    """Whether what is cast may be a module: no item of a batch, nothing that a loop brings, no tensor."""
    if isinstance(owner, (ast.Call, ast.Subscript)) or is_tensor(ctx, owner):
        return False
    # a module that is cast keeps no copies, and `is_module` says no of it (bfloat16_by_a_factory)
    kind = instances.of(ctx, owner)
    if kind is not None and {_is_module_class(ctx, name) for name in kind.names} == {False}:
        return False
    bound = binder(ctx, owner.id, owner) if isinstance(owner, ast.Name) else None
    bindings = ctx.bindings(bound).get(owner.id, ()) if bound is not None and isinstance(owner, ast.Name) else ()
    return not any(isinstance(b.node, (ast.For, ast.comprehension)) or _is_an_item(b.value) for b in bindings)


def _is_an_item(value: ast.expr | None) -> bool:
    while isinstance(value, (ast.Attribute, ast.Call)):
        value = value.value if isinstance(value, ast.Attribute) else value.func
    return isinstance(value, ast.Subscript)


def _is_module_class(ctx: PythonContext, name: str) -> bool | None:
    if ":" in name:
        where, _, klass = name.partition(":")
        return ctx.index.descends(Ref(where, klass), TORCH_MODULE) if klass else None
    if _WEIGHTLESS.fullmatch(name):
        return False
    return True if name.startswith("torch.nn.") or _LIBRARIES.fullmatch(name) else None


def _is_of_a_function(ctx: PythonContext, name: str) -> bool:
    """Whether what makes an object is a function of the project, and no class."""
    where, _, function = name.partition(":")
    facts = ctx.index.facts(where) if function else None
    return facts is not None and function in facts.functions


def _trained(ctx: PythonContext, path: Path) -> bool:
    """Whether the file speaks of it as of a module: `X.parameters()`, `X.train()`, under its name or its last one."""
    key = (_trained,)
    if key not in ctx.memo:
        called = (c.func for c in ctx.all(ast.Call) if isinstance(c.func, ast.Attribute))
        owners = {ctx.name(func.value) for func in called if func.attr in _TRAINED_BY} - {None}
        ctx.memo[key] = owners | {(name or "").rpartition(".")[2] for name in owners}
    names: set[str] = ctx.memo[key]
    while len(path) > 1 and path[-1].startswith("["):
        path = path[:-1]  # an item of a list or dictionary of modules
    return written(path) in names or path[-1] in names


def cast_or_frozen(ctx: PythonContext, node: ast.expr, path: Path) -> bool:
    """Whether the file freezes it, compiles it, or keeps its weights in low precision: then nothing is cached."""
    found, complete = possible_values(ctx, node, returns=True, given=given)
    made = [(each.ctx, each.node) for each in found if not each.path and isinstance(each.node, ast.expr)]
    for where, value in made:
        if isinstance(value, ast.Call) and where.means(value.func, _COMPILED):
            return True
        if any(_quiet(where, c) for c in _chain(value)):
            return True
    if complete and made and all(any(_is_loaded_low(where, c) for c in _chain(value)) for where, value in made):
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


def _is_loaded_low(ctx: PythonContext, call: ast.expr) -> bool:
    """`from_pretrained(…, torch_dtype=torch.bfloat16)`."""
    return isinstance(call, ast.Call) and any(
        k.arg in ("torch_dtype", "dtype") and (ctx.means(k.value, *_LOW) or literal(k.value) in ("bfloat16", "float16"))
        for k in call.keywords
    )


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
