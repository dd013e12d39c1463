"""A name that a fix takes out of a module is one that nobody takes from there: each way to take one keeps it."""

from __future__ import annotations

import ast

import pytest
from cases import Case, cases, hold

_TAKERS = {
    "configuration": "_target_: case.{name}\n",
    "import": "import case\n\nprint(case.{name})\n",
    "from import": "from case import {name}\n\nprint({name})\n",
    "star": "from case import *\n\nprint({name})\n",
    "second name": "import case as program\n\nprint(program.{name})\n",
    "getattr": 'import case\n\nprint(getattr(case, "{name}"))\n',
    "any name": "import sys\n\nimport case\n\nprint(getattr(case, sys.argv[1]))\n",
    "members": "import inspect\n\nimport case\n\nprint(dict(inspect.getmembers(case))[input()])\n",
    "vars": 'import case\n\nprint(vars(case)["{name}"])\n',
    "dict": "import case\n\nprint(case.__dict__[input()])\n",
    "attrgetter": 'import operator\n\nimport case\n\nprint(operator.attrgetter("{name}")(case))\n',
    "import_module": 'import importlib\n\nprint(importlib.import_module("case").{name})\n',
    "any module": 'import importlib\nimport sys\n\nprint(vars(importlib.import_module(sys.argv[1]))["{name}"])\n',
    "sys.modules": 'import sys\n\nprint(sys.modules["case"].{name})\n',
    "run_path": 'import runpy\n\nprint(runpy.run_path("case.py")["{name}"])\n',
    "locate": 'import pydoc\n\nprint(pydoc.locate("case.{name}"))\n',
    "patch": 'from unittest import mock\n\nwith mock.patch("case.{name}"):\n    pass\n',
}


def _bound(text: bytes) -> set[str]:
    """What the imports of a module bind."""
    found: set[str] = set()
    for node in ast.parse(text).body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            found |= {each.asname or each.name.partition(".")[0] for each in node.names}
    return found


def _lost(case: Case, files: dict[str, bytes]) -> set[str]:
    """The names that the safe fixes take out of the module."""
    texts = {each.path: each.after for each in case.run(files).changed}
    return _bound(files["case.py"]) - _bound(texts.get("case.py", files["case.py"]))


@pytest.fixture(scope="module")
def losing() -> dict[str, tuple[Case, str]]:
    """The fixtures of one file in which a safe fix takes a name out of the module, each with every such name."""
    found = (each for each in cases() if each.kind == "before" and each.path.suffix == ".py" and not each.options)
    return {f"{each.rule.code} {each.name} {name}": (each, name) for each in found for name in _lost(each, each.files)}


@pytest.mark.law
@pytest.mark.parametrize("how", _TAKERS)
def test_a_name_that_is_taken_out_of_a_module_stays(how: str, losing: dict[str, tuple[Case, str]]) -> None:
    def law(subject: tuple[Case, str]) -> None:
        case, name = subject
        taker = _TAKERS[how].replace("{name}", name)
        path = "taker.yaml" if how == "configuration" else "taker.py"
        assert name not in _lost(case, {**case.files, path: taker.encode()})

    assert losing
    hold(law, losing)
