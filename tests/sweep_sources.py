"""Every configuration file of a directory, put to the test: set values, delete entries, insert neighbours.

By hand, over repositories that somebody else wrote (slow: minutes for a thousand files):

    python tests/sweep_sources.py DIRECTORY… [--scalars 50] [--entries 10] [--declined]

It prints what was tried, what was declined and why, which files were skipped, and every failure; exit code 1 if there
is one. What a change should have led to is worked out from `yaml`'s own C loader, `json` and `tomllib`, not from the
trees of `codemods.sources`. `test_sources_config.py` calls `sweep` as well.
"""

from __future__ import annotations

import argparse
import copy
import json
import math
import random
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

if __name__ == "__main__":  # run as a script: the package lies beside this folder
    sys.path[0] = str(Path(__file__).parent.parent)

from codemods.model.edits import Edit, Skip, splice
from codemods.sources.config import Array, Config, Entry, Key, Opaque, Pair, Scalar, Table, Value, plain, read
from codemods.sources.config.edits import why_not
from codemods.sources.config.style import site

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

LARGEST = 1_000_000
NEW: tuple[Any, ...] = (
    "16-mixed",
    "yes",
    "16",
    "1e-5",
    "a: b",
    "x #y",
    "",
    'it\'s "so"',
    "é😀\n",
    7,
    -0.5,
    1e-05,
    True,
    None,
)


class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """`yaml.safe_load`, with the tags of others as pairs of tag and content."""


def _foreign(loader: Any, suffix: str, node: yaml.Node) -> Any:
    if isinstance(node, yaml.ScalarNode):
        return ("!" + suffix, node.value)
    if isinstance(node, yaml.SequenceNode):
        return ("!" + suffix, loader.construct_sequence(node, deep=True))
    return ("!" + suffix, loader.construct_mapping(node, deep=True))


Loader.add_multi_constructor("", _foreign)


def meaning(format: str, text: str) -> Any:
    """What a reader that is not ours makes of a file: a list of documents."""
    if format == "yaml":
        return list(yaml.load_all(text, Loader))
    return [json.loads(text) if format == "json" else tomllib.loads(text)]


@dataclass
class Report:
    counts: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    declined: list[str] = field(default_factory=list)

    def add(self, other: Report) -> None:
        self.counts += other.counts
        self.failures += other.failures
        self.declined += other.declined


def places(config: Config) -> Iterator[tuple[Value | Entry, tuple[Any, ...]]]:
    """Every node with the way to it: the number of its document, then keys and positions."""
    for number, root in enumerate(config.roots):
        todo: list[tuple[Value | Entry, tuple[Any, ...]]] = [(root, (number,))]
        while todo:
            node, way = todo.pop()
            yield node, way
            if isinstance(node, Entry):
                todo.append((node.value, way))
            elif isinstance(node, Array):
                todo += [(item, (*way, i)) for i, item in enumerate(node.items)]
            elif isinstance(node, Table):
                todo += [(each, (*way, each.key.value)) for each in node.entries if each.key.value is not Key.MERGE]


def alike(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        return type(one) is type(other) and list(one) == list(other) and all(alike(one[k], other[k]) for k in one)
    if isinstance(one, (list, tuple)):
        return type(one) is type(other) and len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, float) and isinstance(other, float) and math.isnan(one):
        return math.isnan(other)
    return type(one) is type(other) and bool(one == other)


def sweep(path: str, text: str, scalars: int = 50, entries: int = 10) -> Report:
    """Try changes on one file; a failure is a sentence that begins with the path."""
    report = Report()
    config = read(path, text)
    format = path.rpartition(".")[2].replace("yml", "yaml")
    try:
        meant = meaning(format, text)
    except (ValueError, RecursionError, yaml.YAMLError):
        what = (
            f"skipped, and no reader accepts: {config.reason}"
            if isinstance(config, Skip)
            else "read, but not by others"
        )
        report.counts[f"files {what}"] += 1
        return report
    if isinstance(config, Skip):
        report.counts[f"files skipped although another reader accepts them: {config.reason}"] += 1
        return report
    assert isinstance(config, Config)
    if not any(isinstance(node, Opaque) for node in config.nodes()):
        if not alike(sorted_keys([plain(root) for root in config.roots]), sorted_keys(meant)):
            report.failures.append(f"{path}: is read as something else than others read")
            return report
    report.counts[f"files read: {config.format}"] += 1
    if next(config.nodes()) is not config:
        report.failures.append(f"{path}: the document is not the first of its nodes")
    everything = list(places(config))
    chance = random.Random(path)
    values = [(node, way) for node, way in everything if isinstance(node, Scalar)]
    for node, way in chance.sample(values, min(scalars, len(values))):
        _set(report, config, node, way, chance)
    lines = [(node, way) for node, way in everything if isinstance(node, Entry)]
    for entry, way in chance.sample(lines, min(entries, len(lines))):
        _delete(report, config, entry, way)
        _insert(report, config, entry, way, chance)
    return report


def _set(report: Report, config: Config, node: Scalar, way: tuple[Any, ...], chance: random.Random) -> None:
    report.counts["scalars"] += 1
    if config.edits(node, node.value) not in ((), None if why_not(_site(config), node) else ()):
        report.failures.append(f"{config.path}: {way} set to itself is a change")
    new = chance.choice([each for each in NEW if each is not None or config.format != "toml"])
    edits = config.edits(node, new)
    if edits is None:
        _decline(report, config, node, way, f"set to {new!r}")
        return
    report.counts["set"] += 1
    if any(edit.start < node.start or edit.end > node.end for edit in edits):
        report.failures.append(f"{config.path}: {way} set to {new!r} changes more than its span")
    _compare(report, config, edits, way, "set", new)


def _delete(report: Report, config: Config, entry: Entry, way: tuple[Any, ...]) -> None:
    edits = config.edits(entry, None)
    if edits is None:
        _decline(report, config, entry, way, "deletion")
        return
    report.counts["deletion"] += 1
    for edit in edits:
        outside = config.text[edit.start : entry.start] + config.text[entry.end : edit.end].partition("\n")[2]
        if "#" in outside or edit.text not in ("", "{}", " {}"):
            report.failures.append(f"{config.path}: {way} deleted takes more than its own: {edit}")
    _compare(report, config, edits, way, "delete", None)


def _insert(report: Report, config: Config, entry: Entry, way: tuple[Any, ...], chance: random.Random) -> None:
    value = chance.choice(
        [False, "16", 1e-05, {"use_reentrant": False}, ["a", "it: b", {"c": 1}], [], {"d": {"e": "f"}}]
    )
    pair = Pair("a new-key", value)
    before = chance.random() < 0.5
    edits = config.edits(entry, (pair, entry) if before else (entry, pair))
    if edits is None:
        _decline(report, config, entry, way, "insertion")
        return
    report.counts["insertion"] += 1
    if any(edit.start < edit.end for edit in edits):
        report.failures.append(f"{config.path}: an insertion beside {way} takes something away")
    _compare(report, config, edits, way, "before" if before else "after", pair)


def _decline(report: Report, config: Config, node: Value | Entry, way: tuple[Any, ...], what: str) -> None:
    reason = why_not(_site(config), node) or "not sure"
    report.counts[f"{what.split()[0]}, declined: {reason}"] += 1
    report.declined.append(f"{config.path}: {way} {what}: {reason}")


def _site(config: Config) -> Any:
    return site(config.path, config.text, config.format, config.roots)


def _compare(
    report: Report, config: Config, edits: tuple[Edit, ...], way: tuple[Any, ...], what: str, new: Any
) -> None:
    intended = copy.deepcopy(meaning(config.format, config.text))
    holder = intended
    for step in way[:-1]:
        holder = holder[step]
    if what == "set":
        holder[way[-1]] = new
    elif what == "delete":
        del holder[way[-1]]
    else:
        at = list(holder).index(way[-1]) + (what == "after")
        items = list(holder.items())
        holder.clear()
        holder.update([*items[:at], (new.key, new.value), *items[at:]])
    try:
        found = meaning(config.format, splice(config.text, edits))
    except (ValueError, yaml.YAMLError) as error:
        report.failures.append(f"{config.path}: {way} {what} {new!r}: no longer parses: {error}")
        return
    if not _same_order(intended, found, strict=config.format == "json"):
        report.failures.append(f"{config.path}: {way} {what} {new!r}: means something else: {edits}")


def _same_order(intended: Any, found: Any, *, strict: bool) -> bool:
    """Order of keys counts in JSON; merge keys and TOML's headers make it a matter of taste elsewhere."""
    return alike(intended, found) if strict else alike(sorted_keys(intended), sorted_keys(found))


def sorted_keys(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: sorted_keys(data[key]) for key in sorted(data, key=lambda k: (type(k).__name__, str(k)))}
    if isinstance(data, (list, tuple)):
        return type(data)(map(sorted_keys, data))
    return data


def files(directories: Iterable[str]) -> Iterator[Path]:
    for directory in directories:
        for path in sorted(Path(directory).rglob("*")):
            small = path.suffix in (".yaml", ".yml", ".json", ".toml") and ".git" not in path.parts and path.is_file()
            if small and path.stat().st_size < LARGEST:
                yield path


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directories", nargs="+")
    parser.add_argument("--scalars", type=int, default=50)
    parser.add_argument("--entries", type=int, default=10)
    parser.add_argument("--declined", action="store_true", help="list every change that was declined")
    options = parser.parse_args()
    total = Report()
    for path in files(options.directories):
        try:
            text = path.read_bytes().decode("utf-8-sig")
        except UnicodeDecodeError:
            total.counts["files that are not UTF-8"] += 1
            continue
        found = sweep(str(path), text, options.scalars, options.entries)
        total.add(found)
        for line in [*(found.declined if options.declined else ()), *found.failures]:
            print(line, flush=True)
    for what, count in sorted(total.counts.items()):
        print(f"{count:8,}  {what}")
    return bool(total.failures)


if __name__ == "__main__":
    sys.exit(main())
