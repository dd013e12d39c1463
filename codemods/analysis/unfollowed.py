"""What a file holds that no rule follows to its end, and that may take part in a training."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator

from codemods.analysis.acting import acting, is_a_setting
from codemods.analysis.calls import literal, values
from codemods.analysis.instances import library_values
from codemods.analysis.places import where_defined
from codemods.analysis.python_context import PythonContext
from codemods.flow.answers import Answer, question, unless
from codemods.model.computed import Computed
from codemods.model.edits import Evidence
from codemods.model.names import GRAD_SCALER, OPTIMIZER
from codemods.project.index import Ref
from codemods.sources.files import SHELL
from codemods.syntax.module import FUNCTIONS, own

_PLAIN = frozenset(
    {"__init__", "__len__", "__getitem__", "__iter__", "__next__", "__repr__", "__str__", "__post_init__"}
)
"""Special methods that run where their object is made, counted, read or printed."""
_BASES = ("torch.optim.", "torch.autograd.", "torch.amp.", "torch.cuda.amp.", "torch.cpu.amp.", "contextlib.")
"""Beginnings of the names of classes whose subclasses step, differentiate, scale or enter something themselves."""
_NAMING = frozenset({"getattr", "setattr", "add_module", "register_module", "register_buffer", "register_parameter"})
"""Functions that take the name of an attribute, and methods that make one."""
_HALF = ("torch.float16", "torch.half")
_OF_TENSORS = frozenset({"grad", "requires_grad", "data"})
"""Attributes of tensors, of which rules ask themselves."""
_SIGNS = frozenset({"torch.optim.Rprop"})
_LIBRARIES = frozenset(
    {"torch", "lightning", "pytorch_lightning", "lightning_fabric", "transformers", "accelerate", "trl", "peft"}
    | {"abc", "typing", "object", "builtins", "enum", "collections", "dataclasses", "torchvision"}
)
"""Packages whose base classes leave alone what the code of the project says, or whose part in it rules know."""
_TURNING = frozenset(
    {"detach_", "requires_grad_", "requires_grad", "functional_call", "vector_to_parameters", "register_hook"}
    | {"register_forward_hook", "register_forward_pre_hook", "register_full_backward_hook"}
    | {"register_full_backward_pre_hook", "register_post_accumulate_grad_hook", "register_module_forward_hook"}
    | {"register_module_forward_pre_hook", "register_step_pre_hook", "register_step_post_hook"}
)
"""What turns gradients or the outputs of modules into something else, for whoever uses them later."""
_DTYPES = frozenset({"double", "float64", "set_default_dtype"})
"""What a region of autocast does not cast."""
_SCALES = frozenset({"init_scale", "growth_factor", "backoff_factor", "growth_interval"})
_LISTED = (
    *(ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.For, ast.While, ast.If, ast.With, ast.Return, ast.Break),
    *(ast.Continue, ast.Pass, ast.Assert, ast.Import, ast.ImportFrom, ast.Raise, ast.Delete, ast.Try),
    *(ast.Name, ast.Attribute, ast.Call, ast.Constant, ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.IfExp),
    *(ast.Subscript, ast.Slice, ast.Tuple, ast.List, ast.Dict, ast.Set, ast.JoinedStr, ast.FormattedValue, ast.Starred),
    *(ast.ListComp, ast.GeneratorExp, ast.DictComp, ast.SetComp, ast.FunctionDef, ast.ClassDef, ast.Yield),
    *(ast.AsyncFunctionDef, ast.AsyncFor, ast.AsyncWith, ast.Await),
)
"""Statements and expressions that training loops are written in, and that rules follow."""
_PASSING = _LIBRARIES | {"tqdm", "numpy", "wandb", "mlflow"} | sys.stdlib_module_names
"""Packages whose context managers let errors through."""
_LEAVING = frozenset({"contextlib.suppress", "contextlib.ExitStack", "unittest.mock.patch"})
_ENTERED = frozenset({"accumulate", "no_sync", "autocast", "join", "profile", "record_function"})
"""Methods of accelerators, strategies and wrapped models that open a region."""
_NAMES = frozenset({"__init__", "__name__", "__class__"})
_BY_TEXT = frozenset({"eval", "exec", "globals", "locals", "vars"})
_BOUND = frozenset({"functools.partial", "functools.reduce", "operator.methodcaller", "operator.attrgetter"})
"""What makes a function of which only a run tells what it calls."""
_MANIFESTS = (".txt", ".in", ".toml", ".cfg", ".yml", ".yaml")
_DEVICES = "CUDA_VISIBLE_DEVICES"
_HIDDEN = re.compile(_DEVICES + r"""(?:["']?\]?[ \t]*[=:,][ \t]*(?:""|''|["']-1["']|-1\b)|=(?=\s|$))""")
"""Where a program is shown no GPU: `os.environ["CUDA_VISIBLE_DEVICES"] = ""`, `CUDA_VISIBLE_DEVICES= python`."""
_ELSEWHERE = re.compile(r"deepspeed|cuda:[1-9]")
"""Texts that hand the step to an engine of its own, or put a part of the model on another device."""


@question
def nothing_here_is_unfollowed(ctx: PythonContext, node: ast.AST, known: frozenset[str] = frozenset()) -> Answer:
    """Whether the file around a place is plain: its code runs, and names what it means, in ways that rules follow.

    A property gives another object each time, a `with` steps in `__exit__`, an optimizer of somebody's own reads no
    gradient, an attribute that is set from outside switches how a module is trained.
    """
    key = (nothing_here_is_unfollowed,)
    if key not in ctx.memo:
        ctx.memo[key] = (*_of_classes(ctx), *_of_functions(ctx), *_of_attributes(ctx), *_of_values(ctx))
    found: tuple[Evidence, ...] = ctx.memo[key]
    around = ctx.klass(node)
    klass = ctx.index.klass(around) if around is not None else None
    # of the class around the place a rule knows what it extends (bare-closure-in-no-grad-step)
    plain = [each for each in found if klass is None or each.line != klass.line]
    return unless([*plain, *_turning(ctx, _TURNING - known), *_overridden(ctx, node)])


def _overridden(ctx: PythonContext, node: ast.AST) -> Iterator[Evidence]:
    """The classes of the project in which the method around a place, or that a decorator is on, is another one."""
    around = (node, *ctx.ancestors(node))
    methods = [each for each in around if isinstance(each, FUNCTIONS) and isinstance(ctx.parent(each), ast.ClassDef)]
    owner = ctx.klass(methods[0]) if methods else None
    for heir in ctx.index.subclasses(owner) if owner is not None else ():
        klass = ctx.index.klass(heir)
        other = klass.methods.get(methods[0].name) if klass is not None else None
        if other is not None:
            yield Evidence(heir.path, other.line, f"`{heir.name}` has a `{other.name}` of its own")


@question
def helpers_leave_it_alone(
    ctx: PythonContext, node: ast.AST, known: frozenset[str] = frozenset(), computed: Computed = Computed.ALL
) -> Answer:
    """Whether the functions of the project that are called around a place only compute, read or print.

    Args:
        known: words of which the rule asks itself.
        computed: what of the values that they give has a part in the claim.
    """
    return unless(_of_helpers(ctx, node, known, computed))


def _of_helpers(ctx: PythonContext, node: ast.AST, known: frozenset[str], computed: Computed) -> Iterator[Evidence]:
    """The first place that acts of each function that is called, or its call, where its value counts."""
    for call in own(ctx.function(node) or ctx.module.tree):
        called = ctx.callee(call) if isinstance(call, ast.Call) else None
        if called is None or not isinstance(call, ast.Call):
            continue
        is_used = not isinstance(ctx.parent(call), ast.Expr)
        sizes = is_used and bool(computed)
        if is_used and computed is Computed.ALL:
            where, function = called
            yield where.evidence(function, f"what `{ctx.written(call.func)}` does is not followed")
        elif place := next(acting(ctx, [called], known=known, sizes=sizes, owner=ctx.klass(node)), None):
            yield place


@question
def one_of_each_is_made(ctx: PythonContext) -> Answer:
    """Whether a file makes one optimizer and one gradient scaler at most: of several, a repair may mean another."""
    made = ([call for call in ctx.all(ast.Call) if ctx.origin(call.func) & kind] for kind in (OPTIMIZER, GRAD_SCALER))
    return unless(ctx.evidence(call, "a second one may take part") for calls in made for call in calls[1:])


@question
def no_weights_are_halved(ctx: PythonContext) -> Answer:
    """Whether nothing of a file makes weights of float16, whose gradients no scaler unscales (`halved`)."""
    return unless(_halving(ctx))


@question
def code_around_is_plain(ctx: PythonContext, node: ast.AST) -> Answer:
    """Whether the function around a place, its class and the file's own code hold nothing but what is followed.

    `_LISTED` names what training loops are written in. Anything else may change an object, a name or the order of
    things in a way that no rule follows.
    """
    scope, method = ctx.scope(node), ctx.method(node)
    key = (code_around_is_plain, scope)
    if key not in ctx.memo:
        inside = [each for each in own(method.klass) if isinstance(each, FUNCTIONS)] if method is not None else []
        scopes = dict.fromkeys((scope, *inside, ctx.module.tree))
        ctx.memo[key] = (
            *_unseen_bases(ctx, node),
            *(found for each in scopes for found in _unlisted(ctx, each, scope)),
        )
    found: tuple[Evidence, ...] = ctx.memo[key]
    return unless(found)


def _unseen_bases(ctx: PythonContext, node: ast.AST) -> Iterator[Evidence]:
    """The bases of the class around a place that belong to no library of which rules know what its classes do."""
    owner = ctx.klass(node)
    klass = ctx.index.klass(owner) if owner is not None else None
    if owner is None or klass is None:
        return
    for base in sorted(ctx.index.lineage(owner).external):
        if base.partition(".")[0] not in _LIBRARIES:
            yield Evidence(ctx.path, klass.line, f"what `{base}` does is not known")


def is_of_an_end(ctx: PythonContext, handler: ast.ExceptHandler) -> bool:
    """Whether a handler is for a missing package, or for a person who ends the run."""
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return all(ctx.name(each) in ("ImportError", "ModuleNotFoundError", "KeyboardInterrupt") for each in kinds)


def _runs_the_project(ctx: PythonContext, block: ast.Try) -> bool:
    """Whether what is tried may run code of the project: a library alone does not come back to it."""
    calls = (each for statement in block.body for each in ast.walk(statement) if isinstance(each, ast.Call))
    return not all(
        bool(origins := ctx.origin(each.func)) and not any(":" in origin for origin in origins) for each in calls
    )


def _unlisted(ctx: PythonContext, scope: ast.AST, around: ast.AST) -> Iterator[Evidence]:
    """What of a function is not followed; `around`: the one that is asked about."""
    for node in own(scope):
        what = ""
        if isinstance(node, (ast.stmt, ast.expr)) and not isinstance(node, _LISTED):
            what = "this is not followed"
        elif isinstance(node, ast.Try) and not all(is_of_an_end(ctx, each) for each in node.handlers):
            what = "an error may be caught here" if scope is around or _runs_the_project(ctx, node) else ""
        elif isinstance(node, ast.Attribute) and node.attr.startswith("__") and node.attr not in _NAMES:
            what = f"`{node.attr}` is not followed"
        elif isinstance(node, ast.Call) and (ctx.name(node.func) in _BY_TEXT or ctx.origin(node.func) & _BOUND):
            what = f"what `{ctx.written(node.func)}` reaches is not followed"
        if what and isinstance(node, (ast.stmt, ast.expr)):
            yield ctx.evidence(node, what)
        if isinstance(node, ast.With) and scope is around:
            yield from (
                _manager(ctx, each.context_expr) for each in node.items if not _is_plain(ctx, each.context_expr)
            )


def _manager(ctx: PythonContext, entered: ast.expr) -> Evidence:
    return where_defined(ctx, entered, f"`{ctx.written(entered)}` may leave this before its end", at=entered)


def _is_plain(ctx: PythonContext, entered: ast.expr) -> bool:
    """Whether a context manager is a library's, and lets every error through (`left_before_its_end`)."""
    if isinstance(entered, ast.Call) and isinstance(entered.func, ast.Attribute) and entered.func.attr in _ENTERED:
        return True
    made = library_values(ctx, entered)
    names = [
        name for where, each in made or () for name in where.origin(each.func if isinstance(each, ast.Call) else each)
    ]
    known = all(name.partition(".")[0] in _PASSING and name not in _LEAVING for name in names)
    return made is not None and known


def _of_classes(ctx: PythonContext) -> Iterator[Evidence]:
    for name, klass in ctx.facts.classes.items():
        for base in sorted(ctx.index.lineage(Ref(ctx.path, name)).external):
            if base.startswith(_BASES):
                yield Evidence(ctx.path, klass.line, f"`{name}` is a `{base}` of its own")
        for method in klass.methods.values():
            special = method.name.startswith("__") and method.name.endswith("__") and method.name not in _PLAIN
            if method.is_property or special:
                yield Evidence(ctx.path, method.line, f"what `{name}.{method.name}` does is not followed")


def _of_functions(ctx: PythonContext) -> Iterator[Evidence]:
    for function in ctx.all(ast.FunctionDef, ast.AsyncFunctionDef):
        assert isinstance(function, FUNCTIONS)
        for decorator in function.decorator_list:
            func = decorator.func if isinstance(decorator, ast.Call) else decorator
            origins = ctx.origin(func)
            if any(":" in origin or origin.startswith("contextlib.") for origin in origins):
                says = f"what `{ctx.written(func)}` makes of `{function.name}` is not followed"
                yield where_defined(ctx, func, says, at=decorator)


def _of_attributes(ctx: PythonContext) -> Iterator[Evidence]:
    for node in ctx.all(ast.Attribute):
        if isinstance(node.ctx, ast.Store) and node.attr not in _OF_TENSORS:
            method = ctx.method(node)
            own_attribute = method is not None and ctx.name(node.value) == method.self
            if not own_attribute and not is_a_setting(ctx, node):
                yield ctx.evidence(node, f"`{ctx.written(node)}` is set from outside")
    for call in ctx.all(ast.Call):
        name = (ctx.name(call.func) or "").rpartition(".")[2]
        if name in _NAMING and not any(isinstance(each, ast.Constant) for each in call.args[:2]):
            yield ctx.evidence(call, "any attribute may be meant")


def _halving(ctx: PythonContext) -> Iterator[Evidence]:
    for call in ctx.all(ast.Call):
        func = call.func
        if isinstance(func, ast.Attribute) and func.attr == "half" and not call.args:
            yield ctx.evidence(call, "weights may be of half precision")
        if isinstance(func, ast.Attribute) and func.attr == "to" and any(ctx.means(a, *_HALF) for a in values(call)):
            yield ctx.evidence(call, "weights may be of half precision")
        if any(word.arg == "torch_dtype" and ctx.means(word.value, *_HALF) for word in call.keywords):
            yield ctx.evidence(call, "weights are of half precision")


def _turning(ctx: PythonContext, words: frozenset[str]) -> Iterator[Evidence]:
    for node in ctx.all(ast.Attribute):
        if node.attr in words and (node.attr != "requires_grad" or isinstance(node.ctx, ast.Store)):
            copied = isinstance(node.value, ast.Call) and ctx.means(node.value.func, "copy.deepcopy")  # a frozen copy
            if not copied:
                yield ctx.evidence(node, f"what `{ctx.written(node)}` changes is not followed")


def _on_the_cpu(ctx: PythonContext) -> Iterator[Evidence]:
    """What stays on the CPU, where a region of cuda casts nothing (`region_of_another_device`)."""
    named = {each.value for each in ctx.all(ast.Constant) if isinstance(each.value, str)}
    for call in ctx.all(ast.Call) if "cuda" in named else ():
        if isinstance(call.func, ast.Attribute) and call.func.attr == "to" and "cpu" in map(literal, values(call)):
            yield ctx.evidence(call, "this is on the CPU")


def _of_values(ctx: PythonContext) -> Iterator[Evidence]:
    yield from _halving(ctx)
    if "autocast" in ctx.facts.mentioned:
        yield from _turning(ctx, _DTYPES)
        yield from _on_the_cpu(ctx)
    for call in ctx.all(ast.Call):
        if ctx.means(call.func, _SIGNS):
            yield ctx.evidence(call, "this optimizer reads the signs of gradients only")
    scalers = [call for call in ctx.all(ast.Call) if ctx.origin(call.func) & GRAD_SCALER]
    if scalers or "autocast" in ctx.facts.mentioned:
        yield from _cpu_builds(ctx)
    for word in (each for call in scalers for each in call.keywords):
        names = {each.id for each in ast.walk(word.value) if isinstance(each, ast.Name)}
        if word.arg in _SCALES and any(ctx.facts.loads.get(name, 0) > 1 for name in names):  # scaled_by_hand
            yield ctx.evidence(word.value, "the loss may be multiplied by this scale elsewhere")
        if word.arg == "init_scale" and literal(word.value) == 1:  # begins_at_one
            yield ctx.evidence(word.value, "gradients are multiplied by 1 at first")
    for text in ctx.all(ast.Constant):
        if isinstance(text.value, str) and len(text.value) < 100 and (found := _ELSEWHERE.search(text.value)):
            yield ctx.evidence(text, f"`{found[0]}` may be where this is trained")


def _cpu_builds(ctx: PythonContext) -> Iterator[Evidence]:
    """Where torch may find no GPU, or is built without: scalers and regions of cuda switch themselves off."""
    for path in ctx.index.search(ctx.path, (_DEVICES.encode(),), suffixes=(".py", *SHELL, "Makefile", ".yml", ".yaml")):
        text = ctx.index.text(path) or ""
        if (hidden := _HIDDEN.search(text)) is not None:
            yield Evidence(path, text.count("\n", 0, hidden.start()) + 1, "no GPU may be in sight")
    for path in ctx.index.search(ctx.path, (b"whl/cpu", b"+cpu"), suffixes=_MANIFESTS):
        lines = (ctx.index.text(path) or "").splitlines()
        line = next(number for number, each in enumerate(lines, 1) if "whl/cpu" in each or "+cpu" in each)
        yield Evidence(path, line, "torch may be installed without CUDA")
