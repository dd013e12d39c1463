"""The device-bound spellings of automatic mixed precision: `torch.cuda.amp.*`, `torch.cpu.amp.*` and their getters.

## Why is this bad?
Since torch 2.4 every use warns, and the names are due to disappear:

    FutureWarning: `torch.cuda.amp.autocast(args...)` is deprecated. Please use `torch.amp.autocast('cuda', args...)`
    instead.

The advice in that text is wrong for positional arguments. The old call takes `(enabled, dtype, cache_enabled)`, the
new one `(device_type, dtype, enabled, cache_enabled)`: `torch.amp.autocast("cuda", False)` does not switch anything
off. The same holds for `GradScaler(2.0**16)`, whose first argument is now the device: no error, only
`device=65536.0`. So positional arguments become keywords here.

The old `autocast()` also has a dtype of its own (float16; bfloat16 on the CPU), where the new one takes what the region
around it set: inside `torch.autocast("cuda", dtype=torch.bfloat16)` a plain rename turns a float16 region into a
bfloat16 one. Where the project mentions such a dtype, or trains with a framework that may open such a region, the old
dtype is written out.

## Fix safety
`autocast`: safe; `torch.amp.autocast` is older than every torch that is still in use. `GradScaler` needs torch 2.3;
`custom_fwd`, `custom_bwd` and the getters and setters of autocast state need 2.4: safe only where the project's
requirements say so, else unsafe. Where they allow an older torch and can be edited, the same fix raises their floor,
in the same commit. Classes and functions that are passed on as values become
`functools.partial(torch.amp.autocast, "cuda")`: unsafe, because positional arguments given later would mean something
else.

Strategies for names that older versions lack: `rename` (default) calls the new name and raises the floor;
`version-guard` chooses at the call, `torch.amp.GradScaler("cuda") if hasattr(torch.amp, "GradScaler") else
GradScaler()`; `try-import` binds the old name to the new object where it can be imported, and leaves the calls as they
are.

## When it is not offered
Compatibility code is left alone: names bound under `try` or `if`, uses that a test of torch's version or of an
attribute decides about. Subclasses of `GradScaler` are reported only, for renaming the base shifts the arguments of
`super().__init__`; so is everything that is neither called nor used as a decorator, nor passed on in a way that can be
followed, and every use in a project that replaces parts of `torch.cuda.amp`. `*args` hides what is meant.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from codemods.analysis.calls import has_splat, literal
from codemods.analysis.python_context import PythonContext
from codemods.analysis.searched_texts import looked_for
from codemods.flow.answers import Answer, question, unknown, unless, yes
from codemods.frameworks import minimum_versions
from codemods.frameworks.autocast import amp_names, amp_values
from codemods.frameworks.autocast.amp_names import NAMES, Renamed
from codemods.frameworks.autocast.version_tests import version_tested
from codemods.model.edits import Consequence, Evidence, Safety
from codemods.model.effect import Effect
from codemods.project.index import Index
from codemods.rules.rule import Draft, Remedy, Rule
from codemods.syntax.module import FUNCTIONS, Module, dotted
from codemods.syntax.verbs import choose

_SWITCHES = tuple(sorted(name.rpartition(".")[2] for name in NAMES if "_autocast_" in name))

rule = Rule(
    code="AMP002",
    name="deprecated-amp-api",
    summary="`torch.cuda.amp` and its relatives are deprecated since torch 2.4",
    fix_title="Use the `torch.amp` name, with keywords",
    safety=Safety.SAFE,
    consequence=Consequence.DEPRECATED,
    effect=Effect.EQUAL,
    triggers=(("autocast", "GradScaler", "custom_fwd", "custom_bwd", *_SWITCHES), ("amp", *_SWITCHES)),
    errors=(
        "torch.cuda.amp.autocast(args...)` is deprecated",
        "torch.cpu.amp.autocast(args...)` is deprecated",
        "torch.cuda.amp.GradScaler(args...)` is deprecated",
        "torch.cpu.amp.GradScaler(args...)` is deprecated",
        "torch.cuda.amp.custom_fwd(args...)` is deprecated",
        "torch.cuda.amp.custom_bwd(args...)` is deprecated",
        "torch.get_autocast_gpu_dtype() is deprecated",
        "torch.get_autocast_cpu_dtype() is deprecated",
        "torch.is_autocast_cpu_enabled() is deprecated",
        "torch.set_autocast_gpu_dtype(dtype) is deprecated",
        "torch.set_autocast_cpu_dtype(dtype) is deprecated",
        "torch.set_autocast_cpu_enabled(enabled) is deprecated",
    ),
    references=(
        "https://pytorch.org/docs/stable/amp.html",
        "https://github.com/pytorch/pytorch/pull/126527",
    ),
    strategies=("rename", "version-guard", "try-import"),
    bites={"torch": ">=2.4"},
)

_PATCHES = (b"torch.cuda.amp", b"torch.cpu.amp")
_PATCHED = re.compile(r"torch\.(?:cuda|cpu)\.amp(?:\.(?:autocast|GradScaler|custom_[fb]wd))?")
_FRAMEWORKS = frozenset({"lightning", "pytorch_lightning", "accelerate"})
_REGIONS = (
    *(name.encode() for name in sorted(_FRAMEWORKS)),
    b"set_autocast",
    b"TrainingArguments",
    b"dtype",
    b"autocast(",
)
_CLASSES = ("GradScaler", "autocast")
_DATA = (".json", ".jsonl", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".csv")
_BASES = ("torch.autocast", "torch.amp.autocast")
"""What the old and the new class have in common."""
_WORDS = {"torch.float16": (b"bfloat16", b"bf16", *_REGIONS), "torch.bfloat16": (b"float16", b"half", *_REGIONS)}
_OTHERS = {
    "torch.float16": re.compile("bfloat16|bf16|set_autocast|TrainingArguments"),
    "torch.bfloat16": re.compile("(?<!b)float16|half|set_autocast|TrainingArguments"),
}
"""What a project names in which a region of another dtype may be open, by the dtype that the old call has."""


@rule.on(ast.Name, ast.Attribute)
def deprecated_amp_api(node: ast.Name | ast.Attribute, ctx: PythonContext) -> Iterator[Draft]:
    old = amp_names.old(node, ctx)
    if old is None or not isinstance(node.ctx, ast.Load) or version_tested(ctx, node):
        return
    new = NAMES[old]
    message = f"`{old}` is deprecated: `{new.written}`"
    if (patch := _patched(ctx)) is not None:
        if patch != ctx.path:
            yield rule.finding(node, message=f"`{old}` is deprecated, and `{patch}` replaces parts of its module")
        return
    parent = ctx.parent(node)
    repairs: dict[str, Remedy] = {}
    at: ast.expr = node
    if isinstance(parent, ast.Call) and parent.func is node:
        at = parent
        if not amp_names.accepts(parent, new):
            return
        if new.shifts and any(isinstance(a, ast.Starred) for a in parent.args):
            message = f"`{old}` is deprecated; what `*args` means differs in `{new.name}`"
        elif new.shifts and parent.args and isinstance(literal(parent.args[0]), str):
            message = f"the first argument of `{old}` is `enabled`, not the device"
        else:
            repairs = dict(_called(parent, old, new, ctx))
    elif node in getattr(parent, "decorator_list", ()):
        repairs = dict(amp_values.decorator(node, new, ctx))
    elif isinstance(parent, ast.ClassDef):
        message = f"`{parent.name}` extends the deprecated `{old}`; the first argument of `{new.name}` is the device"
    elif ctx.annotates(node):
        repairs = dict(amp_values.annotation(node, new, ctx))
    else:
        repairs = dict(amp_values.value(node, new, ctx))
    if new.guard and "rename" in repairs and (tried := amp_values.try_import(node, ctx)) is not None:
        repairs["try-import"] = tried
    title = f"Use `{new.name}`"
    remedies = {
        name: minimum_versions.with_floor(ctx, "torch", replace(each, title=title)) for name, each in repairs.items()
    }
    if new.guard:
        yield rule.offer(at, remedies, message=message)
    else:  # a name that all versions have: there is nothing to choose
        yield replace(rule.finding(at, message=message), remedy=remedies.get("rename"))


def _patched(ctx: PythonContext) -> str | None:
    """The file of this project that assigns to `torch.cuda.amp`, or to names in it."""
    key = (_patched,)
    if key not in ctx.memo:
        own = _replaces_parts(ctx.index, ctx.path, ctx.module)
        ctx.memo[key] = ctx.path if own else _first(ctx, _PATCHES, _replaces_parts)
    found: str | None = ctx.memo[key]
    return found


def _replaces_parts(index: Index, path: str, module: Module) -> bool:
    """Whether a file assigns to `torch.cuda.amp.autocast` and the like, or calls `setattr(torch.cuda.amp, …)`."""
    targets = [target for each in module.all(ast.Assign) for target in each.targets]
    calls = (call for call in module.all(ast.Call) if dotted(call.func) == "setattr" and call.args)
    return any(_PATCHED.fullmatch(dotted(each) or "") for each in (*targets, *(call.args[0] for call in calls)))


def _first(ctx: PythonContext, words: tuple[bytes, ...], shows: Callable[[Index, str, Module], bool]) -> str | None:
    """The first file of the project that holds one of some words and shows something by its syntax tree."""
    paths = ctx.index.search(ctx.path, words)

    def first() -> str | None:
        trees = ((path, ctx.index.syntax(path)) for path in paths)
        return next((path for path, tree in trees if tree is not None and shows(ctx.index, path, tree)), None)

    return ctx.index.recall((_first, shows, paths), first)


def _called(call: ast.Call, old: str, new: Renamed, ctx: PythonContext) -> Iterator[tuple[str, Remedy]]:
    target = ctx.spell(new.name, at=call)
    if target is None:
        return
    needs, dtype = [target.need], None
    is_right = [nobody_replaces(ctx, old), nobody_checks_the_class(ctx, old), nobody_looks_for_it(ctx, old)]
    if new.dtype and not amp_names.keeps_dtype(call) and _first(ctx, _WORDS[new.dtype], _MIXES[new.dtype]):
        spelled = None if has_splat(call) else ctx.spell(new.dtype, at=call)
        if spelled is None:
            is_right.append(unknown(ctx.evidence(call, "a region around it may have another dtype")))
        else:
            dtype = spelled.code
            needs.append(spelled.need)
    fixed = amp_names.call(call, new, target.code, dtype, ctx)
    if fixed is None:
        return
    yield "rename", Remedy([fixed], is_right=is_right, needs=needs, requires=new.requires)
    package, _, name = new.guard.rpartition(".")
    module = ctx.spell(package, at=call) if new.guard else None
    if module is not None and call not in getattr(ctx.parent(call), "decorator_list", ()):
        guarded = choose(f"hasattr({module.code}, {ctx.quoted(name)})", fixed)
        yield "version-guard", Remedy([guarded], is_right=is_right, needs=[*needs, module.need])


def _may_open_another(index: Index, path: str, module: Module, other: re.Pattern[str]) -> bool:
    """Whether a file imports a framework that opens regions, or names another dtype: as identifier, or in a string."""
    facts = index.facts(path)
    if facts is not None and any(i.target.partition(".")[0] in _FRAMEWORKS for i in facts.imports):
        return True
    names = [
        *(n.id for n in module.all(ast.Name)),
        *(n.attr for n in module.all(ast.Attribute)),
        *(n.arg or "" for n in module.all(ast.keyword)),
        *(n.arg for n in module.all(ast.arg)),
        *(n.name for n in module.all(ast.alias)),
        *(n.value for n in module.all(ast.Constant) if isinstance(n.value, str) and not _is_docstring(n, module)),
    ]
    return any(other.search(name) for name in names) or any(map(_takes_a_dtype, module.all(ast.Call)))


def _takes_a_dtype(call: ast.Call) -> bool:
    """Whether a region is opened with a dtype that is not written there (`dtype_of_a_setting`, `dtype_in_options`)."""
    given = next((each.value for each in call.keywords if each.arg == "dtype"), None)
    opens = (dotted(call.func) or "").rpartition(".")[2] == "autocast"
    if dotted(call.func) in _BASES and has_splat(call):
        return True
    return opens and given is not None and not (dotted(given) or "").startswith("torch.")


_MIXES = {dtype: partial(_may_open_another, other=other) for dtype, other in _OTHERS.items()}


def _is_docstring(node: ast.Constant, module: Module) -> bool:
    return isinstance(module.parent(node), ast.Expr)


@question
def nobody_checks_the_class(ctx: PythonContext, old: str) -> Answer:
    """Whether no code of the project asks for the class of an object: a new one is no instance of the old class."""
    last = old.rpartition(".")[2]
    if last not in _CLASSES:
        return yes()
    paths = ctx.index.search(ctx.path, (last.encode(),))
    place = ctx.index.recall((nobody_checks_the_class, last, paths), lambda: _checked(ctx.index, paths, last))
    place = place or _asked_for_its_module(ctx.index, ctx.index.search(ctx.path, (b"__module__", b"getmodule")))
    place = place or next(_named_in_data(ctx, last), None)
    return yes() if place is None else unknown(place)


def _named_in_data(ctx: PythonContext, last: str) -> Iterator[Evidence]:
    """The files of data that name a class, for what loads objects of the classes they allow (`allowed_classes`)."""
    for path in ctx.index.holding("", (f"amp.{last}".encode(), f"grad_scaler.{last}".encode()), _DATA):
        yield ctx.shown_in(path, last, f"`{last}` is named here")


def _asked_for_its_module(index: Index, paths: Sequence[str]) -> Evidence | None:
    """The first place that may tell a class by the module it is defined in (`told_by_its_module`)."""
    for path in paths:
        if (module := index.syntax(path)) is None:
            continue
        for node in module.all(ast.Constant):
            if isinstance(node.value, str) and node.value.startswith("torch."):
                return Evidence(path, node.lineno, f"a class may be told by its module, `{node.value}`")
        for read in module.all(ast.Attribute):
            above = module.parent(read)
            if read.attr == "__module__" and isinstance(above, (ast.Compare, ast.Attribute, ast.Subscript)):
                return Evidence(path, read.lineno, "a class may be told by its module")  # (compared_with_a_module)
    return None


def _checked(index: Index, paths: Sequence[str], last: str) -> Evidence | None:
    """The first place that asks for a class by the last part of its name."""
    for path in paths:
        if (module := index.syntax(path)) is None:
            continue
        imported = (each for node in module.all(ast.ImportFrom) for each in node.names if each.name == last)
        names = {each.asname or last for each in imported} | {last}
        nodes: list[ast.Name | ast.Attribute] = [*module.all(ast.Name), *module.all(ast.Attribute)]
        for node in nodes:
            named = node.attr if isinstance(node, ast.Attribute) else node.id  # of any module (chosen_by_its_class)
            if named in names and dotted(node) not in _BASES and _is_compared(node, module):
                return Evidence(path, node.lineno, f"a new `{last}` is no instance of the old class")
    return None


def _is_compared(node: ast.expr, module: Module) -> bool:
    """Whether a class is asked about: given to `isinstance` or `register`, a key, one side of `is`, a `case`."""
    above = module.parent(node)
    listed = isinstance(above, (ast.Tuple, ast.List))
    while isinstance(above, (ast.Tuple, ast.List)):
        node, above = above, module.parent(above)
    if listed and isinstance(above, (ast.Assign, ast.AnnAssign)):
        return True  # kept for `isinstance` (classes_that_are_kept)
    match above:
        case ast.Call(func=func):
            return func is not node and dotted(func) not in ("hasattr", "print", "partial", "functools.partial")
        case ast.Dict(keys=keys):
            return node in keys
        case ast.arg():  # a decorator may choose by it, as `singledispatch` does
            function = module.enclosing(above, ast.stmt)
            return isinstance(function, FUNCTIONS) and bool(function.decorator_list)
        case ast.MatchClass():
            return True
    return isinstance(above, ast.Compare)


@question
def nobody_looks_for_it(ctx: PythonContext, old: str) -> Answer:
    """Whether nothing in the project looks for the old name in the text of a program (`searched_by_a_script`)."""
    package, _, name = old.partition(".")[2].rpartition(".")
    return unless(place for word in (package, name) if word for place in looked_for(ctx, word))


@question
def nobody_replaces(ctx: PythonContext, old: str) -> Answer:
    """Whether no code of the project puts something in the place of the old name by a string, as tests do."""
    paths = ctx.index.search(ctx.path, (b"patch", b"setattr"))
    replaced = ctx.index.recall((nobody_replaces, paths), lambda: _replaced(ctx.index, paths))
    last = old.rpartition(".")[2]
    place = replaced.get(last) or replaced.get("*") or _taken_by_name(ctx.index, ctx.path, last)
    return unknown(place) if place is not None else yes()


def _taken_by_name(index: Index, path: str, name: str) -> Evidence | None:
    """The first place that has the name in a list or dictionary, beside code that takes attributes by their names."""
    by_name = set(index.search(path, (b"getattr", b"import_module")))
    for each in index.search(path, (f'"{name}"'.encode(), f"'{name}'".encode())):
        if each not in by_name or (module := index.syntax(each)) is None:
            continue
        for node in module.all(ast.Constant):
            if node.value == name and isinstance(module.parent(node), (ast.Tuple, ast.List, ast.Set, ast.Dict)):
                return Evidence(each, node.lineno, f"`{name}` may be taken by its name")
    return None


def _replaced(index: Index, paths: Sequence[str]) -> dict[str, Evidence]:
    """The last names of what some files replace by a string, each with the first place."""
    found: dict[str, Evidence] = {}
    for path in paths:
        module = index.syntax(path)
        for call in module.all(ast.Call) if module is not None else ():
            if _replaces_any(call):
                found.setdefault("*", Evidence(path, call.lineno, "any name may be replaced here"))
            for given in call.args if _replaces(call) else ():
                value = given.value if isinstance(given, ast.Constant) else None
                if isinstance(value, str) and " " not in value:
                    place = Evidence(path, call.lineno, f"`{value}` is replaced here")
                    found.setdefault(value.rpartition(".")[2], place)
    return found


def _replaces_any(call: ast.Call) -> bool:
    """Whether a test replaces what only a run can name: `monkeypatch.setattr(f"train.{name}", …)` (`made_names`)."""
    if not _replaces(call) or not isinstance(call.func, ast.Attribute) or not call.args:
        return False
    made = (ast.JoinedStr, ast.BinOp)
    named = call.args[1] if len(call.args) > 2 else None
    return isinstance(call.args[0], made) or (named is not None and isinstance(named, (*made, ast.Name)))


def _replaces(call: ast.Call) -> bool:
    """`mock.patch("a.b")`, `patch.object(a, "b")`, `monkeypatch.setattr(…)`."""
    names = (dotted(call.func) or "").split(".")
    return "patch" in names or names[-1] in ("setattr", "setitem")
