"""Across files: names, lineage, attributes, settings; projects side by side."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memory import Memory

from codemods.model.names import LIGHTNING_MODULE, TORCH_MODULE
from codemods.project.index import Index, Ref
from codemods.syntax.facts import MISSING, UNKNOWN, Facts, gather

LM = "lightning.pytorch.LightningModule"
NET = "from base import Base\nclass Net(Base): pass\n"


def index(**files: str) -> Index:
    return Index(Memory({path.replace("__", "/") + ".py": text for path, text in files.items()}))


def tree(files: dict[str, str]) -> Index:
    return Index(Memory(files))


def origins(text: str, name: str, others: dict[str, str] | None = None, path: str = "p.py") -> set[str]:
    return set(tree({path: text, **(others or {})}).resolve(path, name))


# -- names in one file


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        pytest.param("", "torch", set(), id="bound nowhere"),
        pytest.param("import torch\n", "torch.no_grad", {"torch.no_grad"}, id="import"),
        pytest.param("import torch as t\n", "t.no_grad", {"torch.no_grad"}, id="alias"),
        pytest.param(
            "import torch.cuda.amp\n", "torch.autocast", {"torch.autocast"}, id="dotted import binds its head"
        ),
        pytest.param("import torch.cuda.amp as amp\n", "amp.GradScaler", {"torch.cuda.amp.GradScaler"}, id="import as"),
        pytest.param("from torch import no_grad as ng\n", "ng", {"torch.no_grad"}, id="from"),
        pytest.param("import pytorch_lightning as pl\n", "pl.LightningModule", {LM}, id="canonical"),
        pytest.param(
            "try:\n    import lightning.pytorch as pl\nexcept ImportError:\n    import pytorch_lightning as pl\n",
            "pl.LightningModule",
            {LM},
            id="two spellings of one thing",
        ),
        pytest.param(
            "try:\n    from torch.amp import GradScaler\nexcept E:\n    from torch.cuda.amp import GradScaler\n",
            "GradScaler",
            {"torch.amp.GradScaler", "torch.cuda.amp.GradScaler"},
            id="a set where imports differ",
        ),
        pytest.param("import torch\ntorch = 1\n", "torch.x", set(), id="rebound"),
        pytest.param("import torch\ndef f(torch): pass\n", "torch.x", set(), id="shadowed by a parameter"),
        pytest.param("import torch\n[torch for torch in x]\n", "torch.x", set(), id="by a comprehension"),
        pytest.param("import torch\nclass A:\n    torch = 1\n", "torch.x", {"torch.x"}, id="not by a class body"),
        pytest.param("import torch as t\nng = t.no_grad\n", "ng", {"torch.no_grad"}, id="assigned"),
        pytest.param(
            "import torch as t\nc = t.cuda\n", "c.amp.autocast", {"torch.cuda.amp.autocast"}, id="assigned head"
        ),
        pytest.param(
            "from a import A\nfrom b import B\nif x: C = A\nelse: C = B\n", "C", {"a.A", "b.B"}, id="by branch"
        ),
        pytest.param("from a import A\nC = A()\n", "C", set(), id="an instance is no class"),
        pytest.param("from a import A\nC = A\ndef f():\n    C = 1\n", "C", set(), id="bound elsewhere too"),
        pytest.param("x = x\n", "x", set(), id="itself"),
        pytest.param("a = b\nb = a\n", "a", set(), id="in a circle"),
        pytest.param("a = a.b\n", "a", set(), id="an attribute of itself"),
        pytest.param("a = b.x\nb = a.y\n", "a.z", set(), id="in a circle that grows"),
        pytest.param("class A: pass\n", "A", {"p.py:A"}, id="own class"),
        pytest.param("class A:\n    class B: pass\n", "A.B", {"p.py:A.B"}, id="nested class"),
        pytest.param("def f(): pass\n", "f", {"p.py:f"}, id="own function"),
        pytest.param("if x:\n    def f(): pass\n", "f", set(), id="under a condition"),
        pytest.param("def f(): pass\ndef f(): pass\n", "f", set(), id="twice"),
        pytest.param("from torch import *\n", "no_grad", {"torch.no_grad"}, id="star"),
        pytest.param("from torch import *\n", "unheard_of", set(), id="not known of the star"),
        pytest.param("from torch import *\nno_grad = 1\n", "no_grad", set(), id="bound beside the star"),
    ],
)
def test_what_a_name_means(text: str, name: str, expected: set[str]) -> None:
    assert origins(text, name) == expected


# -- names over files


@pytest.mark.parametrize(
    ("files", "path", "name", "expected"),
    [
        pytest.param({"p.py": "from m import A\n", "m.py": "class A: pass\n"}, "p.py", "A", {"m.py:A"}, id="beside"),
        pytest.param({"p.py": "import m\n", "m.py": "class A: pass\n"}, "p.py", "m.A", {"m.py:A"}, id="module"),
        pytest.param({"p.py": "import m\n", "m.py": ""}, "p.py", "m", {"m.py"}, id="the module itself"),
        pytest.param(
            {"p.py": "from pkg import A\n", "pkg/__init__.py": "from .m import A\n", "pkg/m.py": "class A: pass\n"},
            "p.py",
            "A",
            {"pkg/m.py:A"},
            id="re-export",
        ),
        pytest.param(
            {"p.py": "from pkg import *\n", "pkg/__init__.py": "from .m import *\n", "pkg/m.py": "class A: pass\n"},
            "p.py",
            "A",
            {"pkg/m.py:A"},
            id="re-export by stars",
        ),
        pytest.param(
            {"pkg/p.py": "from . import m\n", "pkg/m.py": "class A: pass\n"}, "pkg/p.py", "m.A", {"pkg/m.py:A"}, id="."
        ),
        pytest.param(
            {"pkg/__init__.py": "class A: pass\n", "pkg/p.py": "from . import A\n"},
            "pkg/p.py",
            "A",
            {"pkg/__init__.py:A"},
            id="from the package itself",
        ),
        pytest.param(
            {"pkg/sub/p.py": "from ..m import A\n", "pkg/m.py": "class A: pass\n"},
            "pkg/sub/p.py",
            "A",
            {"pkg/m.py:A"},
            id="..",
        ),
        pytest.param({"p.py": "from ..m import A\n"}, "p.py", "A", set(), id="beyond the root"),
        pytest.param({"pkg/p.py": "from .m import A\n"}, "pkg/p.py", "A", set(), id="relative and missing"),
        pytest.param(
            {"train.py": "from lib.m import A\n", "src/lib/__init__.py": "", "src/lib/m.py": "class A: pass\n"},
            "train.py",
            "A",
            {"src/lib/m.py:A"},
            id="src layout",
        ),
        pytest.param(
            {"src/lib/a/p.py": "from lib.m import A\n", "src/lib/m.py": "class A: pass\n", "pyproject.toml": ""},
            "src/lib/a/p.py",
            "A",
            {"src/lib/m.py:A"},
            id="src layout, from inside",
        ),
        pytest.param(
            {
                "libs/lib/a/p.py": "from lib.m import A\n",
                "libs/lib/a/__init__.py": "",
                "libs/lib/__init__.py": "",
                "libs/lib/m.py": "class A: pass\n",
            },
            "libs/lib/a/p.py",
            "A",
            {"libs/lib/m.py:A"},
            id="from inside a package in a directory",
        ),
        pytest.param(
            {"p.py": "from models.net import A\n", "models/net.py": "class A: pass\n"},
            "p.py",
            "A",
            {"models/net.py:A"},
            id="a directory without __init__",
        ),
        pytest.param(
            {"p.py": "from m import A\n", "m.py": "class A: pass\n", "src/m.py": "class A: pass\n"},
            "p.py",
            "A",
            set(),
            id="two answers",
        ),
        pytest.param(
            {"p.py": "from m import A\n", "m.py": "A = 1\n", "m/__init__.py": "class A: pass\n"},
            "p.py",
            "A",
            {"m/__init__.py:A"},
            id="a package comes before a module",
        ),
        pytest.param(
            {"p.py": "from pkg.gone import A\n", "pkg/__init__.py": ""}, "p.py", "A", set(), id="missing in our package"
        ),
        pytest.param({"p.py": "from m import A\n", "m.py": "A = (\n"}, "p.py", "A", set(), id="unreadable module"),
        pytest.param(
            {"a.py": "from b import *\nfrom torch import *\n", "b.py": "from a import *\n"},
            "b.py",
            "no_grad",
            {"torch.no_grad"},
            id="stars in a circle",
        ),
        pytest.param(
            {"p.py": "from torch import *\nfrom m import *\n", "m.py": "def no_grad(): pass\nno_grad = 1\n"},
            "p.py",
            "no_grad",
            set(),
            id="a star that brings something unknown",
        ),
        pytest.param(
            {"p.py": "from gone import *\nfrom .gone import *\n"},
            "p.py",
            "no_grad",
            set(),
            id="stars that lead nowhere",
        ),
    ],
)
def test_what_a_name_means_across_files(files: dict[str, str], path: str, name: str, expected: set[str]) -> None:
    assert set(tree(files).resolve(path, name)) == expected


def test_the_answer_does_not_depend_on_what_was_asked_before() -> None:
    files = {"a.py": "from b import *\nfrom torch import *\n", "b.py": "from a import *\n"}
    asked = tree(files)
    assert [set(asked.resolve(path, "no_grad")) for path in ("a.py", "b.py", "a.py")] == [{"torch.no_grad"}] * 3


# -- lineage


@pytest.mark.parametrize(
    ("base", "expected"),
    [
        pytest.param("import pytorch_lightning as pl\nclass Base(pl.LightningModule): pass\n", True, id="yes"),
        pytest.param("class Base: pass\n", False, id="no"),
        pytest.param("class Base(object): pass\n", False, id="builtin"),
        pytest.param("class Base(unknown()): pass\n", None, id="a call"),
        pytest.param("class Base(mystery): pass\nmystery = f()\n", None, id="unknown"),
        pytest.param("from gone import *\nclass Base(Mystery): pass\n", None, id="from a star"),
        pytest.param("if x:\n    class Base: pass\n", None, id="conditional"),
        pytest.param("from base import Net\nclass Base(Net): pass\n", None, id="circle"),
        pytest.param(
            "import pytorch_lightning as pl\nimport t\nclass Base(t.Generic[T], pl.LightningModule): pass\n",
            True,
            id="among others",
        ),
        pytest.param("from pytorch_lightning import LightningModule as Base\n", True, id="a re-exported library class"),
        pytest.param("def Base(): pass\n", None, id="a function"),
        pytest.param("from torch import nn\nclass Base(nn.Sequential): pass\n", False, id="a known class"),
        pytest.param("import bolts\nclass Base(bolts.Net): pass\n", None, id="a class of another library"),
    ],
)
def test_descends(base: str, expected: bool | None) -> None:
    assert index(base=base, p=NET).descends(Ref("p.py", "Net"), frozenset({LM})) is expected


def test_every_class_of_modules_of_torch_is_known() -> None:
    torch = pytest.importorskip("torch")
    classes = {name: each for name, each in vars(torch.nn).items() if isinstance(each, type)}
    modules = {f"torch.nn.{name}" for name, each in classes.items() if issubclass(each, torch.nn.Module)}
    assert modules == TORCH_MODULE - LIGHTNING_MODULE


def test_lineage_is_in_the_order_of_lookup() -> None:
    text = "class A: pass\nclass B(A): pass\nclass C(A): pass\nclass D(B, C): pass\n"
    lineage = index(p=text).lineage(Ref("p.py", "D"))
    assert [ref.name for ref in lineage.refs] == ["D", "B", "C", "A"]
    assert str(lineage.refs[0]) == "p.py:D"


def test_a_lineage_may_be_long_and_full_of_diamonds() -> None:
    text = "import pytorch_lightning as pl\nclass A0(pl.LightningModule): pass\n"
    text += "".join(f"class A{n}(A{n - 1}): pass\n" for n in range(1, 300))
    assert index(p=text).descends(Ref("p.py", "A299"), frozenset({LM})) is True
    text = "class A0: pass\n"
    for n in range(1, 60):
        text += f"class B{n}(A{n - 1}): pass\nclass C{n}(A{n - 1}): pass\nclass A{n}(B{n}, C{n}): pass\n"
    lineage = index(p=text).lineage(Ref("p.py", "A59"))
    assert lineage.complete
    assert [ref.name for ref in lineage.refs][:5] == ["A59", "B59", "C59", "A58", "B58"]
    assert len(lineage.refs) == 178


def test_a_class_that_is_its_own_ancestor_is_incomplete() -> None:
    assert index(p="class A(A): pass\n").lineage(Ref("p.py", "A")).complete is False


def test_subclasses_in_other_files() -> None:
    files = index(
        base="class Base: pass\n", p=NET, q="from p import Net as Base\nclass Far(Base): pass\n", r="Base = 1\n"
    )
    assert [str(ref) for ref in files.subclasses(Ref("base.py", "Base"))] == ["p.py:Net", "q.py:Far"]


# -- attributes

INIT = "class Base:\n    def __init__(self):\n        "
CONSTANTS = [
    pytest.param("class Base: pass\n", MISSING, id="missing"),
    pytest.param("class Base:\n    flag = False\n", False, id="on the class"),
    pytest.param("class Base:\n    flag: bool = False\n", False, id="annotated"),
    pytest.param("class Base:\n    flag: bool\n", MISSING, id="only annotated"),
    pytest.param(f"{INIT}self.flag = False\n", False, id="on the instance"),
    pytest.param(f"{INIT}self.flag, self.x = False, 1\n", False, id="unpacked"),
    pytest.param(f"{INIT}(self.x, (self.flag, y)) = f()\n", UNKNOWN, id="unpacked deep inside"),
    pytest.param(f"{INIT}*self.flag, x = f()\n", UNKNOWN, id="unpacked with a star"),
    pytest.param(f"{INIT}for self.flag in x: pass\n", UNKNOWN, id="target of a loop"),
    pytest.param(f"{INIT}with f() as self.flag: pass\n", UNKNOWN, id="target of a with"),
    pytest.param(f"{INIT}del self.flag\n", UNKNOWN, id="deleted"),
    pytest.param(f"{INIT}self.flag = False\n        self.flag = False\n", False, id="the same twice"),
    pytest.param(f"{INIT}self.flag = False\n        self.flag = 0\n", UNKNOWN, id="False is not 0"),
    pytest.param(f"{INIT}self.flag |= False\n", UNKNOWN, id="augmented"),
    pytest.param(f"{INIT}self.flag = f()\n", UNKNOWN, id="no literal"),
    pytest.param(f"{INIT}with x:\n            self.flag = False\n", False, id="in a with"),
    pytest.param(f"{INIT}if x:\n            self.flag = False\n", UNKNOWN, id="under if"),
    pytest.param(f"{INIT}def f():\n            self.flag = False\n", UNKNOWN, id="in a nested function"),
    pytest.param(
        f"{INIT}self.flag = False\n    def f(self):\n        self.flag = False\n", UNKNOWN, id="in another method"
    ),
    pytest.param(
        "class Base:\n    flag = True\n    def __init__(this):\n        this.flag = False\n", False, id="both"
    ),
    pytest.param("class Base:\n    if x:\n        flag = False\n", UNKNOWN, id="under if on the class"),
    pytest.param("class Base:\n    @property\n    def flag(self): return False\n", False, id="property"),
    pytest.param(
        'class Base:\n    @property\n    def flag(self):\n        """Doc."""\n        return False\n'
        "    @flag.setter\n    def flag(self, value): self.x = value\n",
        False,
        id="property with a docstring and a setter",
    ),
    pytest.param("class Base:\n    @property\n    def flag(self): return self.x\n", UNKNOWN, id="computed property"),
    pytest.param(
        "class Base:\n    @property\n    def flag(self):\n        f()\n        return False\n", UNKNOWN, id="more"
    ),
    pytest.param("class Base:\n    def flag(self): return False\n", UNKNOWN, id="method"),
    pytest.param(
        "class Base:\n    if x:\n        @property\n        def flag(self): return False\n", UNKNOWN, id="perhaps"
    ),
    pytest.param("class Base(gone()): pass\n", UNKNOWN, id="incomplete"),
    pytest.param(
        "class A:\n    flag = True\nclass B(A): pass\nclass C(A):\n    flag = False\nclass Base(B, C): pass\n",
        False,
        id="diamond",
    ),
    pytest.param(
        f"{INIT.replace('Base', 'A')}self.flag = True\nclass Base(A):\n    flag = False\n", UNKNOWN, id="hidden"
    ),
]


@pytest.mark.parametrize(("base", "expected"), CONSTANTS)
def test_constant(base: str, expected: object) -> None:
    assert index(base=base, p=NET).constant(Ref("p.py", "Net"), "flag") is expected


def test_constant_counts_the_methods_asked_for() -> None:
    files = index(p="class Net:\n    def setup(self):\n        self.flag = -1.5\n")
    assert files.constant(Ref("p.py", "Net"), "flag") is UNKNOWN
    assert files.constant(Ref("p.py", "Net"), "flag", ("setup",)) == -1.5


def test_the_method_of_the_nearest_class() -> None:
    files = index(
        base="class Base:\n    def f(self): pass\n    def g(self): pass\n",
        p=NET.replace("pass", "\n    def f(s): pass"),
    )
    found = [files.method(Ref("p.py", "Net"), name) for name in "fgh"]
    assert found == [Ref("p.py", "Net"), Ref("base.py", "Base"), None]


def test_what_is_no_class_has_no_lineage() -> None:
    assert index(p="").lineage(Ref("p.py", "Net")).refs == ()
    assert index().klass(Ref("gone.py", "Net")) is None


# -- projects


def test_two_projects_with_equal_names_and_opposite_settings() -> None:
    files = {
        f"{project}/{name}": text
        for project, flag, precision in (("one", "True", "16-mixed"), ("two", "False", "32"))
        for name, text in {
            "pyproject.toml": "",
            "base.py": f"class Base:\n    flag = {flag}\n",
            "net.py": "from base import Base\nclass Net(Base): pass\n",
            "train.py": f"Trainer(precision='{precision}')\n",
        }.items()
    }
    both = tree({**files, "train.py": "Accelerator()\n"})
    assert [both.constant(Ref(f"{p}/net.py", "Net"), "flag") for p in ("one", "two")] == [True, False]
    found = {
        p: [(f, s.call.keywords["precision"].literal) for f, s in both.settings(f"{p}/net.py")] for p in ("one", "two")
    }
    assert found == {"one": [("one/train.py", "16-mixed")], "two": [("two/train.py", "32")]}
    assert [(f, s.call.dotted) for f, s in both.settings("other.py")] == [("train.py", "Accelerator")]


def test_targets_are_those_of_the_nearest_project() -> None:
    both = tree({"requirements.txt": "torch==2.4", "a/requirements.txt": "torch==2.6", "a/p.py": "", "p.py": ""})
    found = [both.target(path, "torch") for path in ("a/p.py", "p.py")]
    assert [t.spec if t else None for t in found] == ["==2.6", "==2.4"]


# -- other texts


def test_a_derived_index_sees_the_new_text_and_the_old_one_does_not() -> None:
    from codemods.syntax.facts import Facts, gather

    old = index(m="class A: pass\n", p="from m import A\nold()\n")
    assert old.search("p.py", (b"old",)) == ("p.py",)
    new_text = "from torch import no_grad as A\n"
    facts = gather("p.py", new_text)
    assert isinstance(facts, Facts)
    new = old.derive({"p.py": (new_text, facts)})
    assert [set(i.resolve("p.py", "A")) for i in (old, new)] == [{"m.py:A"}, {"torch.no_grad"}]
    assert new.search("p.py", (b"old",)) == ()


@pytest.mark.parametrize(
    ("other", "taken"),
    [
        ("", False),
        ("from m import other  # autocast\n", False),
        ("from m import autocast\n", True),
        ("from .m import autocast\n", True),
        ("from m import *  # autocast\n", True),
        ("import m\nm.autocast()\n", True),
        ("import m as x\nx.autocast()\n", True),
        ("from . import m as x\nx.autocast()\n", True),
        ("from n import autocast\n", False),
        ("mock.patch('m.autocast')\n", True),
        ("autocast = (\n", False),
    ],
)
def test_whether_another_file_takes_a_name(other: str, taken: bool) -> None:
    files = index(m="from torch import autocast\n", p=other, n="from torch import autocast\n")
    assert files.imported_elsewhere("m.py", "autocast") is taken


def test_a_file_of_another_project_may_take_a_name() -> None:
    files = tree({"a/pyproject.toml": "", "a/m.py": "", "p.py": "from a.m import autocast\n"})
    assert files.imported_elsewhere("a/m.py", "autocast") is True


SAYING = (
    "x = 1\n",
    "def training_step(self):\n    run(self.net)\n",
    "from torch import autocast\nctx = autocast\nwith autocast('cuda'):\n    run(net)\n",
    "def region():\n    return autocast('cpu')\nother(run(1))\n",
)
SEARCHED = ((b"autocast", b"training_step"), (b"run(",))


@given(
    st.lists(st.sampled_from(SAYING), min_size=3, max_size=3),
    st.lists(st.tuples(st.integers(0, 2), st.sampled_from(SAYING)), max_size=4),
)
def test_what_was_searched_is_brought_up_to_date(texts: list[str], edits: list[tuple[int, str]]) -> None:
    """After a change, searches are those of a new index of the new texts."""
    names = ("a.py", "b.py", "c.py")
    now = dict(zip(names, texts, strict=True))
    index = Index(Memory(now))
    for number, text in [(0, texts[0]), *edits]:
        for literals in SEARCHED:
            index.search("a.py", literals)
        facts = gather(names[number], text)
        assert isinstance(facts, Facts)
        index = index.derive({names[number]: (text, facts)})
        now = {**now, names[number]: text}
        fresh = Index(Memory(now))
        for literals in SEARCHED:
            assert index.search("a.py", literals) == fresh.search("a.py", literals)
