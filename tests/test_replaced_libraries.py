"""What is put under a name of a library is another thing: nothing is certain of that name, and no fix of it is safe.

A transformation of every program: it imports one more file first, which puts something else under each name of a
library that the program uses.
"""

from __future__ import annotations

import ast
from functools import cache

import pytest
from cases import Case, few, hold

from codemods.model.edits import Certainty, Consequence, Safety

LIBRARIES = ("torch", "transformers", "accelerate", "lightning", "pytorch_lightning", "peft", "trl")
WAYS = {
    "an attribute": "ITS.NAME = OWN",
    "an attribute of the library": "import OWNER\nOWNER.NAME = OWN",
    "a tuple": "ITS.NAME, ITS.OTHER = OWN, None",
    "a wrapper": "ITS.NAME = wrapped(ITS.NAME)",
    "a constructor": "ITS.NAME.__init__ = OWN",
    "by name": "setattr(ITS, 'NAME', OWN)",
    "past its own setter": "object.__setattr__(ITS, 'NAME', OWN)",
    "by a name in a loop": "for each in ('NAME',):\n    setattr(ITS, each, OWN)",
    "by a name of a table": "for name, value in {'NAME': OWN}.items():\n    setattr(ITS, name, value)",
    "by a function": "def put_OWN(module, name):\n    setattr(module, name, OWN)\n\n\nput_OWN(ITS, 'NAME')",
    "under its own name": "for each in (OWN,):\n    setattr(ITS, each.__name__, each)",
    "in a function": "def put_OWN():\n    ITS.NAME = OWN\n\n\nput_OWN()",
    "in its dictionary": "vars(ITS)['NAME'] = OWN",
    "in its attributes": "ITS.__dict__['NAME'] = OWN",
    "as a default": "vars(ITS).setdefault('NAME', OWN)",
    "with others": "ITS.__dict__.update({'NAME': OWN})",
    "with others by keyword": "vars(ITS).update(NAME=OWN)",
    "in its path": "import OWNER\nOWNER.__path__.insert(0, 'moved')",
    "by an operator": "import operator\noperator.setitem(vars(ITS), 'NAME', OWN)",
    "among the modules": "import sys\nsetattr(sys.modules['OWNER'], 'NAME', OWN)",
    "of a module by its name": "import sys\nsys.modules['OWNER'].NAME = OWN",
    "of a module under another name": "import sys\nmodule = sys.modules['OWNER']\nmodule.NAME = OWN",
    "of a module that is asked for": "import importlib\nimportlib.import_module('OWNER').NAME = OWN",
    "of a module by a given name": (
        "import importlib\n\n\ndef put_OWN(name='OWNER'):\n"
        "    setattr(importlib.import_module(name), 'NAME', OWN)\n\n\nput_OWN()"
    ),
    "of a module by a given name, asked for under another name": (
        "from importlib import import_module as ask\n\n\ndef put_OWN(name='OWNER'):\n"
        "    setattr(ask(name), 'NAME', OWN)\n\n\nput_OWN()"
    ),
    "by a double": "from unittest import mock\nmock.patch('OWNER.NAME', OWN).start()",
    "by a double of the object": "from unittest import mock\nmock.patch.object(ITS, 'NAME', OWN).start()",
    "by a decorator": "import gorilla\n\n\n@gorilla.patch(ITS, 'NAME')\ndef other():\n    pass",
}
HEAD = "import OWNER as ITS\n\n\ndef OWN(*args, **settings):\n    return None\n\n\n"


@pytest.mark.parametrize("way", sorted(WAYS))
def test_nothing_is_certain_of_what_is_replaced(way: str) -> None:
    def law(case: Case) -> None:
        (path, data) = next(iter(case.files.items()))
        replaced = "\n\n".join(_written(way, number, *name) for number, name in enumerate(used(data.decode())))
        beside = {path: b"import other\n" + data, "other.py": replaced.encode()}
        _is_unsure(case, beside)

    hold(law, {case.rule.code: case for case in _examples()})


COMING: dict[str, dict[str, str]] = {
    "imported": {"PROGRAM": "import parts.other\n"},
    "imported by its package": {"parts/__init__.py": "from . import other\n", "PROGRAM": "import parts\n"},
    "imported by another file": {"parts/more.py": "from .other import *\n", "PROGRAM": "from parts import more\n"},
    "asked for by name": {"PROGRAM": "import importlib\nimportlib.import_module('parts.other')\n"},
    "asked for beside its package": {
        "parts/__init__.py": "import importlib\nimportlib.import_module(__name__ + '.other')\n",
        "PROGRAM": "import parts\n",
    },
    "asked for by a made name": {
        "parts/__init__.py": "from importlib import import_module\nimport_module(f'{__name__}.other')\n",
        "PROGRAM": "import parts\n",
    },
    "asked for relative to a package": {"PROGRAM": "import importlib\nimportlib.import_module('.other', 'parts')\n"},
    "asked for by an older function": {"PROGRAM": "__import__('parts.other')\n"},
    "in a list of names": {
        "parts/__init__.py": (
            "import importlib\nfor each in ('other',):\n    importlib.import_module(f'parts.{each}')\n"
        ),
        "PROGRAM": "import parts\n",
    },
    "all of a package": {
        "parts/__init__.py": (
            "import importlib\nimport pkgutil\nfor each in pkgutil.iter_modules(__path__):\n"
            "    importlib.import_module(f'{__name__}.{each.name}')\n"
        ),
        "PROGRAM": "import parts\n",
    },
    "all of a folder": {
        "parts/__init__.py": (
            "import importlib\nimport pathlib\nfor each in pathlib.Path(__file__).parent.glob('*.py'):\n"
            "    importlib.import_module(f'{__name__}.{each.stem}')\n"
        ),
        "PROGRAM": "import parts\n",
    },
    "named in a file": {
        "plugins.txt": "parts.other\n",
        "PROGRAM": "import importlib\nfor each in open('plugins.txt'):\n    importlib.import_module(each.strip())\n",
    },
    "imported by a command": {"run.sh": 'exec python -c "import parts.other, case; case.main()"\n'},
    "imported by a rule of make": {"Makefile": "train:\n\tpython -c 'from parts import other; import case'\n"},
    "run": {"PROGRAM": "import runpy\nrunpy.run_path('parts/other.py')\n"},
    "run as a text": {"PROGRAM": "exec(open('parts/other.py').read())\n"},
    "imported by what runs the program": {"main.py": "import parts.other\nimport case\n"},
    "imported by what runs the program by name": {
        "main.py": "import runpy\nimport parts.other\nrunpy.run_path('case.py', run_name='__main__')\n"
    },
}
"""How a file comes to run with a program: more files, and what the program begins with."""


@pytest.mark.parametrize("way", sorted(COMING))
def test_nothing_is_certain_of_what_is_replaced_in_a_file_that_runs_too(way: str) -> None:
    def law(case: Case) -> None:
        (path, data) = next(iter(case.files.items()))
        replaced = "\n\n".join(
            _written("an attribute", number, *name) for number, name in enumerate(used(data.decode()))
        )
        more = {
            each: text.replace("case", path[:-3]).encode() for each, text in COMING[way].items() if each != "PROGRAM"
        }
        start = COMING[way].get("PROGRAM", "").encode()
        files = {"parts/__init__.py": b"", "parts/other.py": replaced.encode(), **more, path: start + data}
        _is_unsure(case, files)

    hold(law, {case.rule.code: case for case in _examples()})


def _is_unsure(case: Case, files: dict[str, bytes]) -> None:
    for each in case.run(files, fix=False).findings:
        if each.code == case.rule.code:
            assert each.fix is None or each.safety is not Safety.SAFE, each.message
            assert each.certainty is Certainty.POSSIBLE or each.consequence < Consequence.RAISES, each.message


def _written(way: str, number: int, owner: str, name: str) -> str:
    text = (HEAD + WAYS[way]).replace("OWNER", owner).replace("NAME", name)
    return text.replace("ITS", f"module{number}").replace("OWN", f"own{number}") + "\n"


@cache
def _examples() -> tuple[Case, ...]:
    """One program of each rule that finds something in a single file which uses a library."""
    found = {case.rule.code: case for case in few() if len(case.files) == 1 and _uses_a_library(case)}
    return tuple(found.values())


def _uses_a_library(case: Case) -> bool:
    (path, data) = next(iter(case.files.items()))
    if not path.endswith(".py") or not used(data.decode()):
        return False
    return any(each.code == case.rule.code for each in case.run(fix=False).findings)


def used(text: str) -> list[tuple[str, str]]:
    """The names of libraries that a program uses: the module, and the name in it."""
    program, bound = ast.parse(text), dict[str, str]()
    for node in ast.walk(program):
        if isinstance(node, ast.Import):
            heads = ((each.asname, each.name) if each.asname else (_head(each.name),) * 2 for each in node.names)
            bound.update({name: whole for name, whole in heads if name})
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            bound.update({each.asname or each.name: f"{node.module}.{each.name}" for each in node.names})
    bound = {name: whole for name, whole in bound.items() if _head(whole) in LIBRARIES}
    found = {whole for whole in bound.values() if "." in whole}
    for node in ast.walk(program):
        head, _, rest = ast.unparse(node).partition(".") if isinstance(node, ast.Attribute) else ("", "", "")
        if head in bound and rest.replace(".", "").isidentifier():
            found.add(f"{bound[head]}.{rest}")
    longest = (name for name in found if not any(each.startswith(f"{name}.") for each in found))
    return sorted((owner, name) for owner, _, name in (each.rpartition(".") for each in longest))


def _head(name: str) -> str:
    return name.partition(".")[0]
