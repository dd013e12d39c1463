"""Configuration files: what is read, what is refused, and that a change changes nothing else."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import config_texts
import pytest

from codemods.model.edits import Skip, SkipReason, splice
from codemods.sources.config import (
    Alias,
    Array,
    Config,
    Entry,
    Opaque,
    Pair,
    Scalar,
    Table,
    Value,
    plain,
    read,
    same,
    toml_nodes,
    yaml_nodes,
)
from codemods.sources.config.serialize import is_bare
from codemods.sources.config.values import DEEPEST, OpaqueValue

ROOT = Path(__file__).parent.parent


def config(path: str, text: str) -> Config:
    found = read(path, text)
    assert isinstance(found, Config), found
    return found


def table(document: Config) -> Table:
    root = document.roots[0]
    assert isinstance(root, Table)
    return root


def at(document: Config, *way: Any) -> tuple[Entry | None, Value]:
    """The entry and the value at the end of a way."""
    entry, value = None, document.roots[0]
    for step in way:
        if isinstance(value, Table):
            entry = value.entry(step)
            assert entry is not None
            value = entry.value
        else:
            assert isinstance(value, Array)
            entry, value = None, value.items[step]
    return entry, value


def change(path: str, text: str, *way: Any, to: object) -> str | None:
    """The text in which the value there is another; None where that is declined."""
    document = config(path, text)
    edits = document.edits(at(document, *way)[1], to)
    return None if edits is None else splice(text, edits)


def drop(path: str, text: str, *ways: tuple[Any, ...]) -> str | None:
    """The text without the entries there."""
    document = config(path, text)
    gone = [at(document, *way)[0] for way in ways]
    edits = document.together({entry: None for entry in gone if entry is not None})
    return None if edits is None else splice(text, edits)


def beside(path: str, text: str, *way: Any, before: tuple[Pair, ...] = (), after: tuple[Pair, ...] = ()) -> str | None:
    """The text with new entries beside the one there."""
    document = config(path, text)
    entry = at(document, *way)[0]
    assert entry is not None
    edits = document.edits(entry, (*before, entry, *after))
    return None if edits is None else splice(text, edits)


# --- what is read ---


def test_nothing_is_read_from_nothing() -> None:
    assert config("a.yaml", "").roots == ()
    assert config("a.yaml", "# only a comment\n").roots == ()
    assert plain(config("a.toml", "").roots[0]) == {}
    assert [plain(root) for root in config("a.yml", "---\n---\n").roots] == [None, None]


def test_spans() -> None:
    text = "# LLaMA\ntrainer:\n  precision: '16'  # note\n  devices: [0, 1]\n\nlog: |\n  line\n\n"
    document = config("a.yaml", text)
    spans = {document.label(node): text[node.start : node.end] for node in document.nodes()}
    assert spans == {
        "": "trainer:\n  precision: '16'  # note\n  devices: [0, 1]\n\nlog: |\n  line",
        "trainer": "precision: '16'  # note\n  devices: [0, 1]",
        "trainer.precision": "'16'",
        "trainer.devices": "[0, 1]",
        "trainer.devices[0]": "0",
        "trainer.devices[1]": "1",
        "log": "|\n  line",
    }
    entry = table(document).entry("trainer")
    assert entry is not None and text[entry.start : entry.end].startswith("trainer:\n  precision")
    assert [type(node).__name__ for node in document.nodes()][:4] == ["Config", "Table", "Entry", "Table"]


def test_documents_are_counted() -> None:
    document = config("a.yaml", "a: 1\n---\nb: {c: 2}\n---\n- 3\n")
    assert [plain(root) for root in document.roots] == [{"a": 1}, {"b": {"c": 2}}, [3]]
    labels = [document.label(node) for node in document.nodes() if isinstance(node, Scalar)]
    assert labels == ["a", "2:b.c", "3:[0]"]


def test_characters_are_counted_not_bytes() -> None:
    for path, text in (("a.yaml", "# 😀\r\né: 😀\r\nb: x\r\n"), ("a.json", '{"é😀": "\\ud83d\\ude00", "b": "x"}')):
        document = config(path, text)
        _, value = at(document, "b")
        assert text[value.start : value.end].strip('"') == "x"


def test_yaml_values_are_those_of_pyyaml() -> None:
    text = (
        "a: yes\nb: 0x1f\nc: 1e-5\nd: 1.0e-5\ne: 2001-01-01\nf: ~\ng: 1:30\nh: .inf\ni: !!str 1\nj: '1'\nk: !!float 1\n"
    )
    day = datetime.date(2001, 1, 1)
    values = [True, 31, "1e-5", 1e-05, day, None, 90, float("inf"), "1", "1", 1.0]
    assert plain(config("a.yaml", text).roots[0]) == dict(zip("abcdefghijk", values, strict=True))


def test_aliases_and_merge_keys() -> None:
    text = "base: &base {a: 1, b: 2}\nother: &other {a: 9, c: 3}\none:\n  <<: [*base, *other]\n  b: 0\ntwo: *base\n"
    root = table(config("a.yaml", text))
    assert plain(root)["one"] == {"a": 1, "b": 0, "c": 3}
    assert plain(root)["two"] == {"a": 1, "b": 2}
    assert isinstance(root.entries[3].value, Alias)
    one, base = root.get("one"), root.get("base")
    assert isinstance(one, Table) and isinstance(base, Table)
    assert one.entry("a") is base.entry("a")
    assert root.get("two", "b") is base.get("b")
    assert root.get("two", "b", "c") is None and root.get("nowhere") is None


def test_tags_of_others_are_never_built() -> None:
    text = "a: !!python/object/apply:os.system [echo]\nb: !mine {x: 1}\nc: !Ref d\nd: 1\n"
    root = table(config("a.yaml", text))
    assert [type(entry.value) for entry in root.entries] == [Opaque, Opaque, Opaque, Scalar]
    assert plain(root)["b"] == OpaqueValue("!mine {x: 1}")


def test_toml_headers_dotted_keys_and_inline_tables() -> None:
    text = '[tool.a]\nx.y = 1\nz = { "k l" = [1, 2] }\n[[list]]\nn = 1\n[list.sub]\nm = 1\n'
    text += '[[list]]\n[tool]\nv = """\nq"""\n'
    document = config("a.toml", text)
    assert plain(document.roots[0]) == {
        "tool": {"a": {"x": {"y": 1}, "z": {"k l": [1, 2]}}, "v": "q"},
        "list": [{"n": 1, "sub": {"m": 1}}, {}],
    }
    labels = {document.label(node): text[node.start : node.end] for node in document.nodes() if isinstance(node, Entry)}
    assert labels["tool.a.x.y"] == "x.y = 1"
    assert labels["list[0].sub"] == "[list.sub]\nm = 1"
    assert labels["tool"] == '[tool]\nv = """\nq"""'


def test_types_tell_plain_data_apart() -> None:
    assert same({"a": [1, float("nan")]}, {"a": [1, float("nan")]})
    assert same({"a": 1, 2: 3, "b": None}, {"b": None, "a": 1, 2: 3})
    for one, other in ((1, True), (1, 1.0), (0.0, -0.0), ("1", 1), ({1: 2}, {True: 2}), ([1], [1, 2]), ({}, [])):
        assert not same(one, other)


# --- what is refused ---


@pytest.mark.parametrize(
    ("path", "text", "detail"),
    [
        ("a.yaml", "a: 1\nb: 2\n\nb: 3\n", "line 4: the key b again"),
        ("a.yaml", "a:\n\tb: 1\n", "line 2: while scanning for the next token found character '\\t'"),
        ("a.yaml", "a: 1\rb: 1\rb: 2\r", "line 3: the key b again"),
        ("a.yaml", "x: {{ cookiecutter.x }}\n", "line 1: a key that is no scalar (is this a template?)"),
        ("a.yaml", "{% if a %}\nx: 1\n{% endif %}\n", "line 1: "),
        ("a.yaml", "? [a, b]\n: 1\n", "line 1: a key that is no scalar"),
        ("a.yaml", "a: *nothing\n", "line 1: nothing is anchored as &nothing"),
        ("a.yaml", "a: &x 1\nb: &x 2\n", "line 2: a second anchor &x"),
        ("a.yaml", "a: &x [*x]\n", "line 1: *x stands inside of what it names"),
        ("a.yaml", "a: 1\n<<: 5\n", "line 2: only mappings can be merged"),
        ("a.yaml", "a: !!int many\n", "line 1: 'many' is no int"),
        ("a.yaml", "a: 2001-13-41\n", "line 1: '2001-13-41' is no timestamp"),
        ("a.yaml", "a: 1\nb: \x07\n", "line 2: character 7 is not allowed"),
        ("a.json", '{"a": 1,}', "line 1: no key in quotation marks"),
        ("a.json", '// c\n{"a": 1}', "line 1: no JSON value"),
        ("a.json", '{\n"a": 1,\n"a": 2}', 'line 3: the key "a" again'),
        ("a.json", '{"a": 1}\n{"a": 2}\n', "line 2: something follows the end of the document"),
        ("a.json", '{"a" 1}', "line 1: no colon after a key"),
        ("a.json", '{"a": 1 "b": 2}', "line 1: neither a comma nor the end of an object"),
        ("a.json", "[1 2]", "line 1: neither a comma nor the end of an array"),
        ("a.json", '"\\x"', "line 1: "),
        ("a.json", "", "line 1: no JSON value"),
        ("a.toml", "a = 1\na = 2\n", "line 2: "),
        ("a.toml", "a = 1\nb = [1\n", "line 3: "),
        ("a.toml", "a = 1\rb = 2\r", "line 1: "),
        ("a.ini", "[a]\nb = 1\n", "line 1: neither YAML nor JSON nor TOML"),
    ],
)
def test_unparsable(path: str, text: str, detail: str) -> None:
    found = read(path, text)
    assert isinstance(found, Skip) and found.reason is SkipReason.UNPARSABLE and found.detail.startswith(detail)


BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{b}: &{b} [*{a}, *{a}, *{a}, *{a}, *{a}, *{a}, *{a}, *{a}, *{a}, *{a}]\n"
    for a, b in zip("abcdefg", "bcdefgh", strict=True)
)
CHAIN = "a0: &a0 [1]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}]\n" for i in range(1, DEEPEST + 5))


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.yaml", "[" * 10_000),
        ("a.yaml", "".join("  " * i + "a:\n" for i in range(DEEPEST + 5))),
        ("a.yaml", BOMB),
        ("a.yaml", CHAIN),
        ("a.json", "[" * 100_000),
        ("a.json", '{"a":' * 5_000),
        ("a.toml", "a = " + "[" * 10_000),
        ("a.toml", "a = " + "[" * (DEEPEST + 5) + "]" * (DEEPEST + 5)),
        ("a.toml", "a" + ".a" * 5_000 + " = 1"),
        ("a.toml", "[a" + ".a" * (DEEPEST + 5) + "]"),
    ],
    ids=["flow", "block", "bomb", "chain", "array", "object", "brackets", "closed", "dotted", "header"],
)
def test_too_deep(path: str, text: str) -> None:
    found = read(path, text)
    assert isinstance(found, Skip) and found.reason is SkipReason.TOO_DEEP and found.detail.startswith("line ")


def test_too_large() -> None:
    found = read("a.yaml", "#" * (yaml_nodes.LARGEST + 1))
    assert isinstance(found, Skip) and found.reason is SkipReason.TOO_LARGE


def test_as_deep_as_allowed() -> None:
    text = "[" * DEEPEST + "1" + "]" * DEEPEST
    for path, whole in (("a.yaml", text), ("a.json", text), ("a.toml", f"a = {text[1:-1]}")):
        document = config(path, whole)
        leaf = next(node for node in document.nodes() if isinstance(node, Scalar))
        edits = document.edits(leaf, 2)
        assert edits is not None and splice(whole, edits) == whole.replace("1", "2")


def test_a_toml_file_that_is_misread_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    for misreading in (lambda text: toml_nodes._Open(0, 0), lambda text: [][0]):
        monkeypatch.setattr(toml_nodes, "_read", misreading)
        found = read("a.toml", "a = 1\n")
        assert isinstance(found, Skip) and found.reason is SkipReason.NO_ROUND_TRIP


# --- values ---

YAML = """\
# a LLaMA-Factory run
model_name_or_path: meta-llama/Llama-3
fp16: true   # half
bf16: no
flash_attn: "auto"
report_to: 'none'
lr: 1.0e-5
empty:   # nothing
block: |
  two
  lines
items:
- a  # first
- {x: 1, 'y': 2}
"""


@pytest.mark.parametrize(
    ("way", "new", "old_line", "new_line"),
    [
        (("fp16",), True, "", ""),
        (("fp16",), False, "fp16: true   # half", "fp16: false   # half"),
        (("bf16",), True, "bf16: no", "bf16: true"),
        (("fp16",), "16-mixed", "fp16: true", "fp16: 16-mixed"),
        (("fp16",), "16", "fp16: true", 'fp16: "16"'),
        (("fp16",), "no", "fp16: true", 'fp16: "no"'),
        (("fp16",), "1e-5", "fp16: true", 'fp16: "1e-5"'),
        (("fp16",), "bf16", "fp16: true", "fp16: bf16"),
        (("flash_attn",), "disabled", '"auto"', '"disabled"'),
        (("flash_attn",), 16, '"auto"', "16"),
        (("report_to",), "it's", "'none'", "'it''s'"),
        (("report_to",), "a\nb", "'none'", '"a\\nb"'),
        (("report_to",), None, "'none'", "null"),
        (("lr",), 2e-05, "1.0e-5", "2.0e-05"),
        (("lr",), float("inf"), "1.0e-5", ".inf"),
        (("empty",), 5, "empty:   # nothing", "empty: 5   # nothing"),
        (("block",), "one", "|\n  two\n  lines", "one"),
        (("items", 0), "b: c", "- a  # first", '- "b: c"  # first'),
        (("items", 1, "x"), "p, q", "{x: 1,", '{x: "p, q",'),
        (("items", 1), {"z": [True]}, "{x: 1, 'y': 2}", "{z: [true]}"),
        (("fp16",), {"use_reentrant": False}, "fp16: true", "fp16: {use_reentrant: false}"),
    ],
)
def test_yaml_values(way: tuple[Any, ...], new: object, old_line: str, new_line: str) -> None:
    assert change("a.yaml", YAML, *way, to=new) == YAML.replace(old_line, new_line)
    windows = YAML.replace("\n", "\r\n")
    expected = windows.replace(old_line.replace("\n", "\r\n"), new_line)
    assert change("a.yaml", windows, *way, to=new) == expected


def test_capitals_are_kept() -> None:
    assert change("a.yaml", "a: True\nb: FALSE\n", "a", to=False) == "a: False\nb: FALSE\n"
    assert change("a.yaml", "a: True\nb: FALSE\n", "b", to=True) == "a: True\nb: TRUE\n"
    assert beside("a.yaml", "a: True\n", "a", after=(Pair("b", False),)) == "a: True\nb: False\n"


def test_a_block_becomes_one_value() -> None:
    assert change("a.yaml", "a:\n  b: 1\n  c: 2\nd: 3\n", "a", to="x") == "a: x\nd: 3\n"
    assert change("a.yaml", "a:\n- 1\n- 2\n", "a", to=[3]) == "a: [3]\n"
    assert change("a.yaml", "- a: 1\n  b: 2\n- 3\n", 0, to={"a": 1}) == "- {a: 1}\n- 3\n"
    assert change("a.yaml", "a:\n  b: 1  # why\n  c: 2\n", "a", to="x") is None
    assert change("a.yaml", "a:  # why\n  b: 1\n", "a", to="x") is None


def test_json_values() -> None:
    text = '{\n\t"fp16": {"enabled": "auto"},\n\t"b": [1, 2],\n\t"c": {}\n}'
    assert change("a.json", text, "fp16", "enabled", to=False) == text.replace('"auto"', "false")
    assert change("a.json", text, "b", 1, to="é") == text.replace("2]", '"\\u00e9"]')
    assert change("a.json", text, "b", to=None) == text.replace("[1, 2]", "null")
    assert change("a.json", text, "fp16", "enabled", to={"x": [1]}) == text.replace('"auto"', '{"x": [1]}')
    assert change("a.json", text, "c", to={"x": [1], "y": {}}) == text.replace(
        "{}", '{\n\t\t"x": [\n\t\t\t1\n\t\t],\n\t\t"y": {}\n\t}'
    )
    assert change("a.json", '{"é":1}', "é", to="ü") == '{"é":"ü"}'


def test_toml_values() -> None:
    text = "a = \"x\" # c\nb = 'y'\nc = { d = 1 }\ne = [\n  1, # one\n]\nf = '''\nz'''\n"
    assert change("a.toml", text, "a", to='"') == text.replace('"x"', '"\\""')
    assert change("a.toml", text, "b", to="z") == text.replace("'y'", "'z'")
    assert change("a.toml", text, "b", to="it's") == text.replace("'y'", '"it\'s"')
    assert change("a.toml", text, "c", "d", to=1e-05) == text.replace("1 }", "1e-05 }")
    assert change("a.toml", text, "c", to={"x": [1, True], "a b": {}}) == text.replace(
        "{ d = 1 }", '{ x = [1, true], "a b" = {} }'
    )
    assert change("a.toml", text, "e", 0, to="1") == text.replace("1,", "'1',")
    assert change("a.toml", text, "e", to=[]) is None  # a comment would go
    assert change("a.toml", text, "f", to="new") == text.replace("'''\nz'''", "'new'")
    assert change("a.toml", text, "a", to=None) is None


@pytest.mark.parametrize(
    ("text", "way", "new"),
    [
        ("a: &x 1\nb: *x\n", ("a",), 2),
        ("a: &x 1\nb: *x\n", ("b",), 2),
        ("a: &x {b: 1}\nc:\n  <<: *x\n", ("a", "b"), 2),
        ("a: &x {b: 1}\nc:\n  <<: *x\n", ("c", "b"), 2),
        ("a: &x 1\nb: !mine [*x]\n", ("a",), 2),
        ("a: !mine 1\n", ("a",), 2),
        ("a: ${b}\n", ("a",), 2),
        ("a: ${{ matrix.x }}\n", ("a",), 2),
        ("a: '{{ x }}'\n", ("a",), 2),
        ("a: 1\n", ("a",), object()),
        ("a: 1\n", ("a",), {1: 2}),
        ("a: 1\n", ("a",), "\ud800"),
        ("{a, b: 1}\n", ("a",), 2),
    ],
)
def test_values_that_stay(text: str, way: tuple[Any, ...], new: object) -> None:
    assert change("a.yaml", text, *way, to=new) is None


def test_anchors_that_nothing_refers_to_stay_where_they_are() -> None:
    assert change("a.yaml", "a: &x 1  # c\n", "a", to=2) == "a: &x 2  # c\n"
    assert change("a.yaml", "a: &x !!int 1\n", "a", to="2") == 'a: &x "2"\n'


def test_nodes_of_others_are_declined() -> None:
    one, other = config("a.yaml", "a: 1\n"), config("a.yaml", "a: 1\n")
    assert one.edits(at(other, "a")[1], 2) is None
    assert one.edits(one, 2) is None
    entry, foreign = at(one, "a")[0], at(other, "a")[0]
    assert entry is not None and foreign is not None
    assert one.edits(entry, (entry, foreign)) is None
    assert one.edits(entry, "x") is None
    assert one.edits(entry, (entry, Pair("x", object()))) is None
    assert one.edits(entry, (entry,)) == ()


@pytest.mark.parametrize(
    "value", ["16-mixed", "bf16", "true-story", "a b", "gs://x/y", "torch>=2.0,<3", "./x", "e5", "名前"]
)
def test_bare_text(value: str) -> None:
    assert is_bare(value, flow=False)
    assert change("a.yaml", "a: x\n", "a", to=value) == f"a: {value}\n"


NUMBERS = "16 +1 1_000 0o17 0x1F 1e5 .5 1. ._ 12:30:45 2001-01-01 .inf -.INF .NaN ... ---"
NAMES = "yes Off y NO null ~ None = <<"
SIGNS = "a: #a 'a' \"a\" &a *a !a | > %a @a `a [a {a ] ? -"


@pytest.mark.parametrize(
    "value",
    ["", *f"{NUMBERS} {NAMES} {SIGNS}".split(), *("- a", "a: b", "a #b", " a", "a ", "a\tb", "a\nb", "\x85", "\ufeff")],
)
def test_text_that_needs_quotation_marks(value: str) -> None:
    assert not is_bare(value, flow=False)
    changed = change("a.yaml", "a: x\n", "a", to=value)
    assert changed is not None and changed[3] == '"' and config_texts.load("yaml", changed) == {"a": value}


def test_text_that_needs_quotation_marks_between_brackets() -> None:
    for value in ("a,b", "a]", "{", "a:b", "a?"):
        assert change("a.yaml", "a: [x]\n", "a", 0, to=value) == f'a: ["{value}"]\n'


# --- entries ---


def test_yaml_deletion() -> None:
    text = "# top\na: 1  # about a\nb:\n  c: 2\n  # about d\n  d: [3]\ne: |\n  x\n"
    assert drop("a.yaml", text, ("a",)) == text.replace("a: 1  # about a\n", "")
    assert drop("a.yaml", text, ("b",)) == "# top\na: 1  # about a\ne: |\n  x\n"
    assert drop("a.yaml", text, ("b", "c")) == text.replace("  c: 2\n", "")
    assert drop("a.yaml", text, ("e",)) == text.replace("e: |\n  x\n", "")
    assert drop("a.yaml", text, ("b", "c"), ("b", "d")) is not None
    assert drop("a.yaml", "a: 1\nb: 2", ("b",)) == "a: 1\n"
    assert drop("a.yaml", "a: 1\r\nb: 2\r\n", ("a",)) == "b: 2\r\n"


def test_yaml_deletion_of_all_there_is() -> None:
    assert drop("a.yaml", "a:\n  b: 1  # c\nd: 2\n", ("a", "b")) == "a: {}\nd: 2\n"
    assert drop("a.yaml", "a:\n  b: 1\n  c: 2\nd: 2\n", ("a", "b"), ("a", "c")) == "a: {}\nd: 2\n"
    assert drop("a.yaml", "a: 1\n", ("a",)) == "{}\n"
    assert drop("a.yaml", "- a: 1\n- b\n", (0, "a")) == "- {}\n- b\n"
    assert drop("a.yaml", "a:  # why\n  b: 1\nc: 2\n", ("a", "b")) == "a: {}  # why\nc: 2\n"
    assert drop("a.yaml", "a: # why\n  b: 1", ("a", "b")) == "a: {} # why\n"
    assert drop("a.yaml", "a:\n  # about b\n  b: 1\n", ("a", "b")) is None
    assert drop("a.yaml", "a: &x\n  b: 1\n", ("a", "b")) is None
    assert drop("a.yaml", "a :\n  b: 1\n", ("a", "b")) is None


def test_yaml_deletion_after_a_dash() -> None:
    assert drop("a.yaml", "- a: 1  # c\n  b: 2\n", (0, "a")) == "- b: 2\n"
    assert drop("a.yaml", "- a: 1\n  # about b\n  b: 2\n", (0, "a")) is None
    assert drop("a.yaml", "- a: 1\n  b: 2\n", (0, "b")) == "- a: 1\n"


@pytest.mark.parametrize("path", ["a.yaml", "a.json"])
def test_deletion_between_braces(path: str) -> None:
    text = '{"a": 1, "b": 2, "c": 3}'
    assert drop(path, text, ("a",)) == '{"b": 2, "c": 3}'
    assert drop(path, text, ("b",)) == '{"a": 1, "c": 3}'
    assert drop(path, text, ("c",)) == '{"a": 1, "b": 2}'
    assert drop(path, text, ("b",), ("c",)) == '{"a": 1}'
    assert drop(path, text, ("a",), ("c",)) == '{"b": 2}'
    assert drop(path, text, ("a",), ("b",), ("c",)) == "{}"
    lines = '{\n  "a": 1,\n  "b": 2\n}\n'
    assert drop(path, lines, ("a",)) == '{\n  "b": 2\n}\n'
    assert drop(path, lines, ("b",)) == '{\n  "a": 1\n}\n'


def test_deletion_between_braces_with_comments() -> None:
    assert drop("a.yaml", "{a: 1, # c\n b: 2}", ("a",)) is None
    assert drop("a.yaml", "{a: 1, # c\n b: 2}", ("b",)) is None
    assert drop("a.yaml", "{a: 1 # c\n}", ("a",)) is None
    assert drop("a.yaml", "{a: 1, b: 2,}", ("b",)) == "{a: 1,}"


def test_toml_deletion() -> None:
    text = "a = 1 # c\n[t]\nb.c = 1\nb.d = 2\ne = { f = 1, g = 2 }\n"
    assert drop("a.toml", text, ("a",)) == text.replace("a = 1 # c\n", "")
    assert drop("a.toml", text, ("t", "b", "c")) == text.replace("b.c = 1\n", "")
    assert drop("a.toml", text, ("t", "e", "f")) == text.replace("f = 1, ", "")
    assert drop("a.toml", text, ("t", "e", "g")) == text.replace(", g = 2", "")
    assert drop("a.toml", text, ("t", "b")) is None
    assert drop("a.toml", "[t]\nb.c = 1\n", ("t", "b", "c")) is None  # `b` would go as well


def test_what_is_merged_in_does_not_come_to_light() -> None:
    text = "base: &base {a: 1}\none:\n  <<: *base\n  a: 2\n  b: 3\n"
    assert drop("a.yaml", text, ("one", "a")) is None
    assert drop("a.yaml", text, ("one", "b")) == text.replace("  b: 3\n", "")
    assert drop("a.yaml", text, ("base",)) is None


def test_yaml_insertion() -> None:
    text = "train:\n    fp16: true  # half\n    # above\n    lr: 1\nend: 1"
    pair = Pair("kwargs", {"use_reentrant": False, "l": ["a", 1], "e": {}})
    written = "kwargs:\n        use_reentrant: false\n        l:\n          - a\n          - 1\n        e: {}\n"
    assert beside("a.yaml", text, "train", "fp16", after=(pair,)) == text.replace(
        "    # above", f"    {written}    # above"
    )
    assert beside("a.yaml", text, "train", "lr", before=(pair,)) == text.replace("    lr", f"    {written}    lr")
    assert beside("a.yaml", text, "end", after=(Pair("n", "y"),)) == text + '\n"n": "y"'
    windows = text.replace("\n", "\r\n")
    expected = windows.replace("end", "x: 1\r\nz: 2\r\nend")
    assert beside("a.yaml", windows, "end", before=(Pair("x", 1), Pair("z", 2))) == expected


def test_lines_end_as_their_neighbours() -> None:
    text = "a: 1\nb: 2\r\nc: 3\nd: 4"
    for key, end in (("a", "\n"), ("b", "\r\n"), ("c", "\n")):
        line = f"{key}: {text[text.index(key) + 3]}"
        assert beside("a.yaml", text, key, after=(Pair("x", 1),)) == text.replace(line, f"{line}{end}x: 1")
    assert beside("a.yaml", "a: 1\r\nd: 4", "d", after=(Pair("x", 1),)) == "a: 1\r\nd: 4\r\nx: 1"
    assert beside("a.yaml", "a: 1\rd: 4", "d", after=(Pair("x", 1),)) == "a: 1\rd: 4\rx: 1"
    assert beside("a.yaml", "d: 4", "d", after=(Pair("x", 1),)) == "d: 4\nx: 1"


def test_indentation_is_that_of_the_neighbours() -> None:
    text = "a:\n    b: 1\nl:\n    - 1\nc:\n  d:\n    e: 1\n"
    pair = Pair("x", {"u": {"v": [1]}})
    assert beside("a.yaml", text, "a", after=(pair,)) == text.replace(
        "l:", "x:\n    u:\n        v:\n            - 1\nl:"
    )
    assert beside("a.yaml", text, "c", "d", after=(pair,)) == text + "  x:\n    u:\n      v:\n          - 1\n"


def test_yaml_insertion_below_what_is_deeper() -> None:
    text = "a:\n  b: 1\n  # c: 2\n\n  # d: 3\n# e\nf: 1\n"
    assert beside("a.yaml", text, "a", after=(Pair("x", 1),)) == text.replace("# e\n", "x: 1\n# e\n")


def test_yaml_insertion_after_a_dash() -> None:
    text = "l:\n- a: 1\n  b: 2\n"
    assert beside("a.yaml", text, "l", 0, "a", before=(Pair("x", 1),)) == "l:\n- x: 1\n  a: 1\n  b: 2\n"
    assert beside("a.yaml", text, "l", 0, "a", after=(Pair("x", [1]),)) == "l:\n- a: 1\n  x:\n  - 1\n  b: 2\n"
    assert beside("a.yaml", text, "l", 0, "b", before=(Pair("x", 1),)) == "l:\n- a: 1\n  x: 1\n  b: 2\n"


def test_yaml_insertion_between_braces() -> None:
    assert beside("a.yaml", "{a: 1,b: 2}", "a", after=(Pair("x", {"z": []}),)) == "{a: 1,x: {z: []},b: 2}"
    text = "a: {\n  b: 1,  # c\n  d: 2\n}\n"
    assert beside("a.yaml", text, "a", "b", after=(Pair("x", 1),)) is None
    assert beside("a.yaml", text, "a", "d", before=(Pair("x", 1),)) == text.replace("  d", "  x: 1,\n  d")


def test_quotation_marks_are_those_of_the_neighbours() -> None:
    assert beside("a.yaml", "a: 'x'\nb: 1\n", "b", after=(Pair("c", "z"),)) == "a: 'x'\nb: 1\nc: 'z'\n"
    assert beside("a.yaml", "'a': '1'\nb: x\n", "b", after=(Pair("c", "z"),)) == "'a': '1'\nb: x\nc: z\n"
    assert beside("a.yaml", '"a": 1\n"b": 2\n', "b", after=(Pair("c", "z"),)) == '"a": 1\n"b": 2\n"c": z\n'
    assert beside("a.toml", "a = 'x'\n", "a", after=(Pair("c", "z"),)) == "a = 'x'\nc = 'z'\n"


def test_json_insertion() -> None:
    text = '{\n    "a": {"b":1},\n    "c": 2\n}\n'
    pair = Pair("bf16", {"enabled": True})
    spread = '"bf16": {\n        "enabled": true\n    }'
    assert beside("a.json", text, "a", after=(pair,)) == text.replace('\n    "c"', f'\n    {spread},\n    "c"')
    assert beside("a.json", text, "a", before=(pair,)) == text.replace('    "a"', f'    {spread},\n    "a"')
    assert beside("a.json", text, "c", after=(pair,)) == text.replace(": 2", f": 2,\n    {spread}")
    assert beside("a.json", text, "a", "b", after=(pair,)) == text.replace(":1", ':1,"bf16":{"enabled":true}')


def test_toml_insertion() -> None:
    text = "[t]\r\na=1 # c\r\nb.c = [\r\n  1,\r\n]\r\nd={ e = 1 }"
    pair = Pair("x y", {"z": 1})
    assert beside("a.toml", text, "t", "a", after=(pair,)) == text.replace("# c\r\n", '# c\r\n"x y"={ z=1 }\r\n')
    assert beside("a.toml", text, "t", "b", "c", after=(pair,)) == text.replace(
        "]\r\nd", ']\r\nb."x y" = { z = 1 }\r\nd'
    )
    assert beside("a.toml", text, "t", "d", "e", before=(Pair("f", "g"),)) == text.replace("{ e", '{ f = "g", e')
    assert beside("a.toml", text, "t", "d", after=(Pair("f", 1),)) == text + "\r\nf=1"
    assert beside("a.toml", text, "t", before=(Pair("f", 1),)) == "f = 1\r\n" + text
    assert beside("a.toml", text, "t", after=(Pair("f", 1),)) is None


def test_a_key_that_is_there_already_is_not_inserted() -> None:
    for path, text in (("a.yaml", "a: 1\nb: 2\n"), ("a.json", '{"a": 1, "b": 2}'), ("a.toml", "a = 1\nb = 2\n")):
        assert beside(path, text, "a", after=(Pair("b", 3),)) is None


def test_renaming() -> None:
    for path, text, expected in (
        ("a.yaml", "a: [x]  # c\n'b': 2\n", "new: [x]  # c\n'b': 2\n"),
        ("a.json", '{"a": ["x"], "b": 2}', '{"new": ["x"], "b": 2}'),
        ("a.toml", "a = ['x'] # c\nb = 2\n", "new = ['x'] # c\nb = 2\n"),
    ):
        document = config(path, text)
        entry = at(document, "a")[0]
        edits = document.edits(entry, Pair("new", ["x"])) if entry else None
        assert edits is not None and splice(text, edits) == expected
    document = config("a.yaml", "a: *x\nb: 1\n".replace("*x", "${c}"))
    entry = at(document, "a")[0]
    assert entry is not None and document.edits(entry, Pair("new", 2)) is None
    several = document.edits(entry, (Pair("x", 0), Pair("z", 1)))
    assert several is None
    entry = at(document, "b")[0]
    several = document.edits(entry, (Pair("x", 0), Pair("z", 1))) if entry else None
    assert several is not None and splice(document.text, several) == "a: ${c}\nx: 0\nz: 1\n"


def test_replacements_are_proved_together() -> None:
    document = config("a.yaml", "a: 1\nb: 2\n")
    (a, one), (b, _) = at(document, "a"), at(document, "b")
    assert a is not None and b is not None
    edits = document.together({one: 3, a: (a, Pair("x", 1)), b: None})
    assert edits is not None and splice(document.text, edits) == "a: 3\nx: 1\n"
    assert document.together({a: (a, Pair("x", 1)), b: (b, Pair("x", 2))}) is None
    assert document.together({one: 3, a: Pair("c", 4)}) is None
    assert document.together({document: 1, one: 2}) is None


def test_entries_that_stay() -> None:
    for text, key, new in (
        ("a: &x 1\nb: *x\n", "b", Pair("b", 2)),
        ("a: !mine 1\n", "a", Pair("a", 2)),
        ("a: 1\n", "a", Pair(1, 2)),  # type: ignore[arg-type]
        ("a: 1\n", "a", Pair("b", {1: 2})),
        ("a: 1\n", "a", (Pair("b", 1), Pair("c", object()))),
        ("a: 1\n", "a", ()),
    ):
        document = config("a.yaml", text)
        entry = at(document, key)[0]
        assert entry is not None and document.edits(entry, new) is None
    document = config("a.yaml", "a: &x {c: 1}\nb:\n  <<: *x\n")
    merging = next(node for node in document.nodes() if document.label(node) == "b.<<")
    assert document.edits(merging, None) is None and document.edits(merging, Pair("c", 1)) is None
    assert drop("a.yaml", "a:\n  ? # c\n  # d\n  b:\n    c: 1\n", ("a", None)) is None
    assert beside("a.yaml", "? a\n: 1\n? b\n: 2\n", "b", before=(Pair("c", 1),)) is None
    assert change("a.json", "[1]", 0, to=float("nan")) is None


def test_characters_that_readers_take_differently() -> None:
    for character in "\x85\u2028\u2029\ufeff":
        assert change("a.yaml", f"a: 1\nb: 'x{character}y'\n", "a", to=2) is None
        assert change("a.json", f'{{"a": 1, "b": "x{character}y"}}', "a", to=2) is not None


def test_several_documents() -> None:
    text = "a: 1\n---\na: 2\n...\n---\na: 3\n"
    document = config("a.yaml", text)
    second = document.roots[1]
    assert isinstance(second, Table)
    edits = document.edits(second.entries[0].value, 5)
    assert edits is not None and splice(text, edits) == text.replace("2", "5")
