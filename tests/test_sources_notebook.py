"""Notebooks as Python text, and the way back to their bytes."""

from __future__ import annotations

import ast
import codecs
import json
import re
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memory import Memory

from codemods.engine.rounds import Options, plan
from codemods.model.edits import Skip, SkipReason
from codemods.sources import notebook
from codemods.sources.notebook import NotebookSource
from codemods.transforms import load


def raw(*sources: str | list[str], metadata: dict[str, Any] | None = None, **style: Any) -> bytes:
    """A notebook whose code cells have these sources."""
    cells = [
        {"cell_type": "code", "execution_count": 1, "metadata": {}, "outputs": [], "source": source}
        for source in sources
    ]
    whole = {"cells": cells, "metadata": metadata or {}, "nbformat": 4, "nbformat_minor": 5}
    return (json.dumps(whole, **{"indent": 1, "ensure_ascii": False, **style}) + "\n").encode()


def decoded(data: bytes, unit: str = "n.ipynb") -> NotebookSource:
    source = notebook.decode(unit, data)
    assert isinstance(source, NotebookSource)
    return source


def sources(data: bytes) -> list[str]:
    return [source for _, source in notebook.cells(data)]


def listed(source: str) -> list[str]:
    """As Jupyter writes a source."""
    return re.findall(r"[^\n]*\n|[^\n]+", source)


# -- what is Python, and what is masked


@pytest.mark.parametrize(
    ("source", "text"),
    [
        pytest.param("x = 1\ny = x % 2", "x = 1\ny = x % 2", id="Python"),
        pytest.param("!pip install torch", "_1________________", id="shell"),
        pytest.param("!!ls", "_1__", id="shell that returns"),
        pytest.param("%matplotlib inline\nx = 1", "_1________________\nx = 1", id="line magic"),
        pytest.param("%%html_of_nothing later", None, id="unknown cell magic"),
        pytest.param("x = 1\n%%time\ny = 2", "x = 1\n_1____\ny = 2", id="cell magic that is not the first line"),
        pytest.param("?print", "_1____", id="help before"),
        pytest.param("??print", "_1_____", id="source before"),
        pytest.param("print?", "_1____", id="help after"),
        pytest.param("torch.nn.Linear??", "_1_______________", id="source after"),
        pytest.param("%timeit?", "_1______", id="help on a magic"),
        pytest.param("*nn*?", "_1___", id="help with wildcards"),
        pytest.param("x = f?", "_1____", id="help after an assignment"),
        pytest.param("a?\nb?", "_1\n_2", id="as short as can be"),
        pytest.param("!\nq = 1", "a\nq = 1", id="one character"),
        pytest.param("if x:\n    !ls\nelse:\n\t%cd ..", "if x:\n    _1_\nelse:\n\t_1____", id="inside blocks"),
        pytest.param("!a \\\n  -b \\\n\nx", "_1__\n  ####\n\nx", id="goes on over lines"),
        pytest.param("if x:\n    !a \\\n-b\ny", "if x:\n    _1__\n##\ny", id="goes on outside its block"),
        pytest.param("x = !ls -l", "x = _1____", id="what a command prints"),
        pytest.param("a, b = %time f()", "a, b = _1_______", id="what a magic gives"),
        pytest.param("x: int = !ls", "x: int = _1_", id="with an annotation"),
        pytest.param("x=!ls \\\n  -l\ny", "x=_1___\n  ##\ny", id="what is assigned goes on"),
        pytest.param("a.b[c] = !ls", "a.b[c] = _1_", id="to an item"),
        pytest.param("x = (a\n  % b)", "x = (a\n  % b)", id="an operator inside brackets"),
        pytest.param("f(\n!ls\n)", None, id="no shell inside brackets"),
        pytest.param("f(a=!ls)", None, id="no shell as an argument"),
        pytest.param("x = a \\\n% b", "x = a \\\n% b", id="an operator after a backslash"),
        pytest.param("x %= 2\ny = x != 3\nz = x == 1", "x %= 2\ny = x != 3\nz = x == 1", id="operators"),
        pytest.param("s = '''\n!ls\n%time\nx?\n'''", "s = '''\n!ls\n%time\nx?\n'''", id="inside a string"),
        pytest.param('s = """a\\"""\n!ls"""', 's = """a\\"""\n!ls"""', id="inside a string with an escaped quote"),
        pytest.param("s = 'a\\\n!ls'", "s = 'a\\\n!ls'", id="inside a string that goes on"),
        pytest.param("x  # why?\ny = 'why?'", "x  # why?\ny = 'why?'", id="questions"),
        pytest.param("# see \\\n!ls", "# see \\\n_1_", id="a comment does not go on"),
        pytest.param("f'{x!r}'", "f'{x!r}'", id="a conversion"),
        pytest.param("x = y = !ls", None, id="no shell behind two"),
        pytest.param("f(a=1).x = !ls", "f(a=1).x = _1_", id="to an attribute of a call"),
        pytest.param("f(x?", None, id="no help inside brackets"),
        pytest.param("f(\n)?", None, id="no help over lines"),
        pytest.param("x = await f()", "x = await f()", id="await"),
        pytest.param("async for x in y:\n    pass", "async for x in y:\n    pass", id="async for"),
        pytest.param("%%time\nx = 1", "_1____\nx = 1", id="timed"),
        pytest.param("\n# note\n%%capture out\n%%time\n!ls", "\n# note\n_1___________\n_1____\n_1_", id="captured"),
        pytest.param("%%bash\nls", None, id="bash"),
        pytest.param("%%html\n<b>", None, id="HTML"),
        pytest.param("%%javascript\nalert(1)", None, id="JavaScript"),
        pytest.param("%%script python3\nx = 1", None, id="another process"),
        pytest.param("%%writefile a.txt\nx = 1", None, id="a file"),
        pytest.param("%%bash?\nx = 1", "_1_____\nx = 1", id="help on a cell magic"),
        pytest.param("pip install torch", "_1_______________", id="without its sign"),
        pytest.param("time = 3", "time = 3", id="a variable with a magic's name"),
        pytest.param("_1__ = _2__ = 0\n!ls1\n!ls2", "_1__ = _2__ = 0\n_3__\n_4__", id="names that are taken"),
        pytest.param("x =\n!ls", None, id="no Python"),
        pytest.param("  x = 1", None, id="indented"),
        pytest.param("x = 1\x0c", None, id="form feed"),
        pytest.param("x = 1\ry = 2", None, id="carriage return"),
        pytest.param("x = '\ud800'", None, id="half a character"),
        pytest.param("x = 1\r\n!ls\r\ny", "x = 1\r\n_1_\r\ny", id="carriage return and line feed"),
        pytest.param("!a \\\r\n b\r\ny", "_1__\r\n #\r\ny", id="goes on, with carriage returns"),
    ],
)
def test_masks(source: str, text: str | None) -> None:
    data = raw("kept = 0", source, ensure_ascii=True)
    found = decoded(data)
    if text is None:
        assert found.text == "kept = 0"
    else:
        newline = "\r\n" if "\r" in text else "\n"
        assert found.text == f"kept = 0{newline}# %% fixer cell 2{newline}{text}"
        ast.parse(found.text)
    assert found.encode(found.text) == data


@pytest.mark.parametrize(
    ("source", "commands"),
    [
        pytest.param("!pip install torch==2.4.1", ["pip install torch==2.4.1"], id="pip"),
        pytest.param("%pip install -q 'torch>=2' peft", ["pip install -q 'torch>=2' peft"], id="magic"),
        pytest.param("!pip3 install torch>=2.0", ["pip install torch"], id="a redirection, as the shell sees it"),
        pytest.param("!pip install \\\n  a \\\n  b", ["pip install a b"], id="over lines"),
        pytest.param("!{sys.executable} -m pip install a", ["pip install a"], id="of this kernel"),
        pytest.param(
            "!cd x && pip -q install -e . | tail -1; pip install b", ["pip install -e .", "pip install b"], id="two"
        ),
        pytest.param(
            "!conda install -y pytorch=2.4 -c pytorch", ["conda install -y pytorch=2.4 -c pytorch"], id="conda"
        ),
        pytest.param("%mamba install x", ["mamba install x"], id="mamba"),
        pytest.param("!uv pip install a", ["pip install a"], id="uv"),
        pytest.param("if colab:\n    !pip install a", ["pip install a"], id="inside a block"),
        pytest.param("out = !pip install a", ["pip install a"], id="assigned"),
        pytest.param("pip install a", ["pip install a"], id="without its sign"),
        pytest.param("%%bash\nset -e\npip install a\n# pip install b\n", ["pip install a"], id="bash"),
        pytest.param("%%capture\n!pip install a", ["pip install a"], id="captured"),
        pytest.param("%shell pip install a", ["pip install a"], id="Colab"),
        pytest.param("!pip uninstall a\n!pip list\n!echo pip install", [], id="others"),
        pytest.param("# !pip install a\ns = '!pip install b'", [], id="not run"),
        pytest.param("!pip install 'a", [], id="an open quote"),
    ],
)
def test_installs(source: str, commands: list[str]) -> None:
    assert list(decoded(raw(source)).installs) == commands


def test_what_is_not_read_may_use_names() -> None:
    source = decoded(raw("%time step(loss)", "%%px\nremote()", "x = (", "%%bash\nshell", "%%writefile a.py\nb", "y"))
    assert source.unread == {"time", "step", "loss", "px", "remote", "x"}


def test_notes() -> None:
    data = raw("x = 1", "y = (\n\nz z", "\x0c", "%%html\n<b>", "!ls", "%%time\nif:")
    assert decoded(data).notes == (
        "cell 2, line 1: '(' was never closed; the cell was left out",
        "cell 3: it has form feeds or carriage returns of their own; the cell was left out",
        "cell 6, line 2: invalid syntax; the cell was left out",
    )
    assert [part.cell.number for part in decoded(data).parts] == [1, 5]


# -- units


def test_files_that_cells_write_are_programs_of_their_own() -> None:
    data = raw(
        "%%writefile train.py\nimport torch\n!not a magic here",
        "x = 1",
        "%%file src/model.py\nclass A: ...\n",
        "%%writefile -a train.py\nprint(1)",
        "%%writefile 'train.py'\nprint(2)",
        "%%writefile --append train.py\nprint(3)",
        "%%writefile config.yaml\na: 1",
        "%%writefile two.py names.py\nx",
        "%%writefile 'open.py\nx",
        "%%writefile\nx",
        "# written\n%%writefile /content/run.py",
        "%%writefile -a ../new.py\nprint(4)",
    )
    units = notebook.units("a/n.ipynb", data)
    assert units == (
        "a/n.ipynb",
        *(f"a/n.ipynb::{name}" for name in ("train.py", "src/model.py", "train (2).py", "content/run.py", "new.py")),
    )
    assert [decoded(data, unit).text for unit in units] == [
        "x = 1",
        "import torch\n!not a magic here\n# %% fixer cell 4\nprint(1)",
        "class A: ...\n",
        "print(2)\n# %% fixer cell 6\nprint(3)",
        "",
        "print(4)",
    ]
    first = decoded(data, units[1])
    changed = first.encode(first.text.replace("torch\n", "torch as t\n").replace("print", "log"))
    assert sources(changed)[0] == "%%writefile train.py\nimport torch as t\n!not a magic here"
    assert sources(changed)[3] == "%%writefile -a train.py\nlog(1)"
    assert first.position(first.text.index("!not")) == (1, 3, 1)


def test_no_files_of_what_cannot_be_read() -> None:
    assert notebook.units("n.ipynb", b"{") == ("n.ipynb",)
    assert notebook.cells(b"{") == []
    assert decoded(raw("x"), "n.ipynb::gone.py").text == ""


@pytest.mark.parametrize(
    "metadata",
    [
        {"kernelspec": {"name": "julia-1.9", "language": "julia"}},
        {"language_info": {"name": "R"}},
        {"kernelspec": {"language": "python"}, "language_info": {"name": "scala"}},
    ],
)
def test_other_languages_are_nobodys_error(metadata: dict[str, Any]) -> None:
    data = raw("x <- 1", "%%writefile a.py\nx = 1", metadata=metadata)
    assert notebook.units("n.ipynb", data) == ("n.ipynb",)
    source = decoded(data)
    assert (source.text, source.notes, source.encode("")) == ("", (), data)
    with pytest.raises(ValueError, match="no cell"):
        source.encode("import torch\n")


@pytest.mark.parametrize(
    "metadata",
    [
        {},
        {"kernelspec": {"name": "my-env", "language": "python"}, "language_info": {"name": "python"}},
        {"kernelspec": {"name": "my-env"}, "language_info": {"name": ""}},
        {"kernelspec": None, "language_info": []},
        {"language_info": {"name": "ipython"}},
    ],
)
def test_python_unless_told_otherwise(metadata: dict[str, Any]) -> None:
    assert decoded(raw("x = 1", metadata=metadata)).text == "x = 1"


def test_only_code_cells_are_read_and_all_are_counted() -> None:
    whole = json.loads(raw("x = 1", "y = 2"))
    whole["cells"][1:1] = [{"cell_type": ["code"], "source": "!"}, {"cell_type": "code"}, {"source": ""}, "?", []]
    data = json.dumps(whole).encode()
    assert notebook.cells(data) == [(1, "x = 1"), (7, "y = 2")]
    assert decoded(data).text == "x = 1\n# %% fixer cell 7\ny = 2"


def test_an_empty_notebook() -> None:
    source = decoded(raw())
    assert (source.text, source.encode(""), source.position(0), source.file_line(0)) == ("", raw(), (None, 1, 1), 1)


@pytest.mark.parametrize(
    ("data", "reason", "detail"),
    [
        pytest.param(b"", SkipReason.UNPARSABLE, "line 1: Expecting value", id="empty"),
        pytest.param(b'{"cells": [\n1,]}', SkipReason.UNPARSABLE, "line 2: ", id="malformed"),
        pytest.param(
            b'{"cells": [\n"a\nb"]}', SkipReason.UNPARSABLE, "line 2: Invalid control character", id="control"
        ),
        pytest.param(b"[]", SkipReason.UNPARSABLE, "line 1: not a notebook of nbformat 4", id="a list"),
        pytest.param(b'{"nbformat": 4}', SkipReason.UNPARSABLE, "line 1: not a notebook of nbformat 4", id="no cells"),
        pytest.param(b'{"nbformat": 5, "cells": []}', SkipReason.UNPARSABLE, "line 1: not a notebook of", id="newer"),
        pytest.param(b'{"cells": [], "x": ' + b"9" * 5000 + b"}", SkipReason.UNPARSABLE, "Exceeds", id="huge number"),
        pytest.param(b'{"cells": []}\xff', SkipReason.UNDECODABLE, "line 1: not valid utf-8", id="bytes"),
        pytest.param(b'{"cells": ' + b"[" * 200_000 + b"]" * 200_000 + b"}", SkipReason.TOO_DEEP, "nested", id="deep"),
        pytest.param(
            b'{"nbformat": 3, "worksheets": [{"cells": []}]}',
            SkipReason.UNPARSABLE,
            "nbformat 3: open and save it with a current Jupyter, or run jupyter nbconvert --to notebook",
            id="nbformat 3",
        ),
        pytest.param(
            b'{"cells": [{"cell_type": "code",\n"source": "a",\n"source": "b"}]}',
            SkipReason.UNPARSABLE,
            'line 3: "source" is given twice',
            id="two sources",
        ),
        pytest.param(b'{"cells": [],\n"cells": []}', SkipReason.UNPARSABLE, 'line 2: "cells" is', id="two lists"),
        pytest.param(
            b'{"cells": [{"cell_type": "code",\n"source": 3}]}',
            SkipReason.UNPARSABLE,
            "line 2: the source of cell 1 is no string and no list of strings",
            id="a number",
        ),
        pytest.param(
            b'{"cells": [{"cell_type": "code", "source": ["a", 1]}]}', SkipReason.UNPARSABLE, "line 1", id="in it"
        ),
    ],
)
def test_skips(data: bytes, reason: SkipReason, detail: str) -> None:
    skip = notebook.decode("n.ipynb", data)
    assert isinstance(skip, Skip)
    assert (skip.path, skip.reason) == ("n.ipynb", reason)
    assert skip.detail.startswith(detail)
    assert notebook.units("n.ipynb", data) == ("n.ipynb",)


def test_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("codemods.sources.notebook.source.LARGEST", 10)
    skip = notebook.decode("n.ipynb", raw("too large"))
    assert isinstance(skip, Skip)
    assert skip.reason is SkipReason.TOO_LARGE


@given(st.binary(max_size=60) | st.text(alphabet='{}[]":,\\ uncodel_typsrx03', max_size=60).map(str.encode))
def test_never_raises(data: bytes) -> None:
    assert isinstance(notebook.decode("n.ipynb", data), (Skip, NotebookSource))
    notebook.units("n.ipynb", data)
    notebook.cells(data)


# -- places


def test_positions() -> None:
    data = raw(listed("import a\n!ls\n  \nb = 1"), "", "%%time\nc = 2", listed("d\n"))
    source = decoded(data)
    assert source.text.split("\n") == [
        *("import a", "_1_", "  ", "b = 1", "# %% fixer cell 2", "", "# %% fixer cell 3", "_1____", "c = 2"),
        *("# %% fixer cell 4", "d", ""),
    ]
    places = {needle: source.position(source.text.index(needle)) for needle in ("import", "_1_", "b = ", "= 2", "d\n")}
    assert places == {"import": (1, 1, 1), "_1_": (1, 2, 1), "b = ": (1, 4, 1), "= 2": (3, 2, 3), "d\n": (4, 1, 1)}
    assert source.position(source.text.index("\n# %% fixer cell 2")) == (1, 4, 6)
    assert source.position(source.text.index("# %% fixer cell 4") + 3) == (4, 1, 1)
    assert source.position(len(source.text)) == (4, 2, 1)
    lines = data.decode().split("\n")
    for needle, line in (("import", '"import a\\n",'), ("_1_", '"!ls\\n",'), ("b = ", '"b = 1"'), ("d\n", '"d\\n"')):
        assert lines[source.file_line(source.text.index(needle)) - 1].strip() == line
    assert "time" in lines[source.file_line(source.text.index("c = 2")) - 1]
    assert source.file_line(len(source.text)) == source.file_line(source.text.index("d\n"))


# -- the way back


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        pytest.param('["a\\n",\n "b"]', "b", "c", '["a\\n",\n "c"]', id="change"),
        pytest.param('["a\\n",\n "b"]', "b", "b\nc", '["a\\n",\n "b\\n",\n "c"]', id="insert after the last"),
        pytest.param('["a\\n",\n "b"]', "a", "0\na", '["0\\n",\n "a\\n",\n "b"]', id="insert before the first"),
        pytest.param('["a\\n",\n "b"]', "\nb", "", '["a"]', id="delete the last"),
        pytest.param(
            '["a\\n",\n "b"]', "a\n", "a\na\n", '["a\\n",\n "a\\n",\n "b"]', id="insert a line of the same text"
        ),
        pytest.param(
            '["a = \'é\'\\n", "\\u00e9 = 1"]',
            "é =",
            "ü =",
            '["a = \'é\'\\n", "\\u00fc = 1"]',
            id="escaped as the line, not as the file",
        ),
        pytest.param(
            "[\"a = 'é'\\n\", \"b = '\\u00e9'\"]",
            "'é'\n",
            "'ü'\n",
            "[\"a = 'ü'\\n\", \"b = '\\u00e9'\"]",
            id="literal as the line, not as others",
        ),
        pytest.param(
            "[\"a = 'é'\\n\", \"b = '\\u00e9'\"]",
            "\nb",
            "\nü\nb",
            '["a = \'é\'\\n", "ü\\n", "b = \'\\u00e9\'"]',
            id="literal as the file",
        ),
        pytest.param('["a\\n",\n "b"]', "a\n", "", '["b"]', id="delete the first"),
        pytest.param('["a\\n",\n "b\\n"]', "\nb", "", '["a\\n"]', id="delete before a last line end"),
        pytest.param('[ "a\\n" , "b\\n" , "c" ]', "b\n", "", '[ "a\\n" , "c" ]', id="delete between"),
        pytest.param(
            '[ "a\\n" , "b\\n" , "c" ]', "b", "b\nx\ny", '[ "a\\n" , "b\\n" , "x\\n" , "y\\n" , "c" ]', id="two"
        ),
        pytest.param('[\n   "a"\n  ]', "a", "a\nb", '[\n   "a\\n",\n   "b"\n  ]', id="one string"),
        pytest.param('["a"]', "a", "", "[]", id="delete all"),
        pytest.param('["a\\n", "", "b"]', "b", "c", '["a\\n", "", "c"]', id="an empty string stays"),
        pytest.param('["a\\n", "b", ""]', "\nb", "", '["a", ""]', id="an empty string stays at the end"),
        pytest.param('["a\\nb\\n", "c"]', "b", "x", '["a\\nx\\n", "c"]', id="two lines in a string"),
        pytest.param(
            '["a\\nb\\n", "c"]', "a\n", "a\nx\n", '["a\\nx\\nb\\n", "c"]', id="insert between two lines in one"
        ),
        pytest.param(
            '["a\\nb\\n", "c"]', "b\n", "b\nx\n", '["a\\nb\\n", "x\\n", "c"]', id="insert after two lines in one"
        ),
        pytest.param('["a\\nb\\n", "c"]', "b\n", "", '["a\\n", "c"]', id="delete one of two lines in one"),
        pytest.param('["a", " = ", "1\\n", "b"]', "1", "2", '["a", " = ", "2\\n", "b"]', id="a line in three strings"),
        pytest.param('["a", " = ", "1\\n", "b"]', "a = 1", "a", '["a", "\\n", "b"]', id="less of it"),
        pytest.param('["a", " = ", "1\\n", "b"]', "a = 1\n", "", '["b"]', id="without it"),
        pytest.param('"a\\nb"', "b", "b\nc", '"a\\nb\\nc"', id="one string, insert"),
        pytest.param('"a\\nb"', "a\n", "", '"b"', id="one string, delete"),
        pytest.param('"a"', "a", "", '""', id="one string, delete all"),
        pytest.param(
            '["\\u0061(\\u0022\\/\\")\\n", "b"]', "b", "c", '["\\u0061(\\u0022\\/\\")\\n", "c"]', id="escapes stay"
        ),
        pytest.param(
            '["\\u0061(\\u0022\\/\\")"]', ")", ", 1)", '["\\u0061(\\u0022\\/\\", 1)"]', id="escapes of the line stay"
        ),
        pytest.param("[\"a = 'é'\"]", "é", "éü", "[\"a = 'éü'\"]", id="literal as the line"),
        pytest.param("[\"a = '\\u00e9'\"]", "é", "éü", "[\"a = '\\u00e9\\u00fc'\"]", id="escaped as the line"),
        pytest.param(
            "[\"a = '\\ud83d\\ude00'\"]", "=", "= b =", "[\"a = b = '\\ud83d\\ude00'\"]", id="two escapes for one"
        ),
        pytest.param(
            "[\"a = '\\ud83d\\ude00'\"]", "😀", "😁", "[\"a = '\\ud83d\\ude01'\"]", id="another of two escapes"
        ),
        pytest.param('["a = 1"]', "1", "'é'", "[\"a = 'é'\"]", id="literal where nothing tells"),
        pytest.param("[\"a = '\\\\\\\\u00e9'\"]", "a", "ü", "[\"ü = '\\\\\\\\u00e9'\"]", id="a backslash before u"),
        pytest.param('["a\\r\\n", "b"]', "b", "b\r\nc", '["a\\r\\n", "b\\r\\n", "c"]', id="carriage returns"),
        pytest.param("[\"a = '\\t\\u001b'\"]", "a", "b", "[\"b = '\\t\\u001b'\"]", id="control characters"),
        pytest.param('["!ls\\n", "a"]', "a", "b", '["!ls\\n", "b"]', id="below a magic"),
        pytest.param(
            '["if a:\\n", " !l\\n", " b"]', " _1\n b", "  _1\n  b", '["if a:\\n", "  !l\\n", "  b"]', id="deeper"
        ),
        pytest.param(
            '["if a:\\n", " !l \\\\\\n", "b"]',
            " _1__\n#",
            "  _1__\n  #",
            '["if a:\\n", "  !l \\\\\\n", "  b"]',
            id="both",
        ),
    ],
)
def test_only_what_changes_changes(before: str, old: str, new: str, after: str) -> None:
    around = '\ufeff{{"cells": [\r\n{{"source" :{} , "outputs": [ "é"[:0] ], "cell_type":"code"}}], "nbformat":4}}'
    around = around.replace('[ "é"[:0] ]', "[ 1.0, 1e5 ]")
    source = decoded(around.format(before).encode())
    assert source.text.count(old) == 1
    assert source.encode(source.text.replace(old, new)).decode() == around.format(after)


def test_an_empty_cell_is_filled_as_others_are_written() -> None:
    data = raw([], ["x\n", "y"], "")
    source = decoded(data)
    text = source.text.replace("\n# %% fixer cell 2", "a\nb\n# %% fixer cell 2") + "c"
    assert source.encode(text) == raw(["a\n", "b"], ["x\n", "y"], "c")


@pytest.mark.parametrize("space", [b"", b" "])
def test_an_empty_cell_is_filled_where_no_other_tells_how(space: bytes) -> None:
    data = b'{"nbformat":<4,"cells":<[{"cell_type":<"code","source":<[]}]}'
    after = data.replace(b"[]", b'["a\\n",<"b"]').replace(b"<", space)
    assert decoded(data.replace(b"<", space)).encode("a\nb") == after


def test_the_mark_is_another_where_a_cell_has_it() -> None:
    data = raw("# %% fixer cell 2\nx", "s = '# %% fixer 1 cell'", "y")
    source = decoded(data)
    assert source.text.split("\n")[2:5:2] == ["# %% fixer 2 cell 2", "# %% fixer 2 cell 3"]
    assert source.encode(source.text + " = 1") == raw("# %% fixer cell 2\nx", "s = '# %% fixer 1 cell'", "y = 1")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("# %% fixer cell 2\n", "", id="boundary gone"),
        pytest.param("# %% fixer cell 2", "# %% fixer cell 3", id="boundary changed"),
        pytest.param("# %% fixer cell 2", "  # %% fixer cell 2", id="boundary indented"),
        pytest.param("# %% fixer cell 2", "x  # %% fixer cell 2", id="boundary behind code"),
        pytest.param("a = 1", "a = 1\n# %% fixer cell 2", id="boundary doubled"),
        pytest.param("_1_\n", "", id="magic gone"),
        pytest.param("_1_\n", "_1_\n_1_\n", id="magic doubled"),
        pytest.param("_2_\nb", "_3_\nb", id="another magic in its place"),
        pytest.param("_1_\n_2_", "_2_\n_1_", id="magics exchanged"),
        pytest.param("_1_", "x = _1_", id="magic assigned"),
        pytest.param("_1_", "_1_; x", id="magic with another statement"),
        pytest.param("c = _3_", "d = _3_", id="another target"),
        pytest.param("_1__\n #", "_1__", id="continuation gone"),
        pytest.param("_1__\n #", "_1__\nx\n ##", id="continuation torn off"),
        pytest.param("a = 1", "_1__\n #\na = 1", id="copied to another cell"),
        pytest.param("b\n", "b\n_1_\n", id="copied below"),
        pytest.param("a = 1", "a = 1  # %% fixer cell 9", id="a mark of no cell"),
        pytest.param("c = _3_", "c = _3_\nc = _3_", id="last magic doubled"),
        pytest.param("a = 1", "a = '\ud800'", id="half a character"),
    ],
)
def test_what_cannot_be_put_back(old: str, new: str) -> None:
    source = decoded(raw("a = 1", "!ls\n!cd\nb\nc = !ls", "!a \\\n b\n"))
    assert old in source.text
    with pytest.raises(ValueError):
        source.encode(source.text.replace(old, new, 1))


def test_fixes_of_a_notebook_and_of_a_file_that_it_writes_land_together() -> None:
    before = raw(
        listed("%%writefile train.py\nimport torch\nscaler = torch.cuda.amp.GradScaler()"),
        listed("!pip install -q torch==2.5.1\nfrom torch.cuda.amp import autocast, GradScaler"),
        listed("%%time\nfor x in y:\n    !nvidia-smi\n    with autocast():\n        loss = model(x)"),
        listed("%time use(GradScaler)"),
    )
    after = raw(
        listed('%%writefile train.py\nimport torch\nscaler = torch.amp.GradScaler("cuda")'),
        listed("!pip install -q torch==2.5.1\nimport torch\nfrom torch.cuda.amp import GradScaler"),
        listed('%%time\nfor x in y:\n    !nvidia-smi\n    with torch.amp.autocast("cuda"):\n        loss = model(x)'),
        listed("%time use(GradScaler)"),
    )
    rules = tuple(rule for rule in load() if rule.code == "AMP002")
    found = plan(["n.ipynb"], Memory({"n.ipynb": before}), Options(rules), fix=True)
    assert [(f.cell, f.reported.line) for f in found.findings] == [(1, 3), (3, 4)]
    assert [file.after for file in found.changed] == [after]


def test_an_import_in_a_later_cell_comes_too_late() -> None:
    before = raw("import os", "from transformers import AdamW, x", "AdamW(p, lr=1e-3)", "import torch")
    after = raw(
        "import os",
        "import torch\nfrom transformers import x",
        "torch.optim.AdamW(p, lr=1e-3, eps=1e-6, weight_decay=0.0)",
        "import torch",
    )
    rules = tuple(rule for rule in load() if rule.code == "HF004")
    found = plan(["n.ipynb"], Memory({"n.ipynb": before}), Options(rules, unsafe=True), fix=True)
    assert [file.after for file in found.changed] == [after]


# -- the same, for any notebook

CHUNKS = (
    ("x = 1",),
    ("y = 'é\u2028\\n \"q\" \\\\'",),
    ("# note 😀",),
    ("",),
    ("z = '/\t'",),
    ('!pip install "a>=1" \\', "   b", "c()"),
    ("%time f()",),
    ("x?",),
    ("w = !ls",),
    ("if x:", "    !ls -l", "    y = 2"),
)
HIDDEN = ("!", "%", "x?", "w = !", "   b", "    !")


@dataclass
class Model:
    """The lines of the cells, and those that must stay as they are."""

    cells: list[list[str]]
    newline: str = "\n"

    @property
    def sources(self) -> list[str]:
        return [self.newline.join(cell) for cell in self.cells]


@st.composite
def models(draw: st.DrawFn) -> Model:
    chunks = st.lists(st.sampled_from(CHUNKS), max_size=5)
    cells = draw(st.lists(chunks.map(lambda chosen: [line for chunk in chosen for line in chunk]), max_size=4))
    return Model(
        [["first = 'é'", "second = 2"], *(cell or [""] for cell in cells)], draw(st.sampled_from(["\n", "\r\n"]))
    )


def sections(source: NotebookSource, newline: str) -> list[list[str]]:
    """The lines of each cell in the text of a notebook."""
    found: list[list[str]] = [[]]
    for line in source.text.split(newline):
        if line.startswith(source.mark):
            found.append([])
        else:
            found[-1].append(line)
    return found


def joined(source: NotebookSource, cells: list[list[str]], newline: str) -> str:
    lines = [cells[0], *([f"{source.mark} {k}", *cell] for k, cell in enumerate(cells[1:], start=2))]
    return newline.join(line for cell in lines for line in cell)


@st.composite
def edits(draw: st.DrawFn, model: Model, text: list[list[str]]) -> None:
    """Change both alike: lines that are replaced, deleted, inserted."""
    for _ in range(draw(st.integers(0, 6))):
        k = draw(st.integers(0, len(model.cells) - 1))
        cell, written = model.cells[k], text[k]
        at = draw(st.integers(0, len(cell)))
        new = draw(st.sampled_from(["new = 'é'", '# \\"', "", "x = 1", "t = '\u2028\t'"]))
        kind = draw(st.sampled_from(["insert", "delete", "replace", "append"]))
        if kind == "insert" and not (at < len(cell) and cell[at] == "   b"):
            cell.insert(at, new)
            written.insert(at, new)
        elif at < len(cell) and not cell[at].startswith(HIDDEN) and kind != "insert":
            replacement = {"delete": [], "replace": [new], "append": [f"{cell[at]}  # x"]}[kind]
            cell[at : at + 1] = replacement
            written[at : at + 1] = replacement


@given(st.data())
def test_an_edited_notebook_is_what_jupyter_would_have_written(data: st.DataObject) -> None:
    model = data.draw(models())
    style = data.draw(
        st.fixed_dictionaries({"indent": st.sampled_from([None, 0, 1, 2, "\t"]), "ensure_ascii": st.booleans()})
    )
    write = data.draw(st.sampled_from([listed, str]))
    before = raw(*map(write, model.sources), **style)
    source = decoded(before)
    assert source.encode(source.text) == before
    text = sections(source, model.newline)
    assert [len(cell) for cell in text] == [len(cell) for cell in model.cells]
    data.draw(edits(model, text))
    after = raw(*map(write, model.sources), **style)
    assert source.encode(joined(source, text, model.newline)) == after


@dataclass
class Spelled:
    """A notebook in no style at all: where each line of each cell stands."""

    text: str
    places: dict[tuple[int, int], tuple[int, int]]


@st.composite
def spelled(draw: st.DrawFn, model: Model) -> Spelled:
    random = draw(st.randoms(use_true_random=False))
    out: list[str] = []
    places: dict[tuple[int, int], tuple[int, int]] = {}

    def blank() -> str:
        return random.choice(["", "", " ", "\n ", "\r\n\t"])

    def character(each: str) -> str:
        escaped = "".join(f"\\u{unit:04{random.choice('xX')}}" for unit in utf16(each))
        short = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\", "/": "\\/"}.get(each, escaped)
        plain = each if each not in '"\\' and ord(each) >= 32 else short
        return random.choice([plain, plain, plain, short, escaped])

    def utf16(each: str) -> list[int]:
        units = each.encode("utf-16-be")
        return [int.from_bytes(units[k : k + 2], "big") for k in range(0, len(units), 2)]

    def put(*parts: str) -> int:
        out.extend(parts)
        return sum(map(len, out))

    put(blank(), '{"cells"', blank(), ":[")
    for number, text in enumerate(model.sources):
        put("," if number else "", blank(), '{"cell_type": "code", "outputs": ["]"],"source"', blank(), ":", blank())
        is_list = random.random() < 0.7
        put("[" + blank() if is_list else "", '"')
        for line, content in enumerate(listed(text)):
            start = end = put()
            for k, each in enumerate(content):
                if is_list and random.random() < 0.1:
                    put('"', blank(), ",", blank(), *random.choice([(), ('""', ",", blank())]), '"')
                    start = start if k else put()
                end = put(character(each))
            places[number, line] = (start, end)
            if is_list and random.random() < 0.8:
                put('"', blank(), ",", blank(), '"')
        put('"', blank() + "]" if is_list else "", blank(), ', "metadata":{}}')
    put("]", blank(), ', "nbformat" : 4}')
    return Spelled("".join(out), places)


def everything(data: bytes, instead: list[str] | None = None) -> Any:
    """What a notebook says, each source as one string; perhaps with others in their place."""
    whole = json.loads(data.decode("utf-8-sig"))
    for number, cell in enumerate(whole["cells"]):
        cell["source"] = instead[number] if instead else "".join(cell["source"])
    return whole


@given(st.data())
def test_bytes_outside_the_changed_lines_stay(data: st.DataObject) -> None:
    model = data.draw(models())
    file = data.draw(spelled(model))
    before = data.draw(st.sampled_from([b"", codecs.BOM_UTF8])) + file.text.encode()
    source = decoded(before)
    assert sources(before) == model.sources
    assert source.encode(source.text) == before
    text = sections(source, model.newline)
    cell, line = data.draw(st.sampled_from(sorted(file.places)))
    if not model.cells[cell][line].startswith(HIDDEN):
        start, end = file.places[cell, line]
        text[cell][line] += "  # x"
        model.cells[cell][line] += "  # x"
        after = source.encode(joined(source, text, model.newline))
        assert after.startswith(before[: len(before) - len(file.text.encode())] + file.text[:start].encode())
        assert after.endswith(file.text[end:].encode())
        assert everything(after) == everything(before, model.sources)


@given(st.data())
def test_any_notebook_says_what_was_meant(data: st.DataObject) -> None:
    model = data.draw(models())
    file = data.draw(spelled(model))
    source = decoded(file.text.encode())
    text = sections(source, model.newline)
    data.draw(edits(model, text))
    after = source.encode(joined(source, text, model.newline))
    assert everything(after) == everything(file.text.encode(), model.sources)


@given(st.data())
def test_places_of_any_notebook(data: st.DataObject) -> None:
    model = data.draw(models())
    file = data.draw(spelled(model))
    source = decoded(file.text.encode())
    for k, cell in enumerate(sections(source, model.newline)):
        offset = source.text.index(f"{source.mark} {k + 1}{model.newline}") + len(f"{source.mark} {k + 1}") if k else 0
        offset += len(model.newline) if k else 0
        for number, line in enumerate(cell):
            assert source.position(offset) == (k + 1, number + 1, 1)
            assert source.position(offset + len(line)) == (k + 1, number + 1, len(line) + 1)
            if (k, number) in file.places:
                assert source.file_line(offset) == file.text.count("\n", 0, file.places[k, number][0]) + 1
            offset += len(line) + len(model.newline)
