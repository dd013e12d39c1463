"""Modules in a plain list or dictionary of a module, which does not know that it holds them.

## Why is this bad?
A module finds its parts among its attributes. What a list holds is in no `parameters()`, so that the optimizer does not
move it, in no `state_dict()`, and stays where it is under `.to()`: of 8 parameters 2 were seen, the loss stayed at 0.29
where it falls to 0.0015 with `nn.ModuleList` (run with PyTorch 2.13). Nothing raises and nothing warns.

## Fix safety
Unsafe: the parameters are trained then, and checkpoints get keys that older ones do not have.

## When it is not offered
Silent where the class registers them too (`add_module`, `setattr`, `nn.Sequential(*blocks)`), where they have no
weights, where they are not made there, and where no method calls them. Possible where other code is given the list,
where the class has `parameters`, `_apply` or `__setattr__` of its own, where something asks for the parameters of its
items, and for one module in a list, which may be hidden on purpose. Only reported for tuples, and where the list is
used in a way that `nn.ModuleList` does not know.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from codemods.analysis.python_context import Method, PythonContext
from codemods.flow.answers import Answer, no, question, unless
from codemods.model.edits import Consequence, Evidence, Need, Safety
from codemods.model.names import TORCH_MODULE
from codemods.project.index import Ref
from codemods.rules.rule import Draft, Rule
from codemods.syntax.verbs import Verb, replace

_WEIGHTS = re.compile(
    r"torch\.nn\.(Lazy)?(Linear|Bilinear|Conv\w*|RNN\w*|LSTM\w*|GRU\w*|Embedding\w*|BatchNorm\w*|LayerNorm|GroupNorm|RMSNorm"
    r"|MultiheadAttention|Transformer\w*|PReLU|Sequential)"
)
"""Modules of torch that have weights."""
_OF_LISTS = frozenset({"append", "extend", "insert", "pop", "keys", "values", "items", "update", "clear"})
"""Methods that `nn.ModuleList` or `nn.ModuleDict` has, too."""
_READING = frozenset(
    {"len", "enumerate", "zip", "range", "reversed", "print", "isinstance", "list", "tuple", "iter", "sum"}
)
_ALWAYS = frozenset({"add_module", "register_module", "setattr"})
"""Calls that register what has another name."""
_REGISTERING = frozenset({"ModuleList", "ModuleDict", "Sequential"})
_OWN = ("parameters", "named_parameters", "_apply", "__setattr__", "modules", "children")

rule = Rule(
    code="GRD006",
    name="unregistered-modules",
    summary="a plain list or dictionary hides these modules: nothing trains or saves them",
    fix_title="Use nn.ModuleList or nn.ModuleDict",
    safety=Safety.UNSAFE,
    consequence=Consequence.SILENT,
    follows=True,
    triggers=(("forward",),),
    imports=("torch", "lightning", "pytorch_lightning"),
    subclasses=TORCH_MODULE,
    references=("https://docs.pytorch.org/docs/stable/generated/torch.nn.ModuleList.html",),
)


@rule.on(ast.Assign)
def unregistered_modules(statement: ast.Assign, ctx: PythonContext) -> Iterator[Draft]:
    method = ctx.method(statement)
    match statement.targets:
        case [ast.Attribute(value=ast.Name(id=owner), attr=name)] if method is not None and owner == method.self:
            pass
        case _:
            return
    if ctx.index.descends(method.owner, TORCH_MODULE) is not True or ctx.function(statement) is not method.node:
        return
    made = _made(ctx, statement.value) or _appended(ctx, method, statement, name)
    if not made or not any(_has_weights(ctx, each) for each in made):
        return
    used = [each for each in _uses(ctx, method, name) if not ctx.module.contains(statement, each)]
    if not _are_called(ctx, method, used):
        return
    fix, needs = _registered(ctx, statement.value, used)
    yield rule.finding(
        statement,
        fix=fix,
        needs=needs,
        message=f"`{method.klass.name}` does not know the modules in `{owner}.{name}`: nothing trains or saves them",
        is_bug=[
            nothing_registers_them(ctx, method, name),
            nobody_else_has_them(ctx, method, statement, used),
        ],
    )


def _made(ctx: PythonContext, value: ast.expr) -> list[ast.Call]:
    """The calls that make the items of a display or a comprehension; none if some item is made otherwise."""
    match value:
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Dict(values=items):
            pass
        case ast.ListComp(elt=item) | ast.DictComp(value=item):
            items = [item]
        case _:
            items = []
    calls = [each for each in items if isinstance(each, ast.Call)]
    return calls if len(calls) == len(items) else []


def _appended(ctx: PythonContext, method: Method, statement: ast.Assign, name: str) -> list[ast.Call]:
    """What a method appends to a list that it has begun."""
    if not isinstance(statement.value, ast.List) or statement.value.elts:
        return []
    held, found = f"{method.self}.{name}", list[ast.Call]()
    for node in ast.walk(method.node):
        match node:
            case ast.Call(func=func, args=[item]) if ctx.name(func) == f"{held}.append":
                items = [item]
            case ast.Call(func=func, args=[ast.List(elts=items)]) if ctx.name(func) == f"{held}.extend":
                pass
            case ast.AugAssign(target=target, op=ast.Add(), value=ast.List(elts=items)) if ctx.name(target) == held:
                pass  # `self.blocks += [nn.Linear(8, 8)]` (added)
            case _:
                continue
        calls = [each for each in items if isinstance(each, ast.Call)]
        if len(calls) != len(items):
            return []
        found += calls
    return found


def _has_weights(ctx: PythonContext, call: ast.Call) -> bool:
    """Whether a call surely makes a module that has weights, or may have."""
    origins = ctx.origin(call.func)
    return bool(origins) and all(_is_a_module(ctx, each) for each in origins)


def _is_a_module(ctx: PythonContext, name: str) -> bool:
    if ":" in name:
        ref = Ref.of(name)
        return ctx.index.descends(ref, TORCH_MODULE) is True and _makes_weights(ctx, ref)
    return _WEIGHTS.fullmatch(name) is not None


def _makes_weights(ctx: PythonContext, ref: Ref) -> bool:
    """Whether a class of the project makes a parameter, or a module that has some (`without_weights`)."""
    for each in ctx.index.lineage(ref).refs:
        there = ctx.other(each.path)
        for klass in there.classes(each.name) if there is not None else ():
            for call in (node for node in ast.walk(klass) if isinstance(node, ast.Call)):
                origins = there.origin(call.func) if there is not None else ()
                if any(_WEIGHTS.fullmatch(o) or o == "torch.nn.Parameter" or ":" in o for o in origins):
                    return True
    return False


def _uses(ctx: PythonContext, method: Method, name: str) -> list[ast.Attribute]:
    """Where the class reads the attribute."""
    return [
        each
        for each in ast.walk(method.klass)
        if isinstance(each, ast.Attribute) and each.attr == name and isinstance(each.ctx, ast.Load)
        if (inside := ctx.method(each)) is not None and ctx.name(each.value) == inside.self
    ]


def _are_called(ctx: PythonContext, method: Method, used: list[ast.Attribute]) -> bool:
    """Whether another method calls an item: `self.blocks[0](x)`, `for block in self.blocks: x = block(x)`."""
    for use in used:
        if (inside := ctx.method(use)) is None or inside.node is method.node:
            continue
        for above in ctx.ancestors(use):
            match above:
                case ast.Call(func=ast.Subscript(value=held)) if held is use:
                    return True
                case ast.For(target=target, iter=held) | ast.comprehension(target=target, iter=held):
                    names = {each.id for each in ast.walk(target) if isinstance(each, ast.Name)}
                    body = above if isinstance(above, ast.For) else ctx.parent(above)
                    calls = (each for each in ast.walk(body or above) if isinstance(each, ast.Call))
                    if ctx.module.contains(held, use) and any(ctx.name(call.func) in names for call in calls):
                        return True
    return False


def _registered(
    ctx: PythonContext, value: ast.expr, used: list[ast.Attribute]
) -> tuple[list[Verb] | None, list[Need | None]]:
    """The value in a container that registers its items."""
    is_a_dictionary = isinstance(value, (ast.Dict, ast.DictComp))
    above = [ctx.parent(each) for each in used]
    others = [each.attr for each in above if isinstance(each, ast.Attribute) and each.attr not in _OF_LISTS]
    target = ctx.spell("torch.nn.ModuleDict" if is_a_dictionary else "torch.nn.ModuleList", at=value)
    if isinstance(value, ast.Tuple) or others or target is None:
        return None, []
    written = "" if isinstance(value, ast.List) and not value.elts else ctx.source(value)
    return [replace(value, f"{target.code}({written})")], [target.need]


@question
def nothing_registers_them(ctx: PythonContext, method: Method, name: str) -> Answer:
    """Whether a class gives its modules to nothing that registers them: no where it does."""
    for call in (node for node in ast.walk(method.klass) if isinstance(node, ast.Call)):
        last = (ctx.name(call.func) or "").rpartition(".")[2]
        parts = (each for value in (*call.args, *call.keywords) for each in ast.walk(value))
        is_given = any(isinstance(each, ast.Attribute) and each.attr == name for each in parts)
        if last in _ALWAYS or (last in _REGISTERING and is_given):
            return no(ctx.evidence(call, "they are registered here"))
    for held in (node for node in ast.walk(method.klass) if isinstance(node, ast.Attribute)):
        if held.attr == "_modules":  # `self._modules.update(…)` (registered_by_hand)
            return no(ctx.evidence(held, "they are registered here"))
    own = [each for each in method.klass.body if isinstance(each, ast.FunctionDef) and each.name in _OWN]
    return unless(ctx.evidence(each, f"`{each.name}` may know them") for each in own)


@question
def nobody_else_has_them(
    ctx: PythonContext, method: Method, statement: ast.Assign, used: list[ast.Attribute]
) -> Answer:
    """Whether no other code is given the list, or asks for the parameters of its items."""
    return unless(_others(ctx, method, statement, used))


def _others(ctx: PythonContext, method: Method, statement: ast.Assign, used: list[ast.Attribute]) -> Iterator[Evidence]:
    value = statement.value
    if isinstance(value, (ast.List, ast.Tuple)) and len(value.elts) == 1:
        yield ctx.evidence(value, "one module in a list may be hidden on purpose")
    for use in used:
        call = next((each for each in ctx.ancestors(use) if isinstance(each, (ast.Call, ast.stmt))), None)
        if isinstance(call, ast.Call) and any(ctx.module.contains(each, use) for each in (*call.args, *call.keywords)):
            if ctx.name(call.func) not in _READING:
                yield ctx.evidence(call, "what is given the modules may register them")
        around = ctx.statement(use)
        if around is not None and any(
            isinstance(each, ast.Attribute) and each.attr in ("parameters", "named_parameters")
            for each in ast.walk(around)
        ):
            yield ctx.evidence(use, "their parameters are taken here")
