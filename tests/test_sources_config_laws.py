"""Laws of configuration files, over texts that hypothesis makes: a change changes what it names, and nothing else."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import config_texts
import pytest
import sweep_sources
from effort import examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from test_sources_config import at, config

from codemods.model.edits import Skip, splice
from codemods.sources.config import Array, Config, Pair, Scalar, Table, plain, read, same, yaml_nodes

ROOT = Path(__file__).parent.parent


def ways(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The ways to everything in plain data, but itself."""
    for step in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield (*way, step)
        yield from ways(value[step], (*way, step))


@st.composite
def documents(draw: st.DrawFn, format: str) -> tuple[Any, str]:
    """Data, and a text that means it."""
    leaves = config_texts.singles if format == "toml" else config_texts.singles | st.none()
    value = draw(config_texts.data(leaves))
    text = config_texts.write(format, value, draw(st.randoms(use_true_random=False)))
    assume(means(format, text, value))  # PyYAML breaks a few long strings wrongly
    return value, text


FORMATS = pytest.mark.parametrize("format", ["yaml", "json", "toml"])
NESTED = st.just({"use_reentrant": False, "l": [1, {"a": "b: c"}], "e": {}})


def holder_of(data: Any, way: tuple[Any, ...]) -> Any:
    for step in way[:-1]:
        data = data[step]
    return data


def means(format: str, text: str, data: Any) -> bool:
    return sweep_sources.alike(
        sweep_sources.sorted_keys(config_texts.load(format, text)), sweep_sources.sorted_keys(data)
    )


@FORMATS
def test_reading_gives_what_others_read(format: str) -> None:
    @settings(max_examples=examples(150))
    @given(documents(format))
    def holds(drawn: tuple[Any, str]) -> None:
        data, text = drawn
        document = config(f"a.{format}", text)
        assert same([plain(root) for root in document.roots], [data])
        for node in document.nodes():
            assert 0 <= node.start <= node.end <= len(text)

    holds()


@FORMATS
def test_setting_a_value_changes_only_its_span(format: str) -> None:
    @settings(max_examples=examples(200))
    @given(documents(format), st.data())
    def holds(drawn: tuple[Any, str], choice: st.DataObject) -> None:
        data, text = drawn
        document = config(f"a.{format}", text)
        way = choice.draw(st.sampled_from(list(ways(data))))
        node = at(document, *way)[1]
        assume(not (isinstance(node, Scalar) and re.search(r"\$\{|\{\{", str(node.value))))  # filled in elsewhere
        assert document.edits(node, holder_of(data, way)[way[-1]]) == ()
        new = choice.draw(config_texts.singles | NESTED)
        edits = document.edits(node, new)
        if not isinstance(node, Scalar) and edits is None:
            return
        assert edits is not None
        if isinstance(node, Scalar):
            assert all(node.start <= edit.start and edit.end <= node.end for edit in edits)
        intended = copy.deepcopy(data)
        holder_of(intended, way)[way[-1]] = new
        assert means(format, splice(text, edits), intended)

    holds()


@FORMATS
def test_deleting_an_entry_deletes_nothing_else(format: str) -> None:
    @settings(max_examples=examples(150))
    @given(documents(format), st.data())
    def holds(drawn: tuple[Any, str], choice: st.DataObject) -> None:
        data, text = drawn
        document = config(f"a.{format}", text)
        way = choice.draw(st.sampled_from([way for way in ways(data) if isinstance(way[-1], str)]))
        entry = at(document, *way)[0]
        assert entry is not None
        edits = document.edits(entry, None)
        if edits is None:  # a comment in the way, or what a TOML header or dotted key alone makes
            assert "#" in text or format == "toml"
            return
        assert all(edit.text in ("", "{}", " {}") for edit in edits)
        intended = copy.deepcopy(data)
        del holder_of(intended, way)[way[-1]]
        assert means(format, splice(text, edits), intended)

    holds()


@FORMATS
def test_inserting_an_entry_takes_nothing_away(format: str) -> None:
    @settings(max_examples=examples(150))
    @given(documents(format), st.data())
    def holds(drawn: tuple[Any, str], choice: st.DataObject) -> None:
        data, text = drawn
        document = config(f"a.{format}", text)
        way = choice.draw(st.sampled_from([way for way in ways(data) if isinstance(way[-1], str)]))
        entry, value = at(document, *way)
        pair = Pair(choice.draw(config_texts.keys), choice.draw(config_texts.singles | NESTED))
        intended = copy.deepcopy(data)
        holder = holder_of(intended, way)
        assert entry is not None
        edits = document.edits(entry, choice.draw(st.sampled_from([(entry, pair), (pair, entry)])))
        if pair.key in holder:
            assert edits is None
            return
        if edits is None:
            assert "#" in text or (format == "toml" and isinstance(value, (Table, Array)))
            return
        assert all(edit.start == edit.end for edit in edits)
        holder[pair.key] = pair.value
        assert means(format, splice(text, edits), intended)

    holds()


@FORMATS
def test_reading_never_raises(format: str) -> None:
    """Texts with a few characters exchanged: read as others read them, or skipped."""

    @settings(max_examples=examples(200))
    @given(documents(format), st.data())
    def holds(drawn: tuple[Any, str], choice: st.DataObject) -> None:
        text = drawn[1]
        for _ in range(choice.draw(st.integers(1, 3))):
            at = choice.draw(st.integers(0, len(text)))
            pieces = st.sampled_from(
                ["", "\n", "\r", "\t", " ", '"', "'", "&a ", "*a", "!t ", "<<: ", "#", "\x00", "\ud800"]
            )
            text = text[:at] + choice.draw(pieces | st.characters()) + text[at + choice.draw(st.integers(0, 2)) :]
        found = read(f"a.{format}", text)
        if isinstance(found, Config) and format != "yaml":
            assert sweep_sources.alike(plain(found.roots[0]), config_texts.load(format, text))

    holds()


def test_the_files_of_this_repository() -> None:
    """The sweep that also goes over other people's repositories, by hand."""
    total = sweep_sources.Report()
    for path in [ROOT / "pyproject.toml", *sweep_sources.files([str(ROOT / "tests")])]:
        total.add(sweep_sources.sweep(path.name, path.read_bytes().decode("utf-8-sig"), scalars=8, entries=4))
    assert total.failures == []
    assert total.counts["scalars"] > 20 and total.counts["deletion"] > 5 and total.counts["insertion"] > 5


def test_the_sweep_sees_a_wrong_edit(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "a: 1\nb: x\n"
    assert sweep_sources.sweep("a.yaml", text).failures == []
    honest = Config.edits

    def late(self: Config, node: Any, new: object, /) -> Any:
        edits = honest(self, node, new)
        return edits and tuple(type(edit)(edit.path, edit.start + 1, edit.end + 1, edit.text) for edit in edits)

    monkeypatch.setattr(Config, "edits", late)
    assert len(sweep_sources.sweep("a.yaml", text).failures) >= 4


def test_aliases_are_counted_before_they_are_followed() -> None:
    text = "a: &a [" + "1, " * 999 + "1]\n" + "b: [" + "*a, " * (yaml_nodes.MOST // 1000 + 1) + "]\n"
    found = read("a.yaml", text)
    assert isinstance(found, Skip) and found.detail == f"line 2: aliases stand for more than {yaml_nodes.MOST:,} values"
