"""Frames of a log in the shapes of many tools, and the files of a repository that they mean."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fixer.diagnose.places import Places
from fixer.diagnose.shapes import shaped
from fixer.diagnose.tracebacks import TraceFrame, Traces

FRAMES = [
    ('  File "/x/train.py", line 42, in main', [("/x/train.py", 42, "main")]),
    ('  File \\"/x/train.py\\", line 42, in main\\nTraceback', [("/x/train.py", 42, "main")]),
    ('  File "C:\\Users\\ada\\train.py", line 42, in <module>', [("C:\\Users\\ada\\train.py", 42, "<module>")]),
    ("File ~/x/train.py:42, in main(args)", [("~/x/train.py", 42, "main")]),
    ("File [c:\\x\\train.py:42](file:///c:/x/train.py:42), in main()", [("c:\\x\\train.py", 42, "main")]),
    ("Cell In[5], line 164, in train(x)", [("Cell In[5]", 164, "train")]),
    ("Cell In[5], line 164", [("Cell In[5]", 164, "")]),
    ("Input In [5], in <cell line: 3>()\n      2 x\n----> 3 loss.backward()", [("Input In [5]", 3, "<cell line: 3>")]),
    (
        "[/usr/local/lib/train.py](https://localhost:8080/#) in main(self)\n    41 x\n--> 42 y",
        [("/usr/local/lib/train.py", 42, "main")],
    ),
    ("<ipython-input-7-abc> in <module>\n----> 1 f()", [("<ipython-input-7-abc>", 1, "<module>")]),
    ("│ /home/ada/train.py:42 in main        │", [("/home/ada/train.py", 42, "main")]),
    ("│ /home/ada/very/long/tra │\n│ in.py:42 in main │", [("/home/ada/very/long/train.py", 42, "main")]),
    ("│ /home/ada/train.py:42 in │\n│ main      │", [("/home/ada/train.py", 42, "main")]),
    ("train.py:42: in main", [("train.py", 42, "main")]),
    (
        'Traceback (most recent call last): File "a.py", line 1, in f x() File "b.py", line 2, in g',
        [("a.py", 1, "f"), ("b.py", 2, "g")],
    ),
    ("nothing.py at all, line 3", []),
]


@pytest.mark.parametrize(("text", "frames"), FRAMES)
def test_frames_are_read_in_every_shape(text: str, frames: list[tuple[str, int, str]]) -> None:
    traces = Traces()
    log = f"Traceback (most recent call last)\n{text}\nValueError: x"
    raised = [
        each
        for number, line in enumerate(log.split("\n"), start=1)
        for part in shaped(number, line)
        for each in traces.feed(part)
    ]
    assert [(frame.path, frame.line, frame.function) for frame in raised[-1].frames] == frames


def test_a_deep_recursion_keeps_its_ends() -> None:
    traces = Traces()
    lines = [f'  File "a.py", line {number}, in f' for number in range(1, 1_000)]
    (raised,) = [
        each
        for number, line in enumerate([*lines, "RecursionError: maximum recursion depth exceeded"])
        for part in shaped(number, line)
        for each in traces.feed(part)
    ]
    assert len(raised.frames) == 200
    assert [raised.frames[0].line, raised.frames[-1].line] == [1, 999]


PATHS = [
    ("src/train.py", "src/train.py"),
    ("/root/project/src/train.py", "src/train.py"),
    ("/home/ada/elsewhere/src/train.py", "src/train.py"),
    ("/tmp/ray/session/src/models/net.py", "src/models/net.py"),
    ("C:\\ada\\src\\models\\net.py", "src/models/net.py"),
    ("~/x/other/net.py", "other/net.py"),
    ("net.py", None),
    ("/x/net.py", None),
    ("/x/site-packages/src/train.py", None),
    ("/usr/lib/python3.11/train.py", None),
    ("<frozen runpy>", None),
    ("/x/__init__.py", None),
    ("/x/src/__init__.py", "src/__init__.py"),
    ("missing.py", None),
]


@pytest.mark.parametrize(("name", "path"), PATHS)
def test_paths_of_other_machines_are_found_by_their_end(name: str, path: str | None) -> None:
    paths = ["src/train.py", "src/models/net.py", "other/net.py", "src/__init__.py", "train.yaml"]
    assert Places(Path("/root/project"), paths, lambda _: b"").path_of(name) == path


def test_a_cell_is_found_by_its_execution_count() -> None:
    def notebook(*cells: tuple[int | None, str]) -> bytes:
        made = [
            {"cell_type": "code", "execution_count": count, "source": source.splitlines(True)}
            for count, source in cells
        ]
        return json.dumps({"cells": [{"cell_type": "markdown", "source": "x"}, *made]}).encode()

    files = {
        "a.ipynb": notebook((4, "x = 1\n"), (5, "a()\nloss.backward()\n"), (None, "y")),
        "b.ipynb": notebook((5, "c()\nd()\n")),
        "c.ipynb": b"{broken",
    }
    places = Places(Path("/p"), files, files.get)
    (found,) = places.of([TraceFrame("Cell In[5]", 2, "", "loss.backward()")])
    assert (found.path, found.line, found.location) == ("a.ipynb", 2, "a.ipynb:cell 3:2")
    assert places.of([TraceFrame("Cell In[5]", 2), TraceFrame("Cell In[9]", 1), TraceFrame("Cell In[4]", 7)]) == ()


def test_a_line_that_has_changed_is_said_to_have() -> None:
    places = Places(Path("/p"), ["a.py"], {"a.py": b"x = 1\nloss.backward()\n"}.get)
    frames = [
        TraceFrame("a.py", 2, "f", "loss.backward()"),
        TraceFrame("a.py", 2, "f", "loss.back…"),
        TraceFrame("a.py", 2, "f", "y = 2"),
        TraceFrame("a.py", 9, "f"),
        TraceFrame("a.py", 2, "f"),
    ]
    assert [place.moved for place in places.of(frames)] == [False, False, True, True, False]
