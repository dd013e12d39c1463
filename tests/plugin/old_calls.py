"""Rules for tests of the command line: four calls that are old. Installed as a plugin would be.

## Why is this bad?
Old calls are old. This paragraph is long enough that it has to be wrapped when it becomes part of a commit message.

It has a second paragraph.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.python_context import PythonContext
from codemods.model.edits import Consequence, Safety
from codemods.rules.rule import Draft, Rule
from codemods.syntax.verbs import edit_call


def _renames(
    code: str, old: str, new: str, safety: Safety, consequence: Consequence, strategies: tuple[str, ...] = ()
) -> Rule:
    made = Rule(
        code=code,
        name=old.replace("_", "-"),
        summary=f"`{old}()` is old",
        fix_title=f"Call `{new}()`",
        safety=safety,
        consequence=consequence,
        triggers=((old,),),
        references=(f"https://example.org/{old}",),
        strategies=strategies,
        module=__name__,
    )

    @made.on(ast.Call)
    def check(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
        if isinstance(call.func, ast.Name) and call.func.id == old:
            fix = [edit_call(call, function=new)] if safety else None
            yield made.finding(call, fix=fix)

    return made


one = _renames("OLD001", "old_one", "new_one", Safety.SAFE, Consequence.DEPRECATED, ("rename", "remove"))
two = _renames("OLD002", "old_two", "old_one", Safety.SAFE, Consequence.DEPRECATED)
three = _renames("OLD003", "old_three", "new_three", Safety.UNSAFE, Consequence.SILENT)
four = _renames("OLD004", "old_four", "new_four", Safety.DISPLAY, Consequence.WARNS)
RULES = (one, two, three, four)
