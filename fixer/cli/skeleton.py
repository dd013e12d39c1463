"""The skeleton of a new rule: its module, its fixtures and its proof."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from codemods.transforms import load
from fixer.errors import Refusal

MODULE = '''"""What is wrong, in one line.

## Why is this bad?
What happens, for which versions, and the exact text of the error.

## Fix safety
Why the fix is right, and what it may change.

## When it is not offered
The cases that are left alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.python_context import PythonContext
from codemods.model.edits import Consequence, Safety
from codemods.rules.rule import Draft, Rule
from codemods.syntax.verbs import replace

rule = Rule(
    code="{code}",
    name="{name}",
    summary="what is wrong, in one line",
    fix_title="What the fix does",
    safety=Safety.SAFE,
    consequence=Consequence.SILENT,
    triggers=(("the_function",),),
    errors=(),
    references=("https://docs.pytorch.org/docs/stable/",),
)


@rule.on(ast.Call)
def {function}(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    if ctx.means(call.func, "torch.the_function"):
        yield rule.finding(call, fix=[replace(call.func, "torch.the_other_function")])
'''
RIGHT = """import torch

# Code nearby that is right.
"""
NOT_APPLICABLE = """import torch

# shadow: a name of the project's own
# star: what a star import may bring
# splat: arguments that cannot be read
# keyword: an argument that is hidden in a dictionary
"""
BEFORE = """import torch


def train(model, optimizer, batches):
    for x, y in batches:
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
"""
PROOF = '''"""What the two sides show when they run."""

import torch

from codemods.verify.observe import batches, watch

SYMPTOM = "the exact text of the error"


def run(case):
    model = torch.nn.Linear(8, 1)
    with watch(model) as seen:
        case.train(model, torch.optim.SGD(model.parameters(), lr=0.1), batches())
    return seen
'''


def write(code: str, name: str, here: Path) -> Iterator[Path]:
    """Write the skeletons into the checkout of fixer that `here` lies in; the paths made.

    Raises:
        Refusal: if the code or name is no good or taken, or this is no checkout.
    """
    if not re.fullmatch(r"[A-Z]{2,4}[0-9]{3}", code):
        raise Refusal(f"{code!r} is not a code: use family letters and three digits, such as AMP011")
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise Refusal(f"{name!r} is not a name: say the bad pattern in kebab case, such as raw-backward")
    for rule in load():
        if code == rule.code or name == rule.name:
            raise Refusal(f"{rule.code} {rule.name} exists ({rule.module}): codes and names are never used twice")
    root = checkout(here)
    function = name.replace("-", "_")
    module = root / "codemods" / "transforms" / family(code) / f"{function}.py"
    fixtures = root / "tests" / "before_after" / name
    contents = {
        module: MODULE.format(code=code, name=name, function=function),
        fixtures / "right" / "same.py": RIGHT,
        fixtures / "not_applicable" / "same.py": NOT_APPLICABLE,
        fixtures / "example" / "before.py": BEFORE,
        fixtures / "example" / "after.py": BEFORE,
        fixtures / "example" / "proof.py": PROOF,
    }
    package = module.parent / "__init__.py"
    if not package.exists():
        contents[package] = f'"""The {code.rstrip("0123456789")} rules."""\n'
    for path in contents:
        if path.exists():
            raise Refusal(f"{path} exists: choose another name")
    for path, text in contents.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        yield path.relative_to(root)


def checkout(here: Path) -> Path:
    """The checkout of fixer that `here` lies in."""
    for place in (here, *here.parents):
        if (place / "codemods" / "transforms").is_dir() and (place / "tests" / "before_after").is_dir():
            return place
    raise Refusal(f"{here} is not in a checkout of fixer: clone it, and run `fixer rules new` there")


def family(code: str) -> str:
    """The folder for a code: the one where most rules of the same letters live."""
    letters = code.rstrip("0123456789")
    folders = Counter(
        rule.module.split(".")[2]
        for rule in load()
        if rule.family == letters and rule.module.startswith("codemods.transforms.") and rule.module.count(".") >= 3
    )
    return folders.most_common(1)[0][0] if folders else letters.lower()
