"""What is said of a removed name, and the repair with its floor."""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from codemods.analysis.mentions import Occurrence, mentions
from codemods.analysis.places import file_of
from codemods.analysis.python_context import PythonContext
from codemods.flow.answers import Answer, question, unknown, unless, yes
from codemods.frameworks.autocast.version_tests import version_tested
from codemods.frameworks.minimum_versions import with_floor
from codemods.frameworks.removed_names.tables import RemovedName, requirements
from codemods.model.edits import Consequence, Evidence
from codemods.project import ranges, versions
from codemods.project.importing import IMPORTING_BY_TEXT
from codemods.rules.file_context import FileContext
from codemods.rules.rule import Draft, Remedy, Rule
from codemods.sources.manifest import Manifest, Requirement
from codemods.syntax.module import dotted
from codemods.syntax.verbs import Verb

_NEWEST = "9999"
"""Newer than all releases."""
_AUTO = "transformers.Auto"
_MODEL = "transformers.PreTrainedModel"
PACKAGES = {"lightning": ("lightning", "pytorch_lightning")}
"""What distributions are imported as, where it is not their name."""
_ENVIRONMENTS = ("conda", "mamba", "micromamba", "venv", "virtualenv", "docker", "singularity", "apptainer", "pixi")
_APART = frozenset((*_ENVIRONMENTS, ".venv", "envs"))
"""Words of commands that run a program beside other releases of the libraries."""


def repair(row: RemovedName, verbs: Sequence[Verb], ctx: FileContext) -> Remedy:
    """The repair, with the floor of the library raised where the project's requirements can hold it."""
    return with_floor(ctx, row.library, Remedy(verbs, title(row), requires=floor_of(row)))


def floor_of(row: RemovedName) -> dict[str, str]:
    """The releases in which the repaired code means what the old code meant."""
    if row.kind == "delete" and row.harmless is None:
        return {row.library: f">={row.deprecated or row.gone}"}
    return {row.library: f">={row.since}"} if row.since else {}


def title(row: RemovedName) -> str:
    return f"Use `{row.new}`" if row.kind == "rename" else f"Delete `{row.old}`"


def finding(
    rule: Rule,
    row: RemovedName,
    node: ast.AST | object,
    ctx: FileContext,
    remedy: Remedy | None,
    is_bug: Sequence[Answer] = (),
    message: str = "",
) -> Iterator[Draft]:
    """What is said of an old name at a place: by default, what its row says."""
    installed = library_is_installed(ctx, row)
    if not installed.is_yes or (ctx.upgrade(row.library) is not None and any(_by_address(ctx, row))):
        remedy = None  # the release stays what it is
    gone = bool(row.gone) and versions.may(ctx.target(row.library), row.removed)
    consequence = Consequence.SILENT if row.silent else Consequence.RAISES
    if row.silent and row.kind == "delete" and (remedy is not None or row.harmless is None):
        consequence = Consequence.DEPRECATED  # it asks for what is always done now (data_set)
    if remedy is not None and gone and consequence is Consequence.RAISES:
        remedy = replace(remedy, is_right=[*remedy.is_right, release_is_told(ctx, row)])
    draft = rule.finding(
        node,
        message=message or said(row, gone=gone),
        bites={row.library: row.removed} if gone else row.affected,
        consequence=consequence if gone else Consequence.DEPRECATED,
        is_bug=[
            *is_bug,
            installed,
            release_is_known(ctx, row),
            no_importer_asks(ctx, row),
            runs_in_this_environment(ctx),
            *_of_models(ctx, row),
        ],
    )
    yield replace(draft, remedy=remedy) if remedy is not None and (remedy.fix or remedy.also) else draft


@question
def release_is_told(ctx: FileContext, row: RemovedName) -> Answer:
    """Whether a person names the release (`--target`, the configuration, `upgrade`), not only a requirement.

    Code with a name that is gone raises whenever it runs: the code says one release and the requirement another, and
    which of the two is installed is not known (`beside_a_pin`).
    """
    target = ctx.target(row.library)
    if target is None or target.given or ctx.upgrade(row.library) is not None:
        return yes()
    if not versions.surely(target, row.removed):
        return yes()
    why = f"this asks for {target.package}{target.spec}, under which the code always fails: is that what is installed?"
    asking = (_line(path, ctx, each, why) for path, each in ctx.requirements(row.library))
    return unknown(next(asking, Evidence(target.source, 1, why)))


@question
def library_is_installed(ctx: FileContext, row: RemovedName) -> Answer:
    """Whether the project holds no copy of the library, which may be what it imports (`a_fork`)."""
    word = (row.owner or row.old).rpartition(".")[2]
    packages = PACKAGES.get(row.library, (row.library,))
    for package in packages:  # a script may put a folder around it on the path (`beside_a_copy`)
        for copy in _around(ctx.path, package):
            if ctx.index.exists(copy):
                return unknown(Evidence(copy, 1, f"this may be the `{package}` that is imported"))
    for path in ctx.index.search(ctx.path, (word.encode(),)):
        for package in packages:
            above, inside, _ = f"/{path}".rpartition(f"/{package}/")
            is_a_part = inside and ctx.index.exists(f"{above}/{package}/__init__.py".lstrip("/"))
            if is_a_part or posixpath.basename(path) == f"{package}.py":  # a_module_of_its_name
                return unknown(Evidence(path, 1, f"this may be the `{package}` that is imported"))
    return yes()


def _around(path: str, package: str) -> Iterator[str]:
    """Where a copy of a package would lie in the folders around a file (`a_fork_with_its_sources`)."""
    folders = path.split("/")[:-1]
    for number in range(len(folders) + 1):
        for inner in ([package], ["src", package], [package, "src", package]):
            yield "/".join([*folders[:number], *inner, "__init__.py"])


@question
def runs_in_this_environment(ctx: FileContext) -> Answer:
    """Whether nothing in sight runs a file in an environment of its own, with other releases (`run_by_conda`)."""
    name = posixpath.basename(ctx.path)
    return unless(_run_elsewhere(ctx, name) if isinstance(ctx, PythonContext) else ())


def _run_elsewhere(ctx: PythonContext, name: str) -> Iterator[Evidence]:
    """The texts that name a file beside a word for an environment: in one command, or in the list of its parts."""
    for path in ctx.index.search(ctx.path, (name.encode(),)):
        module = ctx.index.syntax(path) if path != ctx.path and ctx.index.says(path, *_ENVIRONMENTS) else None
        for text in module.all(ast.Constant) if module is not None else ():
            if isinstance(text.value, str) and posixpath.basename(text.value.split(" ")[-1]) == name:
                above = module.parent(text) if module is not None else None
                parts = above.elts if isinstance(above, ast.List | ast.Tuple) else [text]
                words = " ".join(str(each.value) for each in parts if isinstance(each, ast.Constant))
                if not _APART.isdisjoint(re.split(r"[\s/]+", words)):
                    yield Evidence(path, text.lineno, f"`{name}` is run in an environment of its own here")


@question
def no_importer_asks(ctx: FileContext, row: RemovedName) -> Answer:
    """Whether this file is surely imported where it is used: by no test of the library's release (`for_old_releases`).

    Nor by a name that only a run can tell (`chosen_by_a_made_name`), nor where its error is caught (`suppressed`).
    """
    return unless((*_asking(ctx, row), *_made(ctx)) if isinstance(ctx, PythonContext) else ())


def _made(ctx: PythonContext) -> Iterator[Evidence]:
    """The places that import a module whose name is made in a run, and that may be this one."""
    stem = posixpath.splitext(posixpath.basename(ctx.path))[0]
    for path in ctx.index.search(ctx.path, IMPORTING_BY_TEXT):
        module = ctx.index.syntax(path) if path != ctx.path else None
        for call in module.all(ast.Call) if module is not None else ():
            last = (dotted(call.func) or "").rpartition(".")[2]
            if last in ("import_module", "__import__") and call.args and _may_name(call.args[0], stem):
                yield Evidence(path, call.lineno, "this may choose among modules by a release")


def _may_name(name: ast.expr, stem: str) -> bool:
    """Whether a text that is made in a run may end with the name of a module."""
    match name:
        case ast.Constant():
            return False
        case (
            ast.JoinedStr(values=[ast.Constant(value=str(start)), *_]) | ast.BinOp(left=ast.Constant(value=str(start)))
        ):
            return stem.startswith(start.rpartition(".")[2])
    return True


def _asking(ctx: PythonContext, row: RemovedName) -> Iterator[Evidence]:
    for path in ctx.index.importing(ctx.path):
        facts = ctx.index.facts(path) if path != ctx.path else None
        chosen = (each for each in facts.imports if not each.type_checking) if facts else ()
        lines = {each.line for each in chosen if file_of(ctx.index, path, each) == ctx.path}
        there = ctx.other(path) if lines else None
        for node in there.all(ast.Import, ast.ImportFrom) if there is not None else ():
            if there is None or node.lineno not in lines:
                continue
            if version_tested(there, node, row.library):
                yield there.evidence(node, f"this file may be for other releases of {row.library}")
            elif _is_caught(there, node):
                yield there.evidence(node, "an error of this file may be caught here")


def _is_caught(ctx: PythonContext, statement: ast.stmt) -> bool:
    """Whether a statement stands in a `try` with handlers, or under a `with`, which may be `contextlib.suppress`."""
    around = [each for each in ctx.ancestors(statement) if isinstance(each, (ast.Try, ast.With))]
    return any(isinstance(each, ast.With) or (each.handlers and statement in each.body) for each in around)


def _of_models(ctx: FileContext, row: RemovedName) -> Sequence[Answer]:
    return [no_model_is_registered(ctx)] if row.owner.startswith(_MODEL) and isinstance(ctx, PythonContext) else []


@question
def no_model_is_registered(ctx: PythonContext) -> Answer:
    """Whether `AutoModel` gives models of Transformers only: a registered one takes what it wants (`registered`)."""
    return unless(
        each.evidence("the model may be of this class")
        for each in mentions(ctx, "register", "register_for_auto_class")
        if each.word != "register" or any(name.startswith(_AUTO) for name in _of_receiver(each))
    )


def _of_receiver(occurrence: Occurrence) -> frozenset[str]:
    return occurrence.ctx.origin(occurrence.receiver) if occurrence.receiver is not None else frozenset()


@question
def release_is_known(ctx: FileContext, row: RemovedName) -> Answer:
    """Whether the newest release that the project allows can be installed beside the rest of what it asks for.

    A pin of torch or Transformers keeps what needs a newer one where it is (`beside_an_old_pin`).
    """
    if ctx.upgrade(row.library) is not None:
        return yes()
    held = [
        (path, each)
        for package, needed in requirements(row.library, _NEWEST).items()
        if not versions.may(ctx.target(package), needed)
        for path, each in ctx.requirements(package)
        if each.specs is not None
    ]
    why = f"which {row.library} goes with this is not known"
    return unless([*_asks_for_another(ctx, row), *(_line(path, ctx, each, why) for path, each in held)])


def _asks_for_another(ctx: FileContext, row: RemovedName) -> Iterator[Evidence]:
    """The requirements that forbid the release which a configuration names: they are of a folder of its own.

    (test_releases_said)
    """
    target = ctx.target(row.library)
    if target is None or not target.given or not target.source.endswith(".toml"):
        return
    for path, each in ctx.requirements(row.library):
        if each.specs is not None and not ranges.meet((target.spec,), each.specs):
            yield _line(path, ctx, each, f"this asks for another {row.library} than {target.source} names")


def _by_address(ctx: FileContext, row: RemovedName) -> Iterator[tuple[str, Requirement]]:
    """What asks for a commit of a library, which no upgrade changes."""
    yield from ((path, each) for path, each in ctx.requirements(row.library) if each.specs is None)


def _line(path: str, ctx: FileContext, requirement: Requirement, why: str) -> Evidence:
    document = ctx.index.document(path)
    return Evidence(path, document.line(requirement) if isinstance(document, Manifest) else 1, why)


def said(row: RemovedName, *, gone: bool) -> str:
    """What became of an old name: in one line, with the release, and with what a person has to know."""
    release = f"{row.library} {row.gone if gone else row.deprecated}"
    last = row.owner.rpartition(".")[2]
    if row.place == "value":
        argument, _, value = row.old.partition("=")
        what = f"`{argument}={value if value in ('None', 'True', 'False') else repr(value)}` of `{last}`"
    else:
        what = f"`{row.old}` of `{last}`" if row.owner else f"`{row.old}`"
    became = "is deprecated" if not gone else "is refused" if row.place == "value" else "is gone"
    if gone and row.silent:
        became = "is not called" if row.place == "hook" else "is ignored"
    text = f"{what} {became} since {release}"
    if row.kind == "rename":
        return f"{text}: `{row.new}`"
    return f"{text}. {row.decide.rstrip('.')}" if row.decide else text
