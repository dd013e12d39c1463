"""Loss functions, and what they are computed of: logits, or a softmax of these."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from codemods.analysis import instances
from codemods.analysis.calls import argument, given, has_splat, literal, positional
from codemods.analysis.instances import constructed
from codemods.analysis.mentions import definers, stores
from codemods.analysis.python_context import PythonContext
from codemods.analysis.values import PossibleValue, possible_values, returned
from codemods.flow.answers import Answer, question, unless
from codemods.model.edits import Evidence
from codemods.model.names import TORCH_MODULE
from codemods.project.index import Ref

SOFTMAX = frozenset({"torch.softmax", "torch.special.softmax", "torch.nn.functional.softmax"})
_LAYER = frozenset({"torch.nn.Softmax", "torch.nn.modules.activation.Softmax"})
_SEQUENCE = "torch.nn.Sequential"
SHAPING = frozenset({"view", "reshape", "flatten", "squeeze"})
_ALIKE = SHAPING | {"contiguous", "float", "double", "to", "cuda"}
"""Methods whose result holds the same numbers (`reshaped`)."""
_WRAPPERS = frozenset({"torch.nn.DataParallel", "torch.nn.parallel.DistributedDataParallel", "torch.compile"})
"""What computes what the network within computes."""
_DEPTH = 3


def computes(ctx: PythonContext, call: ast.Call, function: str, classes: frozenset[str]) -> bool:
    """Whether a call surely computes a loss: by its function, or by an object of its class."""
    if ctx.means(call.func, function):
        return True
    found, complete = possible_values(ctx, call.func)
    made = [each.ctx.means(each.node.func, classes) for each in found if isinstance(each.node, ast.Call)]
    return complete and len(made) == len(found) > 0 and all(made)


def softmax_of(ctx: PythonContext, node: ast.AST) -> ast.expr | None:
    """What a call of a softmax that stands here is computed of."""
    match node:
        case ast.Call(func=ast.Attribute(value=logits, attr="softmax") as method) if not ctx.origin(method):
            # an object of the project may have one of its own (`its_own_softmax`, `returned`)
            own = any(definers(ctx, "softmax")) or any(each.word == "softmax" for each in stores(ctx, "softmax"))
            return None if has_splat(node) or own else logits
        case ast.Call(func=ast.Call() as maker) if ctx.means(maker.func, _LAYER):
            return positional(node, 0)
        case ast.Call(func=func) if ctx.means(func, SOFTMAX) and not has_splat(node):
            return positional(node, 0)
    return None


Place = tuple[PythonContext, ast.expr]


def softmaxes(ctx: PythonContext, node: ast.expr, depth: int = _DEPTH) -> list[Place]:
    """The softmaxes that a value surely is the result of, each with its file; none where it may be something else."""
    found, complete = possible_values(ctx, node, ordered=True, returns=True, given=given)
    places = [_softmax(each, depth) for each in found]
    return [place for each in places for place in each] if complete and all(places) else []


def _softmax(value: PossibleValue, depth: int) -> Sequence[Place]:
    ctx, call = value.ctx, value.node
    if value.path or not isinstance(call, ast.Call):
        return []
    if softmax_of(ctx, call) is not None or _is_layer(ctx, call):
        return [(ctx, call)]
    if isinstance(call.func, ast.Attribute) and call.func.attr in _ALIKE and not ctx.origin(call.func):
        return softmaxes(ctx, call.func.value, depth - 1) if depth else []
    return _of_a_module(ctx, call, depth) if depth else []


def dimensions(place: Place) -> list[object]:
    """The dimensions that a softmax sums over, of the call or of the layer that it calls; `...` where not in sight."""
    ctx, call = place
    if not isinstance(call, ast.Call):
        return [...]
    if softmax_of(ctx, call) is not None:
        maker = call.func if isinstance(call.func, ast.Call) else call
        position = 0 if maker is not call or not ctx.means(call.func, SOFTMAX) else 1
        return [_dimension(maker, position)]
    makers = (each.node for each in possible_values(ctx, call.func)[0])
    return [_dimension(_last(maker), 0) for maker in makers if isinstance(maker, ast.Call)] or [...]


def _last(maker: ast.Call) -> ast.Call:
    """The layer at the end of a sequence of layers, or the layer itself."""
    last = maker.args[-1] if maker.args else None
    return last if isinstance(last, ast.Call) else maker


def _dimension(call: ast.Call, position: int) -> object:
    given = argument(call, "dim", position)
    return literal(given) if given is not None else None


def _is_layer(ctx: PythonContext, call: ast.Call) -> bool:
    """Whether what is called surely is a softmax layer, or a sequence of layers that ends with one."""
    found, complete = possible_values(ctx, call.func)
    return complete and bool(found) and all(_makes_a_softmax(each.ctx, each.node) for each in found)


def _makes_a_softmax(ctx: PythonContext, maker: ast.AST) -> bool:
    match maker:
        case ast.Call(func=func, args=[*_, ast.Call() as last]) if ctx.means(func, _SEQUENCE):
            return ctx.means(last.func, _LAYER)
        case ast.Call(func=func):
            return ctx.means(func, _LAYER)
    return False


def _of_a_module(ctx: PythonContext, call: ast.Call, depth: int) -> list[Place]:
    """The softmaxes that the `forward` of a module of the project returns, or of one of several that are chosen from.

    `every_network_ends_so` tells the others.
    """
    return [place for ref in _modules(ctx, call)[0] for place in _at_the_end(ctx, ref, depth)]


def _modules(ctx: PythonContext, call: ast.Call) -> tuple[list[Ref], bool]:
    """The classes of modules of the project of which an object may be called; True: of no other."""
    kind = instances.of(ctx, call.func)
    names = [Ref.of(each) for each in kind.names if ":" in each] if kind is not None else []
    if names and all(ctx.index.descends(each, TORCH_MODULE) is True for each in names):
        return names, len(names) == len(kind.names if kind is not None else ())
    found, complete = _networks(ctx, call.func)
    refs: dict[Ref, None] = {}
    for where, made in found:
        origins = where.origin(made.func) if made is not None else frozenset()
        name = next(iter(origins)) if len(origins) == 1 else ""
        known = ":" in name and ctx.index.descends(Ref.of(name), TORCH_MODULE) is True
        complete = complete and known
        if known:
            refs[Ref.of(name)] = None
    return list(refs), complete


def _networks(ctx: PythonContext, node: ast.expr) -> tuple[list[tuple[PythonContext, ast.Call | None]], bool]:
    """The calls that make what a network may be; None for what no call makes; True: of no other.

    A network is what a function makes of it, moved to a device or within a wrapper (`made_by_a_function`).
    """
    made: list[tuple[PythonContext, ast.Call | None]] = []
    complete, seen, waiting = True, set[ast.AST](), [(ctx, node)]
    for where, each in waiting:
        found, whole = possible_values(where, each, returns=True, given=given)
        complete = complete and whole
        for value in found:
            if value.node in seen:  # `self.model = DistributedDataParallel(self.model)`
                continue
            seen.add(value.node)
            call = constructed(value.node) if isinstance(value.node, ast.Call) and not value.path else None
            inner = positional(call, 0) if call is not None and value.ctx.origin(call.func) & _WRAPPERS else None
            if inner is not None:
                waiting.append((value.ctx, inner))
            elif call is not None and call is not value.node:
                waiting.append((value.ctx, call))
            else:
                made.append((value.ctx, call))
    return made, complete


def _at_the_end(ctx: PythonContext, ref: Ref, depth: int) -> list[Place]:
    if (found := ctx.method_of(ref, "forward")) is None:
        return []
    where, forward = found
    ends = [softmaxes(where, each, depth - 1) for each in returned(forward)]
    return [each for end in ends for each in end] if all(ends) else []


@question
def every_network_ends_so(ctx: PythonContext, node: ast.expr) -> Answer:
    """Whether all networks that may compute a value end with a softmax (`one_of_two_networks`)."""
    return unless(_others(ctx, node, _DEPTH))


def _others(ctx: PythonContext, node: ast.expr, depth: int) -> Iterator[Evidence]:
    for each in possible_values(ctx, node, ordered=True, returns=True, given=given)[0]:
        call = each.node
        if not isinstance(call, ast.Call) or each.path or softmax_of(each.ctx, call) is not None:
            continue
        if isinstance(call.func, ast.Attribute) and call.func.attr in _ALIKE and not each.ctx.origin(call.func):
            yield from _others(each.ctx, call.func.value, depth - 1) if depth else ()
            continue
        if _is_layer(each.ctx, call):
            continue
        refs, complete = _modules(each.ctx, call)
        if not complete:
            yield each.ctx.evidence(call, "another network may be called here")
        for ref in refs if depth else ():
            if not _at_the_end(each.ctx, ref, depth):
                yield each.ctx.evidence(call, f"`{ref.name}` ends with no softmax")
