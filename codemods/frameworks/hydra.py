"""Hydra's configuration trees: which tables become arguments of Lightning's Trainer or Fabric.

`_target_` names what a table becomes. A file of a config group (`trainer/gpu.yaml`) that inherits from one with a
target (`defaults: [default]`) is merged into it, and so is `trainer:` in the configurations that stand above the group:
the primary one beside it, and those of other groups that say `# @package _global_`.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping

from codemods.model.names import FABRIC, LIGHTNING_TRAINER, canonical
from codemods.project.index import Index
from codemods.sources.config import Array, Config, Scalar, Table, Value

_SUFFIXES = (".yaml", ".yml")
_PACKAGE = re.compile(r"#\s*@package\s+(\S+)")
_GROUPS = frozenset({"trainer", "fabric"})
"""Folders whose files are taken to be merged into their `default`, if they do not say so themselves."""

_DEEPEST = 4
"""Folders between a configuration and the group that it overrides; steps along lists of defaults."""


def trainer_tables(root: Table, config: Config, index: Index) -> Iterator[Table]:
    """The tables below `root` that Hydra turns into, or merges into, a Trainer or Fabric of Lightning."""
    if not config.path.endswith(_SUFFIXES):
        return
    yield from (table for table in _tables(root) if _is_lightning(table))
    package = _package(config.text)
    if package not in (None, "_global_"):
        return
    groups = _groups(config.path, index)
    if package is None and _overrides_sibling(root, config, index, groups):
        yield root
        return
    for entry in root.entries:
        name, value = entry.key.value, entry.value
        if isinstance(name, str) and isinstance(value, Table) and value.entry("_target_") is None:
            if _is_override(name, root, config, index, groups):
                yield value


def _package(text: str) -> str | None:
    """What `# @package …`, among the comments at the head of a file, says."""
    for line in text.splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            return None
        if found := _PACKAGE.match(line.strip()):
            return found[1]
    return None


def _tables(value: Value) -> Iterator[Table]:
    """`value` and every table in it, as far as they are tables."""
    waiting = [value]
    while waiting:
        match waiting.pop(0):
            case Table() as table:
                yield table
                waiting += [entry.value for entry in table.entries]
            case Array(items=items):
                waiting += items


def _target(table: Value | None) -> str | None:
    value = table.get("_target_") if isinstance(table, Table) else None
    return value.value if isinstance(value, Scalar) and isinstance(value.value, str) else None


def _is_lightning(table: Value | None) -> bool:
    target = _target(table)
    return target is not None and canonical(target) in LIGHTNING_TRAINER | FABRIC


def _root(path: str, index: Index) -> Table | None:
    """The table of a YAML file with one document."""
    document = index.document(path)
    if isinstance(document, Config) and len(document.roots) == 1 and isinstance(document.roots[0], Table):
        return document.roots[0]
    return None


def _defaults(root: Table) -> Iterator[str]:
    """The files of its own folder that a configuration inherits from: the bare names in its list of defaults."""
    listed = root.get("defaults")
    for item in listed.items if isinstance(listed, Array) else ():
        if isinstance(item, Scalar) and isinstance(item.value, str) and "/" not in item.value:
            name = item.value.partition("@")[0]
            if name != "_self_":
                yield name


def _inherited(root: Table, path: str, index: Index, depth: int = _DEEPEST) -> Iterator[Table]:
    """The configurations of its own folder that one inherits from, directly or through others."""
    for name in _defaults(root) if depth else ():
        for suffix in _SUFFIXES:
            there = posixpath.join(posixpath.dirname(path), name.removesuffix(suffix) + suffix)
            if (found := _root(there, index)) is not None:
                yield found
                yield from _inherited(found, there, index, depth - 1)
                break


def _groups(path: str, index: Index) -> Mapping[str, list[str]]:
    """The folders of the project with files in which something has a target."""

    def found() -> Mapping[str, list[str]]:
        groups: dict[str, list[str]] = {}
        for each in index.search(path, (b"_target_",), suffixes=_SUFFIXES):
            groups.setdefault(posixpath.dirname(each), []).append(each)
        return groups

    return index.recall((_groups, index.root(path)), found)


def _is_group(folder: str, groups: Mapping[str, list[str]], index: Index) -> bool:
    """Whether files of a folder have targets at their top, and all of them are Lightning's."""

    def found() -> bool:
        roots = (root for path in groups[folder] if (root := _root(path, index)) is not None)
        targets = [_is_lightning(root) for root in roots if _target(root)]
        return bool(targets) and all(targets)

    return folder in groups and index.recall((_is_group, folder), found)


def _overrides_sibling(root: Table, config: Config, index: Index, groups: Mapping[str, list[str]]) -> bool:
    """Whether a file of a config group is merged into one that becomes a Trainer or Fabric."""
    folder = posixpath.dirname(config.path)
    if root.entry("_target_") is not None or not _is_group(folder, groups, index):
        return False
    if any(_is_lightning(each) for each in _inherited(root, config.path, index)):
        return True
    return posixpath.basename(folder) in _GROUPS and any(
        _is_lightning(_root(posixpath.join(folder, "default" + suffix), index)) for suffix in _SUFFIXES
    )


def _is_override(name: str, root: Table, config: Config, index: Index, groups: Mapping[str, list[str]]) -> bool:
    """Whether the table `name` of a configuration is merged into one that becomes a Trainer or Fabric."""
    folder = posixpath.dirname(config.path)
    for _ in range(_DEEPEST if _package(config.text) else 1):
        if _is_group(posixpath.join(folder, name), groups, index):
            return True
        if not folder:
            break
        folder = posixpath.dirname(folder)
    return any(_is_lightning(each.get(name)) for each in _inherited(root, config.path, index))
