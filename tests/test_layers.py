"""Who may import whom. The design, as a test."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for package in ("codemods", "fixer")
    for path in sorted((ROOT / package).rglob("*.py"))
}
IN_CHILDREN = {
    f"codemods.verify.{name}"
    for name in ("architectures_child", "child", "observe", "flow_case", "flow_child", "flow_runs", "flow_watch")
}
"""Run in child processes only: the modules that may import torch."""
PURE = sorted(m for m in MODULES if m.startswith("codemods") and not m.startswith("codemods.verify"))
WORLDLY = {"os", "io", "pathlib", "subprocess", "shutil", "time", "datetime", "socket", "tempfile"} | {
    "git",
    "rich",
    "typer",
}


def imports(module: str, *, top_level: bool = False) -> set[str]:
    """What a module imports, as dotted names of this project's modules or of packages."""

    def statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
        for statement in body:
            yield statement
            checking = isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.dump(statement.test)
            lazy = isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef))
            if not checking and not (top_level and lazy):
                for name in ("body", "orelse", "handlers", "finalbody"):
                    for inner in getattr(statement, name, []):
                        yield from statements([inner] if isinstance(inner, ast.stmt) else inner.body)

    found = set()
    for statement in statements(ast.parse(MODULES[module].read_bytes()).body):
        if isinstance(statement, ast.Import):
            found |= {alias.name for alias in statement.names}
        elif isinstance(statement, ast.ImportFrom) and statement.module:
            for alias in statement.names:
                whole = f"{statement.module}.{alias.name}"
                found.add(whole if whole in MODULES else statement.module)
    return found


def test_the_core_is_pure() -> None:
    for module in PURE:
        used = {name.partition(".")[0] for name in imports(module)}
        reads_tokens = module in ("codemods.syntax.comments", "codemods.syntax.suppress", "codemods.sources.python")
        assert not used & (WORLDLY - {"io" if reads_tokens else ""} | {"fixer", "torch", "lightning"}), module


def test_the_core_never_imports_the_world() -> None:
    for module in MODULES:
        if module.startswith("codemods"):
            assert not any(name.startswith("fixer") for name in imports(module)), module


def test_only_children_import_torch() -> None:
    packages = {"torch", "lightning", "transformers", "accelerate", "peft"}
    users = {m for m in MODULES if {n.partition(".")[0] for n in imports(m)} & packages}
    assert users <= IN_CHILDREN


def test_slow_corners_of_libcst_are_not_used() -> None:
    for module in MODULES:
        assert not imports(module) & {"libcst.matchers", "libcst.codemod", "libcst.metadata"}, module


def test_libcst_internals_are_known_to_two_files() -> None:
    users = {m for m in MODULES if any(name.startswith("libcst._") for name in imports(m))}
    assert users == {"codemods.syntax.tree", "codemods.syntax.lazy_parse"}


def test_outputs_never_see_trees() -> None:
    for module in MODULES:
        if module.startswith(("fixer.report", "fixer.git", "fixer.output.files")):
            assert not any(name.startswith("libcst") for name in imports(module)), module


def test_rules_see_only_what_is_theirs() -> None:
    """Not the engine, the plan, or each other's families."""
    closed = {"codemods.syntax.imports", "codemods.syntax.suppress", "codemods.model.plan"}
    for module in MODULES:
        if module.startswith("codemods.transforms."):
            family = ".".join(module.split(".")[:3])
            for name in imports(module):
                assert name not in closed and not name.startswith("codemods.engine"), f"{module} imports {name}"
                outside = name.startswith("codemods.transforms") and not name.startswith(family)
                assert not outside, f"{module} imports {name} of another family"


def test_the_engine_knows_no_rule() -> None:
    for module in PURE:
        if not module.startswith("codemods.transforms"):
            assert not any(name.startswith("codemods.transforms") for name in imports(module)), module


def test_no_cycles() -> None:
    graph = {m: {n for n in imports(m, top_level=True) if n in MODULES and n != m} for m in MODULES}
    done: set[str] = set()

    def visit(module: str, trail: tuple[str, ...]) -> None:
        assert module not in trail, " → ".join((*trail, module))
        if module not in done:
            for other in sorted(graph[module]):
                visit(other, (*trail, module))
            done.add(module)

    for module in graph:
        visit(module, ())


def test_no_vague_rooms() -> None:
    vague = {"utils", "util", "helpers", "common", "base", "misc", "mixins"}
    assert not {m.rpartition(".")[2] for m in MODULES} & vague


@pytest.mark.parametrize(
    ("arguments", "never"),
    [
        (["--help"], {"torch", "libcst", "git", "numpy"}),
        (["--version"], {"torch", "libcst", "git", "numpy"}),
        (["check", "."], {"torch", "numpy", "libcst.matchers", "libcst.codemod"}),
        (["apply", "."], {"torch", "numpy", "git", "libcst.matchers", "libcst.codemod"}),
        (["apply", "--dry-run", "."], {"torch", "numpy", "libcst.matchers", "libcst.codemod"}),
    ],
)
def test_commands_import_only_what_they_need(arguments: list[str], never: set[str], tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("from torch.cuda.amp import autocast\nwith autocast():\n    pass\n")
    program = f"import sys; sys.argv = ['fixer', *{arguments!r}]\nfrom fixer.cli import main\n"
    program += "try:\n    main()\nfinally:\n    print(*sorted(sys.modules), file=open('modules', 'w'))\n"
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=environment, check=False, capture_output=True)
    assert not set((tmp_path / "modules").read_text().split()) & never
