"""Who may import whom. The design, as a test."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for package in ("codemods", "fixer")
    for path in sorted((ROOT / package).rglob("*.py"))
}
CORE = (
    "model",
    "syntax",
    "sources",
    "project",
    "flow",
    "rules",
    "analysis",
    "frameworks",
    "engine",
    "transforms",
    "verify",
)
WORLD = ("errors", "git", "project", "run", "output", "verify", "diagnose", "bulk", "report", "api", "lsp", "cli")
ROOMS = [
    "codemods",
    *(f"codemods.{room}" for room in CORE),
    "fixer",
    *(f"fixer.{room}" for room in (*WORLD, "__main__")),
]
"""Each imports itself and those before it, and nothing else."""
PULL_REQUEST = "what a pull request says is a rendering of its plan"
INTERFACE = "the package offers the Python interface under its own name"
UPWARD = {
    ("fixer", "fixer.api"): INTERFACE,
    ("fixer", "fixer.errors"): INTERFACE,
    ("fixer.git.message", "fixer.report.tally"): "a commit's message counts as the reports do",
    ("fixer.git.repository", "fixer.project.worktree"): "most blobs of a commit lie as files in the work tree",
    ("fixer.output.pull_requests", "fixer.report.markdown"): PULL_REQUEST,
    ("fixer.output.saved", "fixer.report.diff"): "a saved plan holds the lines that differ, as its patch does",
    ("fixer.bulk.process_repository", "fixer.report.markdown"): PULL_REQUEST,
    ("fixer.bulk.process_repository", "fixer.report.patch"): "a campaign keeps the patch of each branch",
    ("fixer.bulk.process_repository", "fixer.report.tally"): PULL_REQUEST,
    ("fixer.bulk.process_repository", "fixer.report.verification"): PULL_REQUEST,
}
"""Imports of a later room, each with its reason."""
IN_CHILDREN = {
    "codemods.verify.architectures.child",
    "codemods.verify.child",
    "codemods.verify.observe",
    "codemods.verify.flow_case",
    "codemods.verify.flow_child",
    "codemods.verify.flow_runs",
    "codemods.verify.flow_watch",
    "codemods.verify.graph_cut",
    "codemods.verify.probe_flow",
}
"""Run in child processes only: the modules that may import torch."""
PURE = sorted(m for m in MODULES if m.startswith("codemods") and not m.startswith("codemods.verify"))
WORLDLY = {"os", "io", "pathlib", "subprocess", "shutil", "time", "datetime", "socket", "tempfile"} | {
    "git",
    "rich",
    "typer",
}


@cache
def parsed(module: str) -> ast.Module:
    return ast.parse(MODULES[module].read_bytes())


@cache
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
    for statement in statements(parsed(module).body):
        if isinstance(statement, ast.Import):
            found |= {alias.name for alias in statement.names}
        elif isinstance(statement, ast.ImportFrom) and statement.module:
            for alias in statement.names:
                whole = f"{statement.module}.{alias.name}"
                found.add(whole if whole in MODULES else statement.module)
    return found


def room(module: str) -> int:
    """The place in the list of the room that a module lies in."""
    return ROOMS.index(".".join(module.split(".")[:2]))


def test_every_package_is_a_room() -> None:
    inside = {".".join(module.split(".")[:2]) for module in MODULES}
    assert inside == set(ROOMS)


def test_rooms_import_only_those_before_them() -> None:
    """Every import counts: at the top of a module, in a function, and for type checkers."""
    upward = set()
    for module in MODULES:
        for node in ast.walk(parsed(module)):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                assert node.module and not node.level, f"{module} has a relative import"
                whole = [f"{node.module}.{alias.name}" for alias in node.names]
                names = [name if name in MODULES else node.module for name in whole]
            upward |= {(module, name) for name in names if name in MODULES and room(name) > room(module)}
    assert upward == set(UPWARD)


def test_transforms_holds_rules_only() -> None:
    for module, path in MODULES.items():
        if module.startswith("codemods.transforms.") and path.name != "__init__.py":
            assert "\nrule = Rule(" in path.read_text(encoding="utf-8"), module


def test_no_public_class_name_twice() -> None:
    homes: dict[str, list[str]] = {}
    for module in MODULES:
        for node in ast.walk(parsed(module)):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(module)
    assert {name: modules for name, modules in homes.items() if len(modules) > 1} == {}


def test_the_core_is_pure() -> None:
    for module in PURE:
        used = {name.partition(".")[0] for name in imports(module)}
        reads_tokens = module in ("codemods.syntax.comments", "codemods.syntax.suppress", "codemods.sources.python")
        assert not used & (WORLDLY - {"io" if reads_tokens else ""} | {"fixer", "torch", "lightning"}), module


def test_only_children_import_torch() -> None:
    packages = {"torch", "lightning", "transformers", "accelerate", "peft"}
    users = {m for m in MODULES if {n.partition(".")[0] for n in imports(m)} & packages}
    assert users <= IN_CHILDREN


def test_a_wheel_needs_nothing_that_is_left_out_of_it() -> None:
    """What maintainers run in a checkout; `exclude` in pyproject.toml."""
    left_out = ("codemods.verify.architectures", "codemods.verify.matrix")
    for module in MODULES:
        if not module.startswith(left_out):
            assert not [name for name in imports(module) if name.startswith(left_out)], module


def test_slow_corners_of_libcst_are_not_used() -> None:
    for module in MODULES:
        assert not imports(module) & {"libcst.matchers", "libcst.codemod", "libcst.metadata"}, module


def test_libcst_writes_and_its_internals_are_known_to_one_file() -> None:
    users = {m for m in MODULES if any(name.partition(".")[0] == "libcst" for name in imports(m))}
    writing = ("rewrite", "rewriting", "tree", "unsupported_syntax", "unused_imports")
    assert users == {f"codemods.syntax.{name}" for name in writing}
    assert {m for m in users if any(name.startswith("libcst._") for name in imports(m))} == {"codemods.syntax.tree"}


def test_the_world_never_sees_trees() -> None:
    for module in MODULES:
        if module.startswith("fixer"):
            assert not any(name.startswith("libcst") for name in imports(module)), module


def test_rules_see_only_what_is_theirs() -> None:
    """Not the engine, imports, suppression, the plan, or each other's families; nor does what they share."""
    closed = {"codemods.syntax.imports", "codemods.syntax.suppress", "codemods.model.plan"}
    for module in MODULES:
        if module.startswith(("codemods.transforms.", "codemods.frameworks.")):
            assert not imports(module) & closed, module
        if module.startswith("codemods.transforms."):
            family = ".".join(module.split(".")[:3])
            for name in imports(module):
                assert not name.startswith("codemods.engine"), f"{module} imports {name}"
                outside = name.startswith("codemods.transforms") and not name.startswith(family)
                assert not outside, f"{module} imports {name} of another family"


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


def test_a_run_that_finds_nothing_imports_little(tmp_path: Path) -> None:
    """The second run: the first one has put what can be told of the rules into the cache."""
    (tmp_path / "a.py").write_text("print(1)\n")
    never = {"libcst", "rich", "yaml", "git", "codemods.rules.rule", "codemods.syntax.facts"}
    _imported(["check", "."], tmp_path)
    assert not _imported(["check", "."], tmp_path) & never
    assert not _imported(["apply", "."], tmp_path) & never


def _imported(arguments: list[str], place: Path) -> set[str]:
    """The modules that a command has loaded when it ends."""
    program = f"import sys; sys.argv = ['fixer', *{arguments!r}]\nfrom fixer.cli import main\n"
    program += "try:\n    main()\nfinally:\n    print(*sorted(sys.modules), file=open('modules', 'w'))\n"
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(place)}
    subprocess.run([sys.executable, "-c", program], cwd=place, env=environment, check=False, capture_output=True)
    return set((place / "modules").read_text().split())


@pytest.mark.parametrize(
    ("arguments", "never"),
    [
        (["--help"], {"torch", "libcst", "git", "numpy"}),
        (["--version"], {"torch", "libcst", "git", "numpy"}),
        (["check", "."], {"torch", "numpy", "libcst.matchers", "libcst.codemod"}),
        (["apply", "."], {"torch", "numpy", "git", "libcst.matchers", "libcst.codemod"}),
        (["apply", "--dry-run", "."], {"torch", "numpy", "libcst.matchers", "libcst.codemod"}),
        (["diagnose", "train.py"], {"torch", "numpy", "git", "libcst"}),
    ],
)
def test_commands_import_only_what_they_need(arguments: list[str], never: set[str], tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("from torch.cuda.amp import autocast\nwith autocast():\n    pass\n")
    assert not _imported(arguments, tmp_path) & {*never, "fixer.lsp", "pygls", "lsprotocol"}
