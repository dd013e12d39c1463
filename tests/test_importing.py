"""`Index.importing`: whoever imports a file is among those that are named."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memory import Memory

from codemods.frameworks.checkpointing.project_traits import _imported
from codemods.project.importing import module_of
from codemods.project.index import Index
from codemods.syntax.facts import Facts, gather

PATHS = ("a.py", "p/__init__.py", "p/a.py", "p/q/__init__.py", "p/q/a.py", "p/q/b.py", "src/b.py", "src/p2/a.py")
MODULES = ("a", "b", "p", "p.a", "p.q", "p.q.a", "p2.a", ".", ".a", "..", "..a", ".q", ".q.b", "...a", "q", "torch.a")
TAKEN = ("a", "b", "q", "p2", "name")


@st.composite
def statements(draw: st.DrawFn) -> str:
    module, names = draw(st.sampled_from(MODULES)), ", ".join(draw(st.lists(st.sampled_from(TAKEN), min_size=1)))
    if module.strip(".") and draw(st.booleans()) and not module.startswith("."):
        return f"import {module}{draw(st.sampled_from(('', ' as a', ', torch')))}"
    return f"from {module} import {draw(st.sampled_from((names, f'({names},)', '*')))}"


TREES = st.dictionaries(
    st.sampled_from(PATHS), st.lists(statements(), max_size=3).map(lambda lines: "\n".join([*lines, ""])), min_size=2
)


def missing(index: Index, paths: object) -> list[tuple[str, str]]:
    """The pairs of a file and one that it imports in which the second does not name the first."""
    assert isinstance(paths, dict)
    return [
        (importer, imported)
        for importer in paths
        for imported in _imported(index, importer)
        if importer not in index.importing(imported)
    ]


@pytest.mark.law
@given(TREES)
def test_nobody_who_imports_a_file_is_missing(tree: dict[str, str]) -> None:
    index = Index(Memory(tree))
    assert missing(index, tree) == []


@pytest.mark.law
@given(TREES, st.lists(st.tuples(st.sampled_from(PATHS), statements()), max_size=3))
def test_nor_after_edits(tree: dict[str, str], edits: list[tuple[str, str]]) -> None:
    index = Index(Memory(tree))
    for path, statement in edits:
        missing(index, tree)
        if path in tree:
            tree = {**tree, path: f"{statement}\n"}
            facts = gather(path, tree[path])
            assert isinstance(facts, Facts)
            index = index.derive({path: (tree[path], facts)})
            fresh = Index(Memory(tree))
            assert {each: index.importing(each) for each in tree} == {each: fresh.importing(each) for each in tree}
    assert missing(index, tree) == []


def test_nearly_nobody_else_is_named() -> None:
    others = {f"other/n{number}.py": "from other.utils import x\nfrom . import utils\n" for number in range(5)}
    tree = {"p/utils.py": "", "p/user.py": "from .utils import x\n", "far.py": "import p.utils\n", **others}
    assert Index(Memory(tree)).importing("p/utils.py") == ("far.py", "p/user.py")


def test_a_file_that_is_not_listed_may_be_imported() -> None:
    tree = {"user.py": "import hidden\n", "else.py": "import seen\n"}
    assert Index(Memory(tree)).importing("hidden.py") == ("user.py",)


@pytest.mark.parametrize(
    ("path", "module"), [("a/b.py", "a/b"), ("a/__init__.py", "a"), ("__init__.py", ""), ("b.pyw", "b")]
)
def test_module_of(path: str, module: str) -> None:
    assert module_of(path) == module
