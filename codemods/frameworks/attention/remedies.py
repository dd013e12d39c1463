"""The ways to keep an encoder off its fused path under autocast."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from codemods.analysis.calls import argument
from codemods.analysis.definitions import unused_name
from codemods.analysis.python_context import PythonContext
from codemods.frameworks.attention.encoders import Encoder
from codemods.frameworks.attention.precision_evidence import AutocastUse
from codemods.model.edits import Need
from codemods.model.names import NEEDS
from codemods.rules.rule import Remedy
from codemods.syntax.verbs import Verb, edit_call, enclose, insert_after

SWITCH = "torch.backends.mha.set_fastpath_enabled"


def no_nested(encoder: Encoder) -> Remedy:
    """`enable_nested_tensor=False` where the encoder is built."""
    built, name = encoder.built, "enable_nested_tensor"
    given: list[ast.expr | ast.keyword] = [*built.args[3:4], *(k for k in built.keywords if k.arg == name)]
    fixed = edit_call(built, values={given[0]: "False"}) if given else edit_call(built, last=[(name, "False")])
    return Remedy([fixed], requires={"torch": ">=2.6"})


def fastpath_off(calls: Sequence[ast.Call], ctx: PythonContext) -> Remedy | None:
    """The switch around each call, put back afterwards."""
    changes: list[Verb] = []
    needs: list[Need | None] = []
    saved = unused_name(ctx, "fastpath", "encoder_fastpath", "mha_fastpath")
    for call in calls:
        mha = ctx.spell("torch.backends.mha", at=call)
        if mha is None:
            return None
        before = f"{saved} = {mha.code}.get_fastpath_enabled()", f"{mha.code}.set_fastpath_enabled(False)"
        after = f"finally:\n    {mha.code}.set_fastpath_enabled({saved})"
        changes.append(enclose(call, "try:", before=before, after=after))
        needs.append(mha.need)
    return Remedy(changes, needs=needs, requires=NEEDS[SWITCH]) if _apart(calls, ctx) else None


def fastpath_off_global(ctx: PythonContext) -> Remedy | None:
    """The switch for the whole process, after the imports of the module that builds the encoder."""
    last = None
    for statement in ctx.module.tree.body:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            last = statement
        elif last is not None:
            break
    backends = ctx.spell("torch.backends", at=ctx.module.tree.body[0]) if last is not None else None
    if last is None or backends is None:
        return None
    test = f"hasattr({backends.code}, {ctx.quoted('mha')})"
    code = f"\nif {test}:\n    {backends.code}.mha.set_fastpath_enabled(False)\n"
    return Remedy([insert_after(last, code)], needs=[backends.need])


def fp32_island(calls: Sequence[ast.Call], ctx: PythonContext) -> Remedy | None:
    """Autocast off around each call, and its input in float32."""
    changes: list[Verb] = []
    needs: list[Need | None] = []
    for call in calls:
        given = argument(call, "src", 0)
        autocast = ctx.spell("torch.autocast", at=call)
        name = ctx.name(given)
        if given is None or name is None or autocast is None:
            return None
        header = f"with {autocast.code}(device_type={name}.device.type, enabled=False):"
        changes.append(enclose(call, header, values={given: f"{name}.float()"}))
        needs.append(autocast.need)
    return Remedy(changes, needs=needs) if _apart(calls, ctx) else None


def precision(evidence: AutocastUse, value: str, ctx: PythonContext) -> Remedy | None:
    """Another precision for the Trainer that evaluates the encoder."""
    given, where = evidence.precision, evidence.context
    call = where.parent(given) if given is not None else None
    if given is None or given.arg != "precision" or not isinstance(call, ast.Call):
        return None
    new = [edit_call(call, values={given: where.quoted(value)})]
    return Remedy(new) if where is ctx else Remedy(also={where.path: new})


def _apart(calls: Sequence[ast.Call], ctx: PythonContext) -> bool:
    """Whether each call stands in a simple statement, and no two on one line."""
    statements = [ctx.statement(call) for call in calls]
    simple = [s for s in statements if isinstance(s, (ast.Assign, ast.AnnAssign, ast.Return, ast.Expr))]
    lines = {line for s in simple for line in (s.lineno, s.end_lineno)}
    alone = sum(len({s.lineno, s.end_lineno}) for s in simple)
    return len(simple) == len(calls) > 0 and len(lines) == alone
