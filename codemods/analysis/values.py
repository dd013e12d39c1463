"""What an expression may be: followed through names, attributes of `self`, arms, elements, parameters and returns.

This is the only place that follows a value. A question about values (is it a tensor, of which class, whose parameters)
is a verdict on the expressions that are found here, and a way of joining these verdicts.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from codemods.analysis.calls import assigned_to_self, binder, literal
from codemods.analysis.definitions import reaching, uses
from codemods.analysis.python_context import Binding, Method, PythonContext
from codemods.project.index import Ref
from codemods.syntax.module import FUNCTIONS, Function, own

T = TypeVar("T")

DEPTH = 8
"""Steps from an expression to what gives it its value."""
BUDGET = 1_000
"""Steps for one question, on all ways together."""
EACH, ANY = "for each", "any item"
"""Keys of a `path`: what iteration gives (of a dictionary its keys), and an item at an unknown index or key."""

Given = Callable[[PythonContext, Function, str], Sequence[tuple[PythonContext, ast.expr] | None]]
"""What calls give for a parameter; None for one that cannot be told: `calls.given`, for one."""

Assigned = tuple[PythonContext, Binding, str]
"""One assignment with its file, and the name that it binds (of an attribute of `self` the last one)."""
_CHANGING = frozenset({"extend", "insert", "update", "setdefault", "clear", "pop", "popitem", "remove", "sort", "add"})
"""Methods that change what a container holds, beside `append`."""
_TRANSPARENT = frozenset(
    {"functools.cache", "functools.lru_cache", "functools.cached_property"}
    | {"torch.no_grad", "torch.inference_mode", "torch.enable_grad", "torch.compile", "torch.jit.ignore"}
    | {"abc.abstractmethod", "typing.override", "typing.final", "typing_extensions.override"}
)
"""Decorators of functions that return what the function returns; and those of Python itself."""
_PLAIN = frozenset({"staticmethod", "classmethod", "property"})
_FLUENT = frozenset({"to", "cuda", "cpu", "train", "eval", "half", "float", "double", "bfloat16", "requires_grad_"})
"""Methods of a module that return the module."""


@dataclass(slots=True)
class Following:
    """Which ways one question follows beside those that are always open, and how many steps it has left."""

    ordered: bool = False
    """Whether only the assignments count that reach the place, in its own function."""
    returns: bool = False
    """Whether a call of a project's function is what this returns."""
    given: Given | None = None
    """What a parameter is given."""
    left: int = BUDGET


@dataclass(frozen=True, slots=True)
class PossibleValue:
    """Something that an expression may be."""

    ctx: PythonContext
    """The file in which it stands."""
    node: ast.AST
    """An expression; or the statement that binds a name otherwise: `x += 1`, `with`, `except`, `def`, `class`."""
    path: tuple[object, ...] = ()
    """Empty: the value of `node`. Else the item of it at these keys: `(1,)` for `b` of `a, b = node`."""
    following: Following = field(default_factory=Following, compare=False)
    steps: int = field(default=0, compare=False)

    @property
    def is_far(self) -> bool:
        """Whether nothing behind it is looked at any more."""
        return self.steps >= DEPTH or self.following.left <= 0

    def at(self, node: ast.AST, path: Iterable[object] = (), ctx: PythonContext | None = None) -> PossibleValue:
        """Another expression, one step further."""
        self.following.left -= 1
        return PossibleValue(ctx or self.ctx, node, tuple(path), self.following, self.steps + 1)

    def part(self, node: ast.AST) -> PossibleValue:
        """An operand of an expression: no step further, but one of the budget."""
        self.following.left -= 1
        return PossibleValue(self.ctx, node, (), self.following, self.steps)


@dataclass(frozen=True, slots=True)
class Behind:
    """What stands one step behind a value."""

    values: tuple[PossibleValue, ...]
    complete: bool = True
    """False: it may be something else, too."""
    by_choice: bool = False
    """Whether these are the arms of an expression or the returns of a function, not several assignments."""


def possible_values(
    ctx: PythonContext,
    node: ast.expr,
    path: tuple[object, ...] = (),
    *,
    ordered: bool = False,
    returns: bool = False,
    given: Given | None = None,
) -> tuple[list[PossibleValue], bool]:
    """Everything that an expression (or, with `path`, an item of it) may be, followed as far as it goes.

    A value that cannot be followed (a parameter, a name from elsewhere) is in the list as it is. True: nothing is
    missing from the list.
    """
    start = PossibleValue(ctx, node, path, Following(ordered, returns, given))
    found = list(_followed(start, lambda _: False))
    return [value for value, _ in found if value is not None], all(whole for _, whole in found)


def verdicts(start: PossibleValue, judge: Callable[[PossibleValue], T | None]) -> list[T | None]:
    """The verdicts on everything that a value may be; None for what cannot be told.

    `judge` is asked of each value on the way; where it answers None, the values behind are asked.
    """
    told: dict[PossibleValue, T | None] = {}

    def stops(value: PossibleValue) -> bool:
        told[value] = judge(value)
        return told[value] is not None

    return [told.get(value) if value is not None else None for value, _ in _followed(start, stops)]


def _followed(
    start: PossibleValue, stops: Callable[[PossibleValue], bool]
) -> Iterable[tuple[PossibleValue | None, bool]]:
    """The values at the ends of all ways from one, each with whether the ways were followed; None: one is missing."""
    waiting, seen = [start], {start}
    while waiting:
        value = waiting.pop(0)
        found = behind(value) if not stops(value) else None
        if found is None:
            yield value, not value.is_far or _step(value) is None
            continue
        if not found.complete:
            yield None, False
        new = [each for each in dict.fromkeys(found.values) if each not in seen]
        seen.update(new)
        waiting = [*new, *waiting]


def expressions(ctx: PythonContext, node: ast.expr) -> list[tuple[PythonContext, ast.expr]]:
    """What gives a name or an attribute its value, each with its file; empty where one of these cannot be told."""
    found, complete = possible_values(ctx, node)
    plain = [(each.ctx, each.node) for each in found if not each.path and isinstance(each.node, ast.expr)]
    return plain if complete and len(plain) == len(found) and plain != [(ctx, node)] else []


def made_by(ctx: PythonContext, node: ast.expr) -> ast.Call | None:
    """The one call of this file that surely makes the value of an expression."""
    found, complete = possible_values(ctx, node)
    if not complete or len(found) != 1 or found[0].path or found[0].ctx is not ctx:
        return None
    return found[0].node if isinstance(found[0].node, ast.Call) else None


def elements(ctx: PythonContext, node: ast.expr) -> list[ast.expr] | None:
    """The expressions that make the items of a container, as it is at this place; None where one is not in sight."""
    start = PossibleValue(ctx, node, (ANY,), Following(ordered=True))
    found = verdicts(start, lambda each: each.node if not each.path and isinstance(each.node, ast.expr) else None)
    return [each for each in found if each is not None] if found and None not in found else None


# -- one step


def behind(value: PossibleValue) -> Behind | None:
    """What stands one step behind a value; None where it goes no further."""
    return None if value.is_far else _step(value)


def _step(value: PossibleValue) -> Behind | None:
    node, path = value.node, value.path
    match node:
        case ast.NamedExpr(value=inner) | ast.Await(value=inner):
            return Behind((value.at(inner, path),))
        case ast.IfExp(body=body, orelse=orelse):
            return Behind((value.at(body, path), value.at(orelse, path)), by_choice=True)
        case ast.BoolOp(values=arms):
            return Behind(tuple(value.at(arm, path) for arm in arms), by_choice=True)
        case ast.Subscript(value=inner, slice=ast.Slice()):
            return Behind((value.at(inner, (ANY, *path[1:])),)) if path else None
        case ast.Subscript(value=inner, slice=index):
            key = literal(index)
            return Behind((value.at(inner, (key if isinstance(key, (int, str)) else ANY, *path)),))
        case ast.Name() | ast.Attribute():
            return _named(value, node)
        case ast.Call(func=ast.Name(id="next"), args=[several, *_]):
            return Behind((value.at(several, (EACH, *path)),))
        case ast.Call() if value.following.returns and (found := _returned(value, node)):
            return found
    return _items(value) if path else None


def run_by(ctx: PythonContext, call: ast.Call) -> list[tuple[PythonContext, Function]]:
    """The functions of the project that a call may run, as far as they are known; no constructors."""
    return _run_by(PossibleValue(ctx, call, following=Following(returns=True)), call)[0]


def _run_by(value: PossibleValue, call: ast.Call) -> tuple[list[tuple[PythonContext, Function]], bool]:
    """The same, and whether these are all."""
    target = value.ctx.callee(call)
    return ([target], True) if target is not None else _methods(value, call)


def _returned(value: PossibleValue, call: ast.Call) -> Behind | None:
    run, complete = _run_by(value, call)
    if not complete:
        return None  # the call itself is all that is known (compiled_before)
    found: list[PossibleValue] = []
    for where, function in run:
        key = (returned, function)
        if key not in where.memo:
            where.memo[key] = returned(function)
        found += [value.at(each, value.path, where) for each in where.memo[key]]
        # another decorator may give something else (no-grad-in-autocast/decorated_manager)
        decorators = [each.func if isinstance(each, ast.Call) else each for each in function.decorator_list]
        complete = complete and all(where.name(d) in _PLAIN or where.means(d, _TRANSPARENT) for d in decorators)
    return Behind(tuple(found), complete, by_choice=True) if found else None


def _methods(value: PossibleValue, call: ast.Call) -> tuple[list[tuple[PythonContext, Function]], bool]:
    """The methods that a call may run on an object that the project makes of its own class; True: all of them."""
    if not isinstance(call.func, ast.Attribute):
        return [], True
    found: list[tuple[PythonContext, Function]] = []
    complete, waiting = True, [value.part(call.func.value)]
    for start in waiting:
        for each, whole in list(_followed(start, lambda _: False)):
            moved = moved_module(each.node) if each and not each.path else None
            if each is not None and moved is not None and not each.is_far:
                further = each.at(moved)
                waiting += [] if further in waiting else [further]
                continue
            target = _own_method(each, call.func.attr) if each is not None else None
            complete = complete and whole and target is not None
            found += [target] if target is not None and target not in found else []
    return found, complete


def moved_module(node: ast.AST) -> ast.expr | None:
    """`net` of `net.to(device)`: what a call returns that a module answers with itself."""
    func = node.func if isinstance(node, ast.Call) else None
    return func.value if isinstance(func, ast.Attribute) and func.attr in _FLUENT else None


def _own_method(made: PossibleValue, name: str) -> tuple[PythonContext, Function] | None:
    """A method of the project's class that a call makes an object of."""
    origins = made.ctx.origin(made.node.func) if isinstance(made.node, ast.Call) and not made.path else ()
    origin = next(iter(origins)) if len(origins) == 1 else ""
    return made.ctx.method_of(Ref.of(origin), name) if ":" in origin else None


def returned(function: Function) -> list[ast.expr]:
    """What the `return` statements of a function return; nothing for a generator."""
    nodes = list(own(function))
    if any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in nodes):
        return []
    return [node.value for node in nodes if isinstance(node, ast.Return) and node.value is not None]


# -- names and attributes


def _named(value: PossibleValue, node: ast.Name | ast.Attribute) -> Behind | None:
    ctx = value.ctx
    name = ctx.name(node)
    if name is None:
        return None
    given: list[Assigned]
    if value.following.ordered:
        bindings, complete = reaching(ctx, node)
        given = [(ctx, b, name) for b in bindings]
    elif (method := ctx.method(node)) and name.startswith(f"{method.self}.") and name.count(".") == 1:
        given, complete = assigned_to_attribute(ctx, method, name.partition(".")[2])
    else:
        given, complete = [(ctx, b, name) for b in ctx.assigned(node) or ()], True
    if not given:
        return _argument(value, node) if isinstance(node, ast.Name) else None
    values = [_bound(value, *each) for each in given]
    if value.path:
        added, known = _added(value, given)
        empty = [each for each in values if isinstance(each.node, (ast.List, ast.Dict)) and not _held(each.node)]
        values, complete = [*(each for each in values if not added or each not in empty), *added], complete and known
    return Behind(tuple(values), complete)


def assigned_to_attribute(ctx: PythonContext, method: Method, attribute: str) -> tuple[list[Assigned], bool]:
    """What a class and its ancestors assign to an attribute, on the class or on `self`; True: all of it is seen."""
    found: list[Assigned] = []
    complete = True
    for ref in ctx.index.lineage(method.owner).refs:
        known = ctx.index.klass(ref)
        if known is None or attribute not in known.attributes:
            continue
        where = ctx.other(ref.path)
        classes = where.classes(ref.name) if where is not None else []
        given = [
            (where, binding, attribute)
            for klass in classes
            if where is not None
            for binding in (*where.bindings(klass).get(attribute, ()), *assigned_to_self(where, klass, attribute))
        ]
        complete = complete and len(given) == len(known.attributes[attribute])
        found += given
    return found, complete


def _bound(value: PossibleValue, ctx: PythonContext, binding: Binding, name: str) -> PossibleValue:
    """What one binding gives to a name."""
    node, path = binding.node, value.path
    if binding.value is not None:
        return value.at(binding.value, path, ctx)
    match node:
        case ast.Assign(targets=targets, value=several):
            places = [place for target in targets if (place := _place(ctx, target, name)) is not None]
            if len(places) == 1:
                return value.at(several, (*places[0], *path), ctx)
        case ast.For(target=target, iter=several) | ast.AsyncFor(target=target, iter=several):
            if (place := _place(ctx, target, name)) is not None:
                return value.at(several, (EACH, *place, *path), ctx)
        case ast.comprehension(target=target, iter=several):
            if (place := _place(ctx, target, name)) is not None:
                return value.at(several, (EACH, *place, *path), ctx)
    return value.at(node, path, ctx)


def _place(ctx: PythonContext, target: ast.expr, name: str) -> tuple[int, ...] | None:
    """Where in the target of an unpacking a name stands; None: nowhere, twice, or behind a star."""
    if not isinstance(target, (ast.Tuple, ast.List)):
        written = ctx.name(target) or ""
        return () if written == name or written.partition(".")[2] == name else None
    if any(isinstance(each, ast.Starred) for each in target.elts):
        return None
    found = [(i, place) for i, each in enumerate(target.elts) if (place := _place(ctx, each, name)) is not None]
    return (found[0][0], *found[0][1]) if len(found) == 1 else None


def _argument(value: PossibleValue, node: ast.Name) -> Behind | None:
    """What the calls give for a parameter."""
    if value.following.given is None:
        return None
    function = binder(value.ctx, node.id, node)
    if not isinstance(function, FUNCTIONS):
        return None
    # in order, a name is the parameter where no assignment reaches (endless_generator)
    if node.id in value.ctx.bindings(function) and not value.following.ordered:
        return None
    name, path = node.id, value.path
    if function.args.kwarg is not None and function.args.kwarg.arg == name and path and isinstance(path[0], str):
        name, path = path[0], path[1:]  # `kwargs["optimizer"]` (given_by_keywords)
        if name in (EACH, ANY) or name in value.ctx.parameter_names(function):
            return None
    given = value.following.given(value.ctx, function, name)
    found = tuple(value.at(each[1], path, each[0]) for each in given if each is not None)
    return Behind(found, len(found) == len(given)) if given else None


# -- what containers hold


def looped(ctx: PythonContext, loop: ast.For | ast.AsyncFor | ast.comprehension, name: str) -> ast.expr | None:
    """The container whose items a loop gives to `name`: through `enumerate`, `zip`, `reversed`, `.items()`."""
    place = _place(ctx, loop.target, name)
    value = PossibleValue(ctx, loop.iter, (EACH, *(place or ())))
    while isinstance(value.node, ast.Call) and (step := _items(value)) is not None:
        (value,) = step.values
    return value.node if place is not None and len(value.path) == 1 and isinstance(value.node, ast.expr) else None


def _items(value: PossibleValue) -> Behind | None:
    """What stands behind an item of a container."""
    (key, *rest) = value.path
    position = key if isinstance(key, int) else None
    match value.node:
        case ast.List(elts=elements) | ast.Tuple(elts=elements) | ast.Set(elts=elements):
            if position is not None:
                starred = any(isinstance(e, ast.Starred) for e in elements)
                if starred or not -len(elements) <= position < len(elements):
                    return None
                elements = [elements[position]]
            spread = [(e.value, [EACH, *rest]) if isinstance(e, ast.Starred) else (e, rest) for e in elements]
            return Behind(tuple(value.at(*each) for each in spread)) if spread else None
        case ast.Dict(keys=keys, values=held):
            if key == EACH or None in keys:
                return None
            items = [each for k, each in zip(keys, held, strict=True) if key == ANY or literal(k) == key]
            return Behind(tuple(value.at(each, rest) for each in items)) if items else None
        case ast.ListComp(elt=element) | ast.SetComp(elt=element) | ast.GeneratorExp(elt=element):
            return Behind((value.at(element, rest),))
        case ast.DictComp(value=element) if key != EACH:
            return Behind((value.at(element, rest),))
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return Behind((value.at(left, (EACH, *rest)), value.at(right, (EACH, *rest))))
        case ast.AugAssign(op=ast.Add(), value=more):
            return Behind((value.at(more, (EACH, *rest)),))
        case ast.Call() as call:
            return _iterated(value, call, key, rest)
    return None


def _iterated(value: PossibleValue, call: ast.Call, key: object, rest: Sequence[object]) -> Behind | None:
    """The items of `enumerate(…)`, `zip(…)`, `reversed(…)`, `….items()` and the like."""
    args = call.args
    if call.keywords or any(isinstance(each, ast.Starred) for each in args):
        return None
    match call.func, rest:
        case ast.Name(id="enumerate"), [1, *further] if len(args) in (1, 2):
            return Behind((value.at(args[0], (EACH, *further)),))
        case ast.Name(id="zip"), [int(position), *further] if position < len(args):
            return Behind((value.at(args[position], (EACH, *further)),))
        case ast.Name(id="list" | "tuple" | "iter"), _ if len(args) == 1:
            return Behind((value.at(args[0], value.path),))
        case ast.Name(id="reversed" | "sorted" | "set"), _ if len(args) == 1:
            return Behind((value.at(args[0], (EACH, *rest)),))
        case ast.Attribute(value=held, attr="items"), [1, *further] if not args:
            return Behind((value.at(held, (ANY, *further)),))
        case ast.Attribute(value=held, attr="values" | "children"), _ if not args:
            return Behind((value.at(held, (ANY, *rest)),))
    return None


def _held(display: ast.List | ast.Dict) -> list[ast.expr]:
    return display.elts if isinstance(display, ast.List) else display.values


def _added(value: PossibleValue, given: Sequence[Assigned]) -> tuple[list[PossibleValue], bool]:
    """The items of `path` that are appended to a container where it is assigned; False: it is changed otherwise."""
    added: list[PossibleValue] = []
    known = True
    for where, binding, name in given:
        for use in _uses(where, binding, name):
            match where.parent(use):
                case ast.Attribute(attr="append") as attribute:
                    call = where.parent(attribute)
                    if isinstance(call, ast.Call) and call.func is attribute and len(call.args) == 1:
                        added.append(value.at(call.args[0], value.path[1:], where))
                case ast.Attribute(attr=verb) if verb in _CHANGING:
                    known = False
                case ast.Subscript(value=held, slice=index, ctx=ast.Store() | ast.Del()) if held is use:
                    keys = literal(index), value.path[0]
                    known = known and all(isinstance(key, (int, str)) and key not in (EACH, ANY) for key in keys)
                    known = known and keys[0] != keys[1]
    return list(dict.fromkeys(added)), known


def _uses(ctx: PythonContext, binding: Binding, name: str) -> Iterable[ast.expr]:
    """The places that read a name where it is bound; of an attribute, in all methods of its class."""
    scope, method = ctx.scope(binding.node), ctx.method(binding.node)
    if not isinstance(scope, ast.ClassDef) and any(b is binding for b in ctx.bindings(scope).get(name, ())):
        return list(uses(ctx, name, binding.node))
    klass = method.klass if method is not None else scope
    methods = [found for each in own(klass) if isinstance(each, FUNCTIONS) and (found := ctx.method(each))]
    return [use for each in methods for use in uses(ctx, f"{each.self}.{name}", each.node.body[0])]
