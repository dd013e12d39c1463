"""A tree that stays warm finds what a new one finds, whatever was edited, written or closed in between."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_documents import notebook
from test_remembered import edit, edited, law, projects
from world import repository, write

from codemods.model.plan import Plan
from codemods.project.index import Index
from codemods.sources.files import is_source
from fixer.errors import Refusal
from fixer.run.warm import WarmTree

OLD = "import torch\n\n\ndef f(m, x):\n    with torch.cuda.amp.autocast():\n        return m(x)\n"
WHERE = ("unsaved", "written", "closed")


def _differs(number: int, edits: list[tuple[tuple[int, str, int, int], str]]) -> bool:
    """Whether the plans of a warm tree and of new ones differ somewhere on the way."""
    case = projects()[number % len(projects())]
    with tempfile.TemporaryDirectory() as place:
        root = write(Path(place).resolve(), case.files)
        paths = sorted(filter(is_source, case.files))
        warm, texts = WarmTree(root), dict[str, bytes]()
        for (which, kind, line, other), where in [((0, "back", 0, 0), "closed"), *edits]:
            path = paths[which % len(paths)]
            now = texts.get(path, (root / path).read_bytes() if (root / path).exists() else case.files[path])
            new = case.files[path] if kind == "back" else _edited(now, kind, line, other)
            if where == "unsaved":
                texts[path] = new
                _plan(warm, paths[:1], texts)
            elif where == "closed":
                texts.pop(path, None)
            elif kind == "gone":
                (root / path).unlink(missing_ok=True)
            else:
                (root / path).write_bytes(new)
            warm.refresh()
            if _plan(warm, paths, texts) != _plan(WarmTree(root), paths, texts):
                return True
    return False


def _plan(tree: WarmTree, paths: Sequence[str], texts: Mapping[str, bytes]) -> Plan | str:
    try:
        return tree.plan(paths, texts).plan
    except Refusal as refusal:
        return str(refusal)


def _edited(data: bytes, kind: str, line: int, other: int) -> bytes:
    return edited(data.decode("utf-8", "surrogateescape"), kind, line, other).encode("utf-8", "surrogateescape")


@pytest.mark.law
@given(st.integers(0, 9_999), st.lists(st.tuples(edit, st.sampled_from(WHERE)), min_size=1, max_size=5))
@law(120)
def test_warm_equals_new(number: int, edits: list[tuple[tuple[int, str, int, int], str]]) -> None:
    assert not _differs(number, edits)


TORCH = ("torch==2.6.0\n", "torch==2.0.1\n")


@pytest.mark.parametrize(
    ("path", "before", "after", "found"),
    [
        ("train.py", "x = 1\n", OLD, ["AMP002"]),
        ("train.py", OLD, "def (\n", []),
        ("requirements.txt", *TORCH, []),
        ("train.ipynb", notebook("x = 1"), notebook(OLD), ["AMP002", "AMP002"]),
        ("train.ipynb", notebook(OLD), notebook("%%writefile a.py\n" + OLD, "x = 1"), ["AMP002", "AMP002"]),
        ("train.ipynb", notebook(OLD), b"{", ["AMP002"]),
    ],
)
def test_what_a_change_leads_to(
    path: str, before: str | bytes, after: str | bytes, found: list[str], tmp_path: Path
) -> None:
    root = repository(tmp_path / "p", {"train.py": OLD, "requirements.txt": "", path: before})
    warm = WarmTree(root)
    paths = sorted({"train.py", path})
    first = warm.plan(paths, {})
    text = after.encode() if isinstance(after, str) else after
    assert [finding.code for finding in warm.plan(paths, {path: text}).plan.findings] == found
    assert warm.plan(paths, {}).plan == first.plan
    write(root, {path: after})
    warm.refresh()
    assert [finding.code for finding in warm.plan(paths, {}).plan.findings] == found


def test_mutant_an_index_that_keeps_old_facts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Index, "derive", lambda self, changed: self)
    edits = [((0, "delete", line, 0), "unsaved") for line in range(8)]
    assert any(_differs(number, edits) for number in range(12))
