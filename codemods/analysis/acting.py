"""Which code of the project acts on a training, beside computing values, reading, and printing.

Of a function everything that it may run is looked at, in other files too: what it calls, what it hands on, and of a
method called on an object that is not known each one of the project with this name. What acts does so by a word of
torch or of a library, by setting what belongs to others, or by reaching code that is not in sight.
"""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from codemods.analysis import instances
from codemods.analysis.calls import binder, literal, values
from codemods.analysis.mentions import definers
from codemods.analysis.python_context import PythonContext
from codemods.analysis.values import PossibleValue, possible_values
from codemods.model.edits import Evidence
from codemods.model.names import TORCH_MODULE
from codemods.project.index import Ref
from codemods.syntax.module import FUNCTIONS, Function, own

_SIZES = "a size"
"""The tag of arithmetic that may change how large a loss is."""
_OWN = "self"
MODES = frozenset(
    {"eval", "train", "no_grad", "inference_mode", "enable_grad", "set_grad_enabled", "autocast", "detach", "item"}
    | {"numpy", "tolist", "cpu", "float", "type"}
)
"""What switches modules and gradients for a while, takes a value out of its graph, or to another type or device."""
AROUND_STEPS = MODES | {"data"}
"""What has no part in the order of steps: modes, and values that weights begin with."""
_TELLING = frozenset({"__init__", "__name__", "__class__", "__doc__", "__file__", "__version__", "__len__"})
_DRAWING = frozenset({"normal_", "uniform_", "trunc_normal_", "bernoulli_", "exponential_", "random_"})
_FILLING = frozenset({"zero_", "fill_", "ones_", "copy_"})
_STEPS = frozenset(
    {"detach_", "requires_grad", "requires_grad_", "half", "bfloat16", "double", "data"}
    | {"backward", "step", "zero_grad", "grad", "unscale_", "manual_backward", "param_groups", "add_param_group"}
    | {"clip_grad_norm_", "clip_grad_value_", "clip_gradients", "clip_grad_norm", "load_state_dict", "no_sync"}
    | {"accumulate", "prepare", "setup", "compile", "functional_call", "register_module", "add_module"}
    | {"toggle_optimizer", "untoggle_optimizer", "optimizers", "lr_schedulers", "optimizer_step", "fit"}
    | {"automatic_optimization", "set_to_none", "vector_to_parameters", "gradient_accumulation_steps", "sync_gradients"}
    | {"get_scale", "get_growth_factor", "get_backoff_factor"}
)
"""What differentiates, steps, clears, clips, restores, wraps, or changes weights for good."""
_ONLY_CALLED = frozenset({"scale", "update", "apply", "unscale", "synchronize", "skip", "stop"})
"""Words that act where they are called, and are attributes of anything elsewhere."""
_METHODS = frozenset({"step", "zero_grad", "backward", "unscale_", "update", "scale", "detach", "manual_backward"})
"""Methods that act from wherever they are called, once they are handed on."""
_BY_TEXT = frozenset(
    {"setattr", "delattr", "eval", "exec", "globals", "locals", "vars", "__import__", "compile", "exit", "quit"}
)
_KNOWN = frozenset(
    {"torch", "lightning", "pytorch_lightning", "lightning_fabric", "transformers", "accelerate", "trl", "peft"}
    | {"hydra"}
)
_TORCH = (
    *("torch.nn.", "torch.utils.data.", "torch.backends.", "torch.linalg.", "torch.fft.", "torch.special."),
    *("torch.distributions.", "torch.random.", "torch.Tensor.", "torch.version."),
    *("torch.accelerator.", "torch.mps.is_", "torch.xpu.is_"),
    *(f"torch.cuda.{name}" for name in ("is_", "device", "set_device", "current_device", "empty_cache", "manual_seed")),
    *(f"torch.cuda.{name}" for name in ("synchronize", "memory", "max_memory", "reset_peak", "get_device", "Event")),
    *(f"torch.distributed.{name}" for name in ("get_", "is_", "init_process_group", "destroy_", "barrier")),
)
"""Beginnings of the names in torch's packages that compute, or say something of the machine."""
_OTHER_TORCH = ("torch.nn.utils.", "torch.nn.parallel.", "torch.nn.modules.", "torch.set_", "torch.use_")
_NOT_COMPUTING = frozenset({"torch.compile", "torch.vmap", "torch.cond", "torch.library"})
_OF_LIBRARIES = (
    *("transformers.set_seed", "accelerate.utils.set_seed", "lightning.pytorch.seed_everything"),
    *("pytorch_lightning.seed_everything", "lightning.seed_everything", "transformers.AutoTokenizer"),
    *("hydra.main", "hydra.compose", "hydra.initialize", "transformers.AutoConfig"),
)
"""What of the libraries that train leaves a training alone."""
_OPTIMIZERS = re.compile(r"torch\.optim\.(?:[a-z]+\.|lr_scheduler\.)?[A-Z]\w*")
_OWN_WAYS = frozenset({"Optimizer", "LBFGS", "Rprop"})
"""Optimizers that take another way: a base, one that runs its closure again, one that reads signs."""
_COUNTING = frozenset({"int", "round", "range", "print", "len", "str", "format"})
_DANGEROUS = frozenset(
    {"importlib", "runpy", "ctypes", "gc", "unittest", "code", "codeop", "pdb", "threading", "multiprocessing", "types"}
    | {"concurrent", "sched", "signal", "atexit", "weakref", "builtins", "inspect", "contextlib", "operator", "trace"}
)
_APART = (sys.stdlib_module_names - _DANGEROUS) | frozenset(
    {"numpy", "tqdm", "wandb", "matplotlib", "pandas", "PIL", "sklearn", "scipy", "tensorboard", "tensorboardX", "yaml"}
    | {"torchvision", "torchaudio", "datasets", "rich", "loguru", "absl", "click", "dotenv", "h5py", "cv2", "einops"}
    | {"omegaconf", "prettytable", "seaborn", "tabulate", "colorama", "psutil", "tiktoken", "tokenizers", "requests"}
    | {"fsspec", "boto3", "safetensors", "huggingface_hub", "evaluate", "nltk", "regex", "pydantic"}
)
"""Packages that know nothing of a training."""


@dataclass(frozen=True, slots=True)
class _Local:
    """What a function does by itself, and what it may run."""

    acts: tuple[tuple[str, Evidence], ...]
    calls: tuple[tuple[PythonContext, Function], ...]
    methods: frozenset[str]
    """The methods that are called on objects of which the class is not known."""
    given: Evidence | None
    """The first call of what the function is given, or of what a variable holds."""


def acting(
    ctx: PythonContext,
    functions: Iterable[tuple[PythonContext, ast.AST]],
    *,
    known: frozenset[str] = frozenset(),
    sizes: bool = True,
    owner: Ref | None = None,
    outside: str = "",
) -> Iterator[Evidence]:
    """Where functions, or what they run, act on a training; nothing if they surely do not.

    Args:
        ctx: the file that is asked about: methods of unknown objects are looked for in its program.
        functions: with the files that they stand in; the body of a file counts as one.
        known: words of which the asker asks itself.
        sizes: whether arithmetic counts, which may divide or scale a loss.
        owner: the class whose attributes must stay as they are.
        outside: a file that is not looked into.
    """
    mine = ctx.index.lineage(owner).refs if owner is not None else ()
    waiting, seen = list(functions), {function for _, function in functions}
    asked: set[str] = set()
    while waiting:
        names: set[str] = set()
        while waiting:
            there, function = waiting.pop()
            local = _local(there, function)
            for tag, place in local.acts:
                if tag in known or (tag == _SIZES and not sizes) or (tag == _OWN and _of(there, function) not in mine):
                    continue
                yield place
            if local.given is not None and _handed_on(ctx):
                yield local.given
            new = [each for each in local.calls if each[1] not in seen and each[0].path != outside]
            seen.update(called for _, called in new)
            waiting += new
            names |= local.methods
        names -= asked
        asked |= names
        for path, klass, name in definers(ctx, *sorted(names)) if names else ():
            other = ctx.other(path)
            found = other.definition(f"{klass.name}.{name}") if other is not None else None
            if found is None:  # defined twice
                yield Evidence(path, klass.methods[name].line, f"what `{klass.name}.{name}` does is not followed")
            elif found[1] not in seen and path != outside:
                seen.add(found[1])
                waiting.append(found)


def _of(ctx: PythonContext, function: ast.AST) -> Ref | None:
    """The class whose objects `self` of a function is, or the class itself (`among_helpers`)."""
    method = ctx.method(function)
    return method.owner if method is not None else ctx.ref(function) if isinstance(function, ast.ClassDef) else None


def methods_of(ctx: PythonContext, origin: str) -> list[tuple[PythonContext, Function]] | None:
    """All that a class of the project, or a base of it, defines; None where it cannot be read."""
    found = []
    for ref in ctx.index.lineage(Ref.of(origin)).refs:
        there = ctx.other(ref.path)
        classes = there.classes(ref.name) if there is not None else []
        if there is None or not classes:
            return None
        found += [(there, each) for klass in classes for each in own(klass) if isinstance(each, FUNCTIONS)]
    return found


def _local(ctx: PythonContext, function: ast.AST) -> _Local:
    key = (_local, function)
    if key not in ctx.memo:
        ctx.memo[key] = _looked_at(ctx, function)
    found: _Local = ctx.memo[key]
    return found


def _looked_at(ctx: PythonContext, function: ast.AST) -> _Local:
    acts: list[tuple[str, Evidence]] = []
    calls: list[tuple[PythonContext, Function]] = []
    methods: set[str] = set()
    given: Evidence | None = None
    strange = _strange(ctx)
    for heir, name in _overriding(ctx, function):
        there = ctx.other(heir.path)
        another = there.definition(f"{heir.name}.{name}") if there is not None else None
        if another is not None:
            calls.append(another)
        else:
            acts.append(("", Evidence(heir.path, 1, f"what `{heir.name}.{name}` does is not followed")))
    for node in _run_by(ctx, function):
        for tag, why in _acts(ctx, function, node):
            acts.append((tag, ctx.evidence(node, why)))  # type: ignore[arg-type]
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
            origins = ctx.origin(node)
            if len(origins) == 1 and (target := ctx.function_at(next(iter(origins)))) is not None:
                calls.append(target)
        if not isinstance(node, ast.Call):
            continue
        if (called := instances.callee(ctx, node)) is not None:
            calls.append(called)
            continue
        origins = ctx.origin(node.func)
        why = tag = ""
        for origin in origins:
            if ":" in origin:
                made = methods_of(ctx, origin) if ctx.index.klass(Ref.of(origin)) is not None else None
                calls += made or ()
                why = "" if made is not None else f"what `{ctx.written(node.func)}` does is not followed"
            elif not _is_apart(origin):
                why, tag = f"`{ctx.written(node.func)}` may take part", origin.rpartition(".")[2]
        if not origins and isinstance(node.func, ast.Attribute):
            methods.add(node.func.attr)
        built_in = isinstance(node.func, ast.Name) and hasattr(builtins, node.func.id)
        if not origins and not built_in:
            said = f"what `{ctx.written(node.func)}` does is not known"
            given = given or ctx.evidence(node, said)
            unbound = isinstance(node.func, ast.Name) and binder(ctx, node.func.id, node) is None
            if unbound or (strange is not None and values(node)) or _handed_on(ctx):
                why = said
        if why:
            acts.append((tag if tag in MODES else "", ctx.evidence(node, why)))
    return _Local(tuple(acts), tuple(calls), frozenset(methods), given)


def _overriding(ctx: PythonContext, function: ast.AST) -> Iterator[tuple[Ref, str]]:
    """The classes of the project that have a method of their own in the place of one, which may run instead."""
    method = ctx.method(function)
    if method is None or method.node is not function or method.name == "__init__":
        return
    for heir in ctx.index.subclasses(method.owner):
        klass = ctx.index.klass(heir)
        if klass is not None and method.name in klass.methods:
            yield heir, method.name


def _run_by(ctx: PythonContext, function: ast.AST) -> Iterator[ast.AST]:
    """What runs where a function runs; of a file, what runs where it is imported."""
    if not isinstance(function, ast.Module):
        yield from ast.walk(function)
        return
    waiting: list[ast.AST] = [function]
    while waiting:
        for node in own(waiting.pop()):
            if isinstance(node, ast.ClassDef):
                waiting.append(node)
            if not any(_is_the_program(each) for each in (node, *ctx.ancestors(node))):
                yield node


def _is_the_program(node: ast.AST) -> bool:
    """`if __name__ == "__main__":`, which an import does not run."""
    return (
        isinstance(node, ast.If)
        and isinstance(node.test, ast.Compare)
        and isinstance(node.test.left, ast.Name)
        and node.test.left.id == "__name__"
    )


def _acts(ctx: PythonContext, function: ast.AST, node: ast.AST) -> Iterator[tuple[str, str]]:
    """By which words a node acts, and how to say so."""
    match node:
        case ast.Global() | ast.Nonlocal():
            yield "", f"`{node.names[0]}` may be set here"
        case ast.Attribute(attr=attr) if attr in MODES or attr in _STEPS or "hook" in attr:
            yield attr, f"`{ctx.written(node)}` may take part"
        case ast.Attribute(attr=attr) if attr.startswith("__") and not _is_read(ctx, node):
            yield "", f"what `{ctx.written(node)}` does is not followed"
        case ast.Attribute(ctx=ast.Store() | ast.Del()) if not is_a_setting(ctx, node):
            method = ctx.method(node)
            mine = method is not None and ctx.name(node.value) == method.self
            if not mine:
                yield "", f"`{ctx.written(node)}` is set here"
            elif method is not None and method.node.name != "__init__":
                yield _OWN, f"`{ctx.written(node)}` is set here"
        case ast.With() | ast.AsyncWith():
            for item in node.items:
                if not isinstance(item.context_expr, ast.Call):  # somebody made it elsewhere
                    yield "", f"what `{ctx.written(item.context_expr)}` does is not known"
        case ast.Subscript(ctx=ast.Store() | ast.Del(), value=value) if not _is_made_here(ctx, function, value):
            yield "", f"`{ctx.written(value)}` is changed here"
        case ast.BinOp(op=ast.Div() | ast.FloorDiv() | ast.Mult()) | ast.AugAssign(op=ast.Div() | ast.Mult()):
            method = ctx.method(node)
            computes = method is not None and ctx.index.descends(method.owner, TORCH_MODULE)
            if not computes and _gives_a_value(ctx, node) and not _is_of_numbers(ctx, node):
                yield _SIZES, "a loss may be divided here"
        case ast.Call(func=ast.Name(id=name)) if name in _BY_TEXT and not ctx.origin(node.func):
            yield "", f"what `{name}` reaches is not followed"
        case ast.Call(func=ast.Name(id="getattr"), args=[_, name, *_]) if _names_what_acts(name):
            yield "", "what `getattr` reaches is not followed"
        case ast.Call(func=ast.Attribute(attr=attr)) if _is_called_to_act(ctx, node, attr):
            yield "data" if _begins_weights(ctx, node.func) else attr, f"`{ctx.written(node.func)}` may take part"
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            for decorator in node.decorator_list:
                func = decorator.func if isinstance(decorator, ast.Call) else decorator
                plain = ctx.name(func) in ("staticmethod", "classmethod", "property", "abstractmethod")
                if not plain and not all(_is_apart(each) for each in ctx.origin(func) or ("?",)):
                    last = (ctx.name(func) or "").rpartition(".")[2]
                    mode = last if ctx.means(func, *(f"torch.{each}" for each in MODES)) else ""
                    yield mode, f"what `{ctx.written(func)}` makes of `{node.name}` is not followed"
            for base in node.bases if isinstance(node, ast.ClassDef) else ():
                known = isinstance(base, ast.Name) and hasattr(builtins, base.id)
                if not known and not all(":" in each or _is_apart(each) for each in ctx.origin(base) or ("?",)):
                    yield "", f"`{ctx.written(base)}` may take part"


def _gives_a_value(ctx: PythonContext, node: ast.AST) -> bool:
    """Whether a function around arithmetic returns something: a meter only keeps what it counts (`among_helpers`)."""
    scope = ctx.scope(node)
    if not isinstance(scope, FUNCTIONS):
        return isinstance(scope, ast.Lambda)
    return any(isinstance(each, (ast.Return, ast.Yield)) and each.value is not None for each in own(scope))


def _is_of_numbers(ctx: PythonContext, node: ast.AST) -> bool:
    """Whether arithmetic is about numbers of Python: lengths, counts, what is printed."""
    inside = (each.func for each in ast.walk(node) if isinstance(each, ast.Call))
    for above in ctx.ancestors(node):
        if isinstance(above, ast.FormattedValue):
            return True
        if isinstance(above, ast.Call) and isinstance(above.func, ast.Name) and above.func.id in _COUNTING:
            return True
        if isinstance(above, ast.stmt):
            break
    return any(isinstance(func, ast.Name) and func.id == "len" for func in inside)


def _names_what_acts(name: ast.expr) -> bool:
    word = name.value if isinstance(name, ast.Constant) else None
    return not isinstance(word, str) or word in MODES or word in _STEPS or word in _ONLY_CALLED


def _handed_on(ctx: PythonContext) -> bool:
    """Whether a file holds what acts without calling it: another name, or an argument, may call it then."""
    key = (_handed_on,)
    if key not in ctx.memo:
        ctx.memo[key] = any(
            node.attr in _METHODS and isinstance(node.ctx, ast.Load) and not _is_called_or_read(ctx, node)
            for node in ctx.all(ast.Attribute)
        ) or any(
            ctx.name(call.func) == "getattr" and len(call.args) > 1 and _names_what_acts(call.args[1])
            for call in ctx.all(ast.Call)
        )
    found: bool = ctx.memo[key]
    return found


def _is_called_or_read(ctx: PythonContext, node: ast.Attribute) -> bool:
    match ctx.parent(node):
        case ast.Call(func=func):
            return func is node
        case ast.Attribute() | ast.BinOp() | ast.Compare() | ast.FormattedValue() | ast.AugAssign():
            return True
    return False


def _is_called_to_act(ctx: PythonContext, call: ast.Call, attr: str) -> bool:
    if attr == "to":
        given = values(call)
        types = (each for value in given for each in ctx.origin(value))
        named = any(each.arg in ("dtype", None) for each in call.keywords)
        return named or any(each != "torch.device" for each in types) or "cpu" in map(literal, given)
    if attr == "update":
        return not call.args and not call.keywords
    if attr.endswith("_") and not attr.startswith("_"):
        return not any(each.startswith("torch.nn.init.") for each in ctx.origin(call.func))
    return attr in _ONLY_CALLED


def _is_read(ctx: PythonContext, node: ast.Attribute) -> bool:
    """Whether a special attribute only tells something of its object: `config.__dict__.items()`."""
    if node.attr != "__dict__":
        return node.attr in _TELLING
    match ctx.parent(node):
        case ast.Attribute(attr=attr):
            return attr in ("items", "keys", "values", "get", "copy")
        case ast.keyword() | ast.Call() | ast.Assign() | ast.For() | ast.comprehension() | ast.Compare():
            return True
    return False


def _begins_weights(ctx: PythonContext, func: ast.expr) -> bool:
    """Whether a method gives weights their first values: `module.weight.data.normal_()`."""
    if not isinstance(func, ast.Attribute):
        return False
    whose = (ctx.name(func.value) or "").removesuffix(".data").rpartition(".")[2]
    return func.attr in _DRAWING or (func.attr in _FILLING and whose in ("weight", "bias"))


def is_a_setting(ctx: PythonContext, node: ast.Attribute) -> bool:
    """Whether an attribute is one of a backend, of parsed arguments, or of a class that only holds values."""
    if any(origin.startswith("torch.backends") for origin in ctx.origin(node.value)):
        return True
    kind = instances.of(ctx, node.value)
    if kind is not None:
        return all(":" in name and _only_holds(ctx, Ref.of(name)) for name in kind.names)
    found, complete = possible_values(ctx, node.value)
    return complete and all(_is_parsed(each) for each in found)


def _is_parsed(value: PossibleValue) -> bool:
    node = value.node
    if not isinstance(node, ast.Call):
        return False
    parses = isinstance(node.func, ast.Attribute) and node.func.attr in ("parse_args", "parse_known_args")
    return parses or value.ctx.means(node.func, "argparse.Namespace", "types.SimpleNamespace")


def _only_holds(ctx: PythonContext, ref: Ref) -> bool:
    """Whether a class has no method of its own, and no base that has one."""
    lineage = ctx.index.lineage(ref)
    classes = [ctx.index.klass(each) for each in lineage.refs]
    return not lineage.external - {"object", "abc.ABC"} and all(
        each is not None and not set(each.methods) - {"__init__", "__repr__", "__str__"} for each in classes
    )


def _is_made_here(ctx: PythonContext, function: ast.AST, value: ast.expr) -> bool:
    """Whether what is changed was made in the function that changes it."""
    while isinstance(value, (ast.Subscript, ast.Attribute)):
        if isinstance(value, ast.Attribute):
            return False
        value = value.value
    scope = ctx.scope(value)
    if not isinstance(value, ast.Name) or not isinstance(scope, (ast.Module, *FUNCTIONS)):
        return False
    taken = ctx.parameter_names(scope) if isinstance(scope, FUNCTIONS) else set()
    return value.id not in taken and bool(ctx.bindings(scope).get(value.id))


def _is_apart(origin: str) -> bool:
    """Whether a function or class of a library knows nothing of a training, or only computes."""
    package = origin.partition(".")[0]
    if package in _APART:
        return True
    if package == "torch":
        last = origin.rpartition(".")[2]
        if _OPTIMIZERS.fullmatch(origin) and last not in _OWN_WAYS:
            return True  # to make one does nothing
        inside = origin.count(".") < 2 or origin.startswith(_TORCH)
        acts = origin.startswith(_OTHER_TORCH) or origin in _NOT_COMPUTING or last in MODES or last in _STEPS
        return inside and not acts
    return origin.startswith(_OF_LIBRARIES)


def _strange(ctx: PythonContext) -> Evidence | None:
    """The first import of a package of which nothing is known: its objects may act by any method."""
    key = (_strange,)
    if key not in ctx.memo:
        ctx.memo[key] = next(
            (
                Evidence(ctx.path, each.line, f"`{each.target}` may take part")
                for each in ctx.facts.imports
                if (package := each.target.lstrip(".").partition(".")[0]) not in _APART | _KNOWN | _DANGEROUS
                and not each.target.startswith(".")
                and ctx.index.module(ctx.path, package) is None
            ),
            None,
        )
    found: Evidence | None = ctx.memo[key]
    return found
