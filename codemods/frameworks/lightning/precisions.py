"""The names that Lightning's Trainer and Fabric give to precisions, and since when; each was tried on Lightning 1.9.5,
2.0.3, 2.1.0, 2.4.0 and 2.6.6."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from codemods.analysis.calls import keyword, literal
from codemods.analysis.python_context import PythonContext
from codemods.analysis.values import PossibleValue, behind, expressions, verdicts
from codemods.model.names import FABRIC, LIGHTNING_TRAINER
from codemods.project import versions
from codemods.rules.file_context import FileContext
from codemods.syntax.module import own

FIRST: dict[object, str] = {16: "16-mixed", "16": "16-mixed", "bf16": "bf16-mixed"}
"""What Lightning 1.x called mixed precision, and what it is called since 2.0. Newer versions read both."""

ALWAYS = frozenset({16, 32, 64, "16", "32", "64", "bf16"})
"""What every version takes."""

SINCE = {
    **dict.fromkeys(("16-mixed", "bf16-mixed", "32-true", "64-true"), ">=2.0"),
    **dict.fromkeys(("16-true", "bf16-true", "transformer-engine", "transformer-engine-float16"), ">=2.1"),
}
"""What newer versions take besides."""

BEFORE_2: dict[str, int | str] = {"16-mixed": 16, "bf16-mixed": "bf16", "32-true": 32, "64-true": 64}
"""What Lightning 1.x calls the same precision."""

_PREFIXES = frozenset({"fp", "float", "f", "bit", "bits"})
_NAMES = ("16-mixed", "bf16-mixed", "32-true", "64-true", "16-true", "bf16-true")
_PARTS: dict[frozenset[str], tuple[str, ...]] = {
    **{frozenset(re.findall(r"[a-z]+|\d+", name)): (name,) for name in _NAMES},
    frozenset({"32"}): ("32-true",),
    frozenset({"64"}): ("64-true",),
    frozenset({"double"}): ("64-true",),
    frozenset({"16"}): ("16-mixed", "16-true"),
    frozenset({"half"}): ("16-mixed", "16-true"),
    frozenset({"bf", "16"}): ("bf16-mixed", "bf16-true"),
    frozenset({"mixed"}): ("16-mixed", "bf16-mixed"),
    frozenset({"amp"}): ("16-mixed", "bf16-mixed"),
}
"""What the parts of a name, in whatever order, may stand for."""

_VERSION = re.compile(r"version|lightning|\bPL_", re.IGNORECASE)


def accepted(value: object, ctx: FileContext) -> bool:
    """Whether Lightning takes a precision in some version that the project allows."""
    if isinstance(value, (bool, float)):
        return False
    return value in ALWAYS or (value in SINCE and versions.may(ctx.target("lightning"), SINCE[str(value)]))


def meant(value: object) -> tuple[str, ...]:
    """The names that a spelling which no version takes may stand for: one where its parts leave no choice."""
    if not isinstance(value, str):
        return ()
    parts = [part.replace("bfloat", "bf") for part in re.findall(r"[a-z]+|\d+", value.lower())]
    telling = [part for part in parts if part not in _PREFIXES]
    return _PARTS.get(frozenset(telling), ()) if len(set(parts)) == len(parts) else ()


def given(call: ast.Call, ctx: PythonContext) -> Iterator[tuple[ast.expr, object]]:
    """The literal precisions that a call hands to Lightning's Trainer or Fabric: `16 if amp else 32` has two.

    A constant (`PRECISION = 16`) is the literal that it is given in one place. None where the code asks for a version
    before it chooses.
    """
    precision = keyword(call, "precision")
    if precision is None or not _takes_precisions(call, ctx):
        return

    def judge(value: PossibleValue) -> tuple[ast.expr, object] | None:
        node = value.node
        step = behind(value)
        several = step is not None and not step.by_choice and len(step.values) > 1
        imported = isinstance(node, ast.Name) and (any(ctx.facts.named(node.id)) or any(ctx.facts.named("*")))
        if value.ctx is not ctx or value.path or several or imported or _chosen_by_version(ctx, node):
            return precision, None
        told = literal(node)
        return (node, told) if isinstance(node, ast.expr) and isinstance(told, (str, int, float)) else None

    found = verdicts(PossibleValue(ctx, precision), judge)
    yield from (each for each in found if each is not None and each[1] is not None)


def _takes_precisions(call: ast.Call, ctx: PythonContext) -> bool:
    """Whether a call makes a Trainer or Fabric, or is `super().__init__(…)` in a subclass of Lightning's own."""
    if ctx.means(call.func, LIGHTNING_TRAINER, FABRIC):
        return True
    match call.func:
        case ast.Attribute(value=ast.Call(func=ast.Name(id="super"), args=[]), attr="__init__"):
            here = ctx.klass(call)
            if here is None or ctx.index.descends(here, LIGHTNING_TRAINER | FABRIC) is not True:
                return False
            above = (ctx.index.klass(ref) for ref in ctx.index.lineage(here).refs[1:])
            return all(klass is not None and "__init__" not in klass.methods for klass in above)
    return False


def is_only_a_precision(ctx: PythonContext, value: ast.expr, call: ast.Call) -> bool:
    """Whether a literal is the precision of a Trainer or Fabric and nothing else: no constant that other code reads."""
    if call in ctx.ancestors(value):
        return True
    statement = ctx.statement(value)
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    if isinstance(statement, ast.AnnAssign):
        target = statement.target
    if not isinstance(target, ast.Name) or ctx.index.imported_elsewhere(ctx.path, target.id):
        return False
    names = (n for n in ctx.all(ast.Name) if n.id == target.id and n is not target)
    return all(_is_precision(ctx, name) for name in names)


def _is_precision(ctx: PythonContext, name: ast.Name) -> bool:
    """Whether a name is what a Trainer or Fabric gets as its precision."""
    call = ctx.enclosing(name, ast.Call)
    return call is not None and keyword(call, "precision") is name and _takes_precisions(call, ctx)


def _chosen_by_version(ctx: PythonContext, node: ast.AST) -> bool:
    """Whether a condition around `node` asks for a version, itself or by a name; an `except` block is one of those."""
    for above in ctx.ancestors(node):
        if isinstance(above, ast.ExceptHandler):
            return True
        if isinstance(above, (ast.If, ast.IfExp)):
            asked_for = (above.test, *own(above.test))
            names = [part for part in asked_for if isinstance(part, (ast.Name, ast.Attribute))]
            given = [each for name in names for each in expressions(ctx, name)]
            if any(_VERSION.search(where.source(asked)) for where, asked in ((ctx, above.test), *given)):
                return True
    return False


def written(ctx: PythonContext, old: ast.expr, new: int | str) -> str:
    """A precision as a literal, with the quotes of the old one, else of the file."""
    if isinstance(new, int):
        return str(new)
    code = ctx.source(old)
    return f"{code[-1]}{new}{code[-1]}" if code[-1] in "'\"" else ctx.quoted(new)
