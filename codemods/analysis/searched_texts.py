"""Who looks for a name in the text of a program: an edit that changes the text changes what is found.

`sed -i s/precision=16/precision=32/ train.py`, a hook of pre-commit that runs `grep`, a test that reads the source of a
function or what a double was called with.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from codemods.analysis.python_context import PythonContext
from codemods.model.edits import Evidence
from codemods.sources import files

_OTHER_LANGUAGES = (".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".awk", ".jl", ".R")
_COMMANDS = (".yml", ".yaml", ".toml", ".ini", ".cfg")
"""Files that hold commands among other things."""
_SEARCHING = re.compile(r"\b(?:[ef]?grep|rg|ag|sed|awk|perl)\b")
_INSPECTING = frozenset(
    {"call_args", "call_args_list", "mock_calls", "getsource", "getsourcelines", "co_consts", "co_names", "getcallargs"}
)
"""What shows how something was called, or its source."""
_READING = frozenset({"open", "read_text", "read_bytes", "readlines"})


def looked_for(ctx: PythonContext, name: str) -> Iterator[Evidence]:
    """The places of a project that may look for a name."""
    for path in ctx.index.holding("", (name.encode(),), (*files.SHELL, "Makefile", *_OTHER_LANGUAGES)):
        yield ctx.shown_in(path, name, f"`{name}` may be looked for in the text")
    for path in ctx.index.holding("", (name.encode(),), _COMMANDS):
        for number, line in enumerate((ctx.index.text(path) or "").splitlines(), 1):
            if name in line and _SEARCHING.search(line):
                yield Evidence(path, number, f"`{name}` may be looked for in the text")
    for path in ctx.index.search(ctx.path, (name.encode(),)):
        yield from _inspected(ctx, path, name)


def _inspected(ctx: PythonContext, path: str, name: str) -> Iterator[Evidence]:
    """The texts with a name in a Python file that looks at how something was called, or at source."""
    facts = ctx.index.facts(path)
    if facts is None:
        return
    inspects, reads = (
        not facts.mentioned.isdisjoint(words) or not facts.called.isdisjoint(words) for words in (_INSPECTING, _READING)
    )
    there = ctx.other(path) if inspects or reads else None
    if there is None:
        return
    texts = [each for each in there.all(ast.Constant) if isinstance(each.value, str)]
    if inspects or any(str(each.value).endswith(".py") for each in texts):
        found = (each for each in texts if name in str(each.value))
        yield from (there.evidence(each, f"`{name}` may be looked for here") for each in found)
