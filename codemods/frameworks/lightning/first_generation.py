"""Signs that code was written for Lightning 1.x, where no requirement says which versions it is for."""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterable, Iterator

from codemods.analysis.pinned_in_code import pins
from codemods.flow.answers import Answer, question, unless, yes
from codemods.model.edits import Evidence
from codemods.model.names import LIGHTNING_MODULE, canonical
from codemods.project.index import Index, Ref
from codemods.project.pins import TWINS
from codemods.project.ranges import some
from codemods.rules.file_context import FileContext
from codemods.sources.manifest.installs import installs
from codemods.sources.manifest.requirement import Include
from codemods.syntax.facts import Facts

HOOKS = ("training_epoch_end", "validation_epoch_end", "test_epoch_end", "predict_epoch_end")
"""Hooks of a LightningModule that 2.0 removed."""
GONE = tuple(
    f"lightning.pytorch.{module}"
    for module in (
        *("metrics", "lite", "profiler", "callbacks.base", "callbacks.gpu_stats_monitor", "callbacks.quantization"),
        *("core.lightning", "core.memory", "loggers.base", "loggers.test_tube", "overrides.data_parallel"),
        *("plugins.training_type", "accelerators.gpu", "trainer.supporters", "utilities.apply_func", "utilities.cli"),
        *("utilities.argparse_utils", "utilities.cloud_io", "utilities.distributed", "utilities.metrics"),
    )
)
"""Modules of 1.x that Lightning 2.6.6 does not have."""
DOCKERFILES = ("Dockerfile", "docker/Dockerfile", ".devcontainer/Dockerfile")
"""Where a project keeps the file that installs its requirements."""
_SIGNS = (*(hook.encode() for hook in HOOKS), b"optimizer_idx", b"from_argparse_args", b"lightning")
_RUN = re.compile(r"\s*RUN\s+(?:--\S+\s+)*(.*)", re.IGNORECASE)


def first_generation(ctx: FileContext) -> Evidence | None:
    """The first place in the project of a file that only Lightning 1.x can run, or installs it."""
    index, root = ctx.index, ctx.index.root(ctx.path)
    return index.recall((first_generation, root), lambda: next(_signs(ctx.path, index), None))


@question
def is_for_lightning_2(ctx: FileContext, removed: Iterable[Evidence]) -> Answer:
    """Whether a program is for Lightning 2: its requirements say, or nothing in it is for 1.x only.

    Args:
        removed: the arguments beside the precision that 2.0 removed, or may have.
    """
    target = ctx.target("lightning")
    if target is not None and target.spec:
        return yes()
    sign = first_generation(ctx)
    return unless([*([sign] if sign is not None else []), *removed])


def allowed(ctx: FileContext) -> dict[str, str]:
    """The range of Lightning that the names of 2 need, where the requirements say which versions there may be."""
    target = ctx.target("lightning")
    return {"lightning": ">=2.0"} if target is not None and target.spec else {}


def _signs(path: str, index: Index) -> Iterator[Evidence]:
    for other in index.search(path, _SIGNS):
        if (facts := index.facts(other)) is not None:
            yield from _of_file(index, facts)
    for place in DOCKERFILES:
        if index.exists(other := posixpath.join(index.root(path), place)):
            yield from _installed(other, index.text(other) or "")
    yield from pins(index, path, "lightning", ">=2.0")


def _of_file(index: Index, facts: Facts) -> Iterator[Evidence]:
    for each in facts.imports:
        if canonical(each.path or each.target).startswith(GONE):
            yield Evidence(facts.path, each.line, f"`{each.path or each.target}` is a module of Lightning 1.x")
    for name, klass in facts.classes.items():
        methods = [m for m in klass.methods.values() if m.name in HOOKS or "optimizer_idx" in m.parameters]
        if methods and index.descends(Ref(facts.path, name), LIGHTNING_MODULE) is not False:
            first = methods[0]
            old = first.name in HOOKS
            why = f"Lightning 2.0 removed `{first.name}`" if old else f"`{first.name}` takes an `optimizer_idx`"
            yield Evidence(facts.path, first.line, why)
    text = index.text(facts.path) or ""
    if "from_argparse_args" in text:
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Attribute) and node.attr == "from_argparse_args":
                yield Evidence(facts.path, node.lineno, "Lightning 2.0 removed `from_argparse_args`")


def _installed(path: str, text: str) -> Iterator[Evidence]:
    """The commands of a Dockerfile that install Lightning 1.x."""
    lines = text.replace("\\\r\n", " \0").replace("\\\n", " \0").splitlines()
    number = 1
    for line in lines:
        if match := _RUN.fullmatch(line):
            for command in re.split(r"&&|;|\|\|", match[1].replace("\0", " ")):
                for each in installs(command):
                    if not isinstance(each, Include) and each.package in TWINS and each.specs:
                        if not some(each.specs, ">=2.0"):
                            yield Evidence(path, number, f"{each.package}{' || '.join(each.specs)} is installed")
        number += 1 + line.count("\0")
