"""What a program does to a library before it runs a file, where that file does not say so: no fix is safe then."""

from __future__ import annotations

import ast

import pytest
from cases import Case, cases, hold

from codemods.model.edits import Safety

_LIBRARIES = ("torch", "lightning", "pytorch_lightning", "accelerate", "transformers", "peft", "trl")


def _called(text: str) -> list[str]:
    """The dotted names of what a program calls of a library."""
    tree, imported = ast.parse(text), {}
    for node in ast.walk(tree):
        match node:
            case ast.Import():
                imported |= {
                    each.asname or each.name.partition(".")[0]: each.name if each.asname else "" for each in node.names
                }
            case ast.ImportFrom(module=str(module), level=0):
                imported |= {each.asname or each.name: f"{module}.{each.name}" for each in node.names}
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            head, _, rest = ast.unparse(node.func).partition(".")
            if head in imported and all(part.isidentifier() for part in rest.split(".") if rest):
                found.append(".".join(part for part in (imported[head] or head, rest) if part))
    return sorted({name for name in found if name.startswith(_LIBRARIES) and "." in name})


def _prelude(case: Case) -> str:
    lines = ["import functools", "import importlib", ""]
    for name in _called(case.path.read_text()):
        owner, _, last = name.rpartition(".")
        lines += [f"import {owner.partition('.')[0]}", f"{owner}.{last} = functools.partial({owner}.{last})"]
    return "\n".join([*lines, ""])


def _computed(case: Case) -> str:
    """The same in a loop over names: which attribute is set, no place says."""
    by_owner: dict[str, list[str]] = {}
    for name in _called(case.path.read_text()):
        by_owner.setdefault(name.rpartition(".")[0], []).append(name.rpartition(".")[2])
    lines = ["import functools", ""]
    for owner, names in by_owner.items():
        lines += [f"import {owner.partition('.')[0]}", f"for name in {sorted(names)}:"]
        lines += [f"    setattr({owner}, name, functools.partial(getattr({owner}, name)))"]
    return "\n".join([*lines, ""])


def _program(case: Case, how: str) -> dict[str, bytes]:
    text, prelude = case.path.read_bytes(), _prelude(case).encode()
    match how:
        case "package":
            return {"pack/case.py": text, "pack/__init__.py": b"from pack import before\n", "pack/before.py": prelude}
        case "package, computed":
            return {"pack/case.py": text, "pack/__init__.py": _computed(case).encode()}
        case "launcher":
            return {"case.py": text, "launch.py": prelude + b"import runpy\n\nrunpy.run_path('case.py')\n"}
        case "importer":
            return {"case.py": text, "main.py": b"import before\nimport case\n", "before.py": prelude}
    return {"case.py": text, "sitecustomize.py": prelude}


@pytest.fixture(scope="module")
def safe() -> dict[str, Case]:
    """The fixtures of one file in which a fix is safe, and something of a library is called."""
    found = (case for case in cases() if case.kind == "before" and case.path.suffix == ".py" and not case.options)
    return {
        f"{each.rule.code} {each.name}": each
        for each in found
        if _called(each.path.read_text()) and _kept(each, each.files)
    }


def _kept(case: Case, files: dict[str, bytes]) -> list[str]:
    found = case.run(files, fix=False).findings
    return [f"{f.path}:{f.place.line} {f.message}" for f in found if f.fix is not None and f.safety is Safety.SAFE]


@pytest.mark.law
@pytest.mark.parametrize("how", ["package", "package, computed", "launcher", "importer", "sitecustomize"])
def test_a_library_that_is_replaced_first_makes_nothing_safe(how: str, safe: dict[str, Case]) -> None:
    def law(case: Case) -> None:
        assert _kept(case, _program(case, how)) == []

    hold(law, safe)
