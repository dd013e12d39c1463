"""Imports as needs: where isort would have them; and what our edits orphan, with all that keeps an import."""

from __future__ import annotations

import subprocess
import sys

import pytest
from memory import Memory
from toy import torched

from codemods.engine.rounds import Options, plan
from codemods.model.edits import Need, splice
from codemods.syntax.facts import Facts, gather
from codemods.syntax.imports import satisfy, spelling

TORCH = Need("torch")


def satisfied(text: str, need: Need, *scopes: str) -> str:
    facts = gather("p.py", text)
    assert isinstance(facts, Facts)
    edit = satisfy("p.py", text, facts, need, (*scopes, ""))
    return text if edit is None else splice(text, [edit])


@pytest.mark.parametrize(
    ("text", "need"),
    [
        ("import torch\n", TORCH),
        ("import torch, os\n", TORCH),
        ("try:\n    import torch\nexcept ImportError:\n    raise\n", TORCH),
        ("import torch.utils.checkpoint\n", Need("torch.utils.checkpoint")),
        ("from torch import nn\n", Need("torch", "nn")),
    ],
)
def test_a_need_that_is_met_changes_nothing(text: str, need: Need) -> None:
    assert satisfied(text, need) == text


def test_the_import_in_force_in_a_function_is_enough_there() -> None:
    text = "def f():\n    import torch\n"
    assert satisfied(text, TORCH, "f.g", "f") == text
    assert satisfied(text, TORCH, "g") == f"import torch\n\n{text}"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("x = 1\nimport torch\n", "import torch\n\nx = 1\nimport torch\n", id="import below"),
        pytest.param(
            "import os\nx = 1\nimport torch.nn\n",
            "import os\n\nimport torch\nx = 1\nimport torch.nn\n",
            id="its package below",
        ),
        pytest.param("x = 1; import torch\n", "x = 1; import torch\n", id="on the same line"),
    ],
)
def test_an_import_below_the_use_comes_too_late(before: str, after: str) -> None:
    line = before[: before.index("x = 1")].count("\n") + 1
    facts = gather("p.py", before)
    assert isinstance(facts, Facts)
    edit = satisfy("p.py", before, facts, TORCH, ("",), line)
    assert (before if edit is None else splice(before, [edit])) == after


PLACES = [
    pytest.param("", "import torch\n", id="empty"),
    pytest.param("x = 1\n", "import torch\n\nx = 1\n", id="code"),
    pytest.param("\nx = 1\n", "import torch\n\nx = 1\n", id="empty line first"),
    pytest.param("#!/bin/x\nx = 1\n", "#!/bin/x\nimport torch\n\nx = 1\n", id="shebang"),
    pytest.param("# licence\n# more\nx = 1\n", "# licence\n# more\n\nimport torch\n\nx = 1\n", id="comments"),
    pytest.param('"""Doc."""\n', '"""Doc."""\n\nimport torch\n', id="docstring"),
    pytest.param('"""Doc.\n\nmore"""\nx = 1\n', '"""Doc.\n\nmore"""\n\nimport torch\n\nx = 1\n', id="long docstring"),
    pytest.param('"""Doc."""', '"""Doc."""\n\nimport torch', id="docstring without newline"),
    pytest.param(
        "from __future__ import annotations\n", "from __future__ import annotations\n\nimport torch\n", id="future"
    ),
    pytest.param(
        '"""Doc."""\nfrom __future__ import annotations\nimport os\n',
        '"""Doc."""\nfrom __future__ import annotations\nimport os\n\nimport torch\n',
        id="future and standard library",
    ),
    pytest.param("import os\nimport sys\n\nx = 1\n", "import os\nimport sys\n\nimport torch\n\nx = 1\n", id="stdlib"),
    pytest.param("from .m import A\n", "import torch\n\nfrom .m import A\n", id="relative"),
    pytest.param("import os\n\nfrom . import m\n", "import os\n\nimport torch\n\nfrom . import m\n", id="between"),
    pytest.param("import numpy as np\n", "import numpy as np\nimport torch\n", id="third party"),
    pytest.param("import yaml\n", "import torch\nimport yaml\n", id="sorted"),
    pytest.param("import os\n\nimport yaml\n", "import os\n\nimport torch\nimport yaml\n", id="in its section"),
    pytest.param("from torch import nn\n", "import torch\nfrom torch import nn\n", id="plain before from"),
    pytest.param(
        "import numpy as np\nfrom numpy import x\nfrom torch import nn\n",
        "import numpy as np\nimport torch\nfrom numpy import x\nfrom torch import nn\n",
        id="among the plain ones",
    ),
    pytest.param(
        "from numpy import x\nimport scipy\nfrom torch import nn\n",
        "from numpy import x\nimport scipy\nimport torch\nfrom torch import nn\n",
        id="where they are mixed",
    ),
    pytest.param("import torch.nn as nn\n", "import torch\nimport torch.nn as nn\n", id="before its own modules"),
    pytest.param("import os\nimport yaml\n", "import os\nimport torch\nimport yaml\n", id="one block for all"),
    pytest.param("import os\r\n\r\nx\r\n", "import os\r\n\r\nimport torch\r\n\r\nx\r\n", id="CRLF"),
    pytest.param("import numpy", "import numpy\nimport torch", id="no newline at the end"),
    pytest.param("import os", "import os\n\nimport torch", id="no newline at the end, new block"),
    pytest.param(
        "from numpy import (\n    x,\n    y,\n)\n", "import torch\nfrom numpy import (\n    x,\n    y,\n)\n", id="long"
    ),
    pytest.param(
        "import numpy\n\n\nx = 1\ny = 2\n\nimport yaml\n",
        "import numpy\nimport torch\n\n\nx = 1\ny = 2\n\nimport yaml\n",
        id="not among those below",
    ),
    pytest.param("'\x0c\u2028'\nimport numpy\n", "'\x0c\u2028'\nimport numpy\nimport torch\n", id="odd line breaks"),
    pytest.param("from numpy import *\n", "import torch\nfrom numpy import *\n", id="star"),
    pytest.param("x = 1; import yaml\n", "import torch\n\nx = 1; import yaml\n", id="import behind other code"),
    pytest.param(
        "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    import torch\n",
        "from typing import TYPE_CHECKING\n\nimport torch\n\nif TYPE_CHECKING:\n    import torch\n",
        id="TYPE_CHECKING",
    ),
]


@pytest.mark.parametrize(("before", "after"), PLACES)
def test_where_an_import_goes(before: str, after: str) -> None:
    assert satisfied(before, TORCH) == after


SORTED = [p for p in PLACES if p.id not in ("where they are mixed", "one block for all", "not among those below")]


@pytest.mark.parametrize(("before", "after"), SORTED)
def test_isort_has_nothing_to_say(before: str, after: str) -> None:
    """... that it did not say before: `ruff` sorts imports as isort does."""
    found = [
        subprocess.run(
            [sys.executable, "-m", "ruff", "check", "--isolated", "--quiet", "--select=I001", "-"],
            input=text,
            text=True,
            capture_output=True,
            check=False,
        ).returncode
        for text in (before, after)
    ]
    assert found[1] <= found[0]


@pytest.mark.parametrize(
    ("text", "need", "expected"),
    [
        ("import numpy\n", Need("json"), "import json\n\nimport numpy\n"),
        ("import os\n", Need("json"), "import os\nimport json\n"),
        ("import torch\n", Need("torch.utils.checkpoint"), "import torch\nimport torch.utils.checkpoint\n"),
        ("import yaml\n", Need("torch", "nn"), "import yaml\nfrom torch import nn\n"),
        ("from yaml import x\n", Need("torch", "nn"), "from torch import nn\nfrom yaml import x\n"),
    ],
)
def test_other_needs(text: str, need: Need, expected: str) -> None:
    assert satisfied(text, need) == expected.replace("import os\nimport json", "import json\nimport os")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            "def f():\n    from torch import nn\n    use()\n",
            "def f():\n    from torch import nn\n    import torch\n    use()\n",
            id="in the function that imports the package",
        ),
        pytest.param(
            "import torch.nn as nn\ndef f():\n    from torch import amp\n",
            "import torch\nimport torch.nn as nn\ndef f():\n    from torch import amp\n",
            id="in the module, if that does too",
        ),
        pytest.param(
            "def f(): from torch import nn; use()\n",
            "import torch\n\ndef f(): from torch import nn; use()\n",
            id="not on a line that it shares",
        ),
        pytest.param(
            "def f():\r\n\tfrom torch import nn\r\n\tfrom torch import amp",
            "def f():\r\n\tfrom torch import nn\r\n\tfrom torch import amp\r\n\timport torch",
            id="after the last, with its indentation",
        ),
    ],
)
def test_the_narrowest_scope_that_imports_the_package(before: str, after: str) -> None:
    assert satisfied(before, TORCH, "f") == after


# -- orphans


def repaired(text: str, others: dict[str, str] | None = None, path: str = "p.py") -> str:
    files = {path: text, **(others or {})}
    found = plan([path], Memory(files), Options((torched,)), fix=True)
    assert found.skips == ()
    return {**files, **{f.path: f.after.decode() for f in found.changed}}[path]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import torch\nfrom lib import legacy\nlegacy()\n", "import torch\ntorch.modern()\n"),
        (
            "from lib import a, legacy, b\nimport torch\nlegacy()\n",
            "from lib import a, b\nimport torch\ntorch.modern()\n",
        ),
        ("from lib import a, legacy\nimport torch\nlegacy()\n", "from lib import a\nimport torch\ntorch.modern()\n"),
        (
            "from lib import (\n    a,  # one\n    legacy,\n)\nimport torch\nlegacy()\n",
            "from lib import (\n    a,  # one\n)\nimport torch\ntorch.modern()\n",
        ),
        ("import torch; from lib import legacy\nlegacy()\n", "import torch\ntorch.modern()\n"),
        ("import lib as l\nimport torch\nl.legacy()\n", "import torch\ntorch.modern()\n"),
        ("import lib\nimport torch\nlib.legacy()\n", "import torch\ntorch.modern()\n"),
        (
            "import torch\ndef f():\n    from lib import legacy\n    legacy()\n",
            "import torch\ndef f():\n    torch.modern()\n",
        ),
        ("from lib import legacy\nlegacy()\n", "import torch\ntorch.modern()\n"),
        (
            '"""Calls legacy."""\nimport torch\nfrom lib import legacy\nlegacy()\nmodel.eval()\n',
            '"""Calls legacy."""\nimport torch\ntorch.modern()\nmodel.eval()\n',
        ),
    ],
)
def test_an_import_that_our_edits_orphan_goes(before: str, after: str) -> None:
    assert repaired(before) == after


KEPT = "import torch\nfrom lib import legacy\n{}legacy()\n"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(KEPT.format("x = legacy\n"), id="still used"),
        pytest.param(KEPT.format("__all__ = ['legacy']\n"), id="__all__"),
        pytest.param(KEPT.format("__all__ = ('x',)\n__all__ += ['legacy']\n"), id="__all__ extended"),
        pytest.param(KEPT.format("def f(x: 'legacy'): pass\n"), id="in an annotation that is a string"),
        pytest.param(KEPT.format("x = globals()['legacy']\n"), id="looked up by its name"),
        pytest.param(KEPT.format("").replace("import legacy\n", "import legacy  # noqa\n"), id="noqa"),
        pytest.param(KEPT.format("").replace("import legacy\n", "import (  # NOQA: F401\n    legacy,\n)\n"), id="long"),
        pytest.param(
            "import torch\ntry:\n    from lib import legacy\nexcept ImportError:\n    raise\nlegacy()\n", id="try"
        ),
        pytest.param(
            "import torch\nfrom typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from lib import legacy\n"
            "else:\n    from lib import legacy\nlegacy()\n",
            id="TYPE_CHECKING",
        ),
        pytest.param("import torch\nclass A:\n    from lib import legacy\nlegacy()\n", id="all that a block holds"),
    ],
)
def test_an_import_that_may_be_wanted_stays(text: str) -> None:
    head, _, _ = text.rpartition("legacy()")
    assert repaired(text) == f"{head}torch.modern()\n"


def test_an_import_in_an_init_stays() -> None:
    text = KEPT.format("")
    assert repaired(text, path="pkg/__init__.py") == text.replace("legacy()", "torch.modern()")


def test_an_import_that_another_file_takes_stays() -> None:
    text = KEPT.format("")
    assert repaired(text, {"q.py": "from p import legacy\n"}) == text.replace("legacy()", "torch.modern()")


def test_an_import_that_nobody_used_before_is_none_of_our_business() -> None:
    text = "import torch\nfrom lib import legacy, spare\nlegacy()\n"
    assert repaired(text) == "import torch\nfrom lib import spare\ntorch.modern()\n"


LOCAL = "from torch import nn\n\n\nclass A:\n    def f(self):\n        import torch\n        g()\n"


@pytest.mark.parametrize(
    ("text", "scope", "expected"),
    [
        (LOCAL, "A.f", ("torch.autocast", None)),
        (LOCAL, "", ("torch.autocast", ("torch", None, ""))),
        ("def f():\n    from torch import nn\n    g()\n", "f", ("torch.autocast", ("torch", None, "f"))),
        ("torch = 1\n", "", None),
    ],
)
def test_how_an_object_is_written_in_a_scope(text: str, scope: str, expected: object) -> None:
    facts = gather("p.py", text)
    assert isinstance(facts, Facts)
    found = spelling(facts, "torch.autocast", scope, 9)
    assert (found and (found[0], found[1] and (found[1].module, found[1].name, found[1].scope))) == expected
