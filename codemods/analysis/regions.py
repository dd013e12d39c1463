"""Which context managers are in force at a place: by `with`, by decorator, and by a statement that switches a mode.

One walk for all of them. What a manager does (autocast on, gradients off, an error expected) is for those who ask to
say; the last one that says anything decides.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from codemods.syntax.module import Function, Module

WITHS = (ast.With, ast.AsyncWith)
SWITCHES = frozenset({"torch.set_grad_enabled"})
"""Context managers that, called as a statement, are in force for what follows in the block."""

Block = tuple[ast.AST, str]
"""What `Module.block` gives."""


@dataclass(frozen=True, slots=True)
class Manager:
    """A context manager in force, or a mark on the function or class around."""

    holder: ast.With | ast.AsyncWith | Function | ast.ClassDef | ast.Expr
    """The `with`, the function that it decorates, or the statement that switches."""
    entered: ast.expr
    """The expression that is entered."""

    @property
    def maker(self) -> ast.expr:
        """What is called to make it: `torch.no_grad` of `torch.no_grad()`; without a call, the expression itself."""
        return self.entered.func if isinstance(self.entered, ast.Call) else self.entered


def in_force(
    module: Module, node: ast.AST, switches: Mapping[Block, Sequence[ast.Expr]], *, nested: bool = False
) -> list[Manager]:
    """The managers in force at a node within its function or lambda, outermost first.

    Args:
        switches: the statements of the file that switch a mode, by block.
        nested: go on through the functions around it, and add the decorators of classes: these are entered when the
            code is defined, not each time it runs.
    """
    found: list[Manager] = []
    below = node
    for above in module.ancestors(node):
        if switches and isinstance(below, ast.stmt):
            earlier = [s for s in switches.get(module.block(below), ()) if _start(s) < _start(below)]
            found += [Manager(s, s.value) for s in reversed(earlier)]
        match above:
            case ast.With(items=items) | ast.AsyncWith(items=items):
                before = items[: items.index(below)] if isinstance(below, ast.withitem) else items
                found += [Manager(above, item.context_expr) for item in reversed(before)]
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() if isinstance(below, ast.stmt):
                is_class = isinstance(above, ast.ClassDef)
                if nested or not is_class:
                    found += [Manager(above, decorator) for decorator in reversed(above.decorator_list)]
                if not (nested or is_class):
                    break
            case ast.Lambda(body=body) if below is body and not nested:
                break
        below = above
    return found[::-1]


def _start(statement: ast.stmt) -> tuple[int, int]:
    return statement.lineno, statement.col_offset
