"""What a library once had and no longer has, where no row says what became of it: only the release is known."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from codemods.analysis.calls import argument, literal
from codemods.analysis.python_context import PythonContext
from codemods.analysis.values import possible_values
from codemods.flow.answers import unknown
from codemods.frameworks.autocast.version_tests import version_tested
from codemods.frameworks.removed_names import tables
from codemods.frameworks.removed_names.arguments import only_the_library_takes_it
from codemods.frameworks.removed_names.drafts import PACKAGES, finding
from codemods.frameworks.removed_names.own_uses import OwnUse, uses
from codemods.frameworks.removed_names.owners import instance_of, meant, of_class, owners_of
from codemods.frameworks.removed_names.tables import RemovedName, as_one
from codemods.project import ranges
from codemods.project.index import Ref
from codemods.rules.file_context import FileContext
from codemods.rules.rule import Draft, Rule
from codemods.syntax.module import Function, is_none, own, parameters

_FIFTH = "5.0.0"
"""Transformers 5, which dropped what models and configurations had held for others."""
_TRAINER = "transformers.Trainer"
_MODEL, _GENERATING = "transformers.PreTrainedModel", "transformers.GenerationMixin"
_CALLBACK = "transformers.TrainerCallback"
_LOADING = frozenset({"datasets.load_dataset", "datasets.load_dataset_builder"})
_MODULES = "transformers.models"
_INSERTED = 7, "compute_loss_func", "4.46.0"
"""A parameter of the Trainer's that came before others: its place, name and release."""
_BATCH_HOOK = re.compile("on_(validation|test)_batch_(start|end)")
_WITH_HOOKS = frozenset({"lightning.pytorch.Callback", "lightning.pytorch.LightningModule"})
_MIXIN = "4.52.0"
"""The release of which `PreTrainedModel` is no longer a `GenerationMixin`: transformers/modeling_utils.py."""
_CLASSES = re.compile(r"transformers\.\w+For(\w+Classification|QuestionAnswering|MaskedLM|MultipleChoice)\b")
"""The classes of models that generate nothing."""
_RANK, _DASHED = "--local_rank", "2.0.0"
"""The option that torch's launcher gave to programs, and the release that spells it with a dash."""
_STARTING = (".py", ".sh", ".md", ".rst", ".txt", ".yml", ".yaml", ".ipynb")
"""The files that may say how a program is started."""
_TIED = "_tied_weights_keys"
"""The attribute of a model's class that says which of its weights are the same."""
_GENERATES = "prepare_inputs_for_generation"
"""The method of a model's class that says how it generates."""


def gone_imports(rule: Rule, statement: ast.ImportFrom, ctx: PythonContext) -> Iterator[Draft]:
    """What is imported from a module that no longer has it, where no row of a table says more."""
    if statement.level or not statement.module or ctx.enclosing(statement, ast.Try) is not None:
        return
    for alias in statement.names:
        parts = as_one(f"{statement.module}.{alias.name}").split(".")
        around = [".".join(parts[: n + 1]) for n in range(len(parts))]
        if any(each in tables.of_place("name") for each in around):
            continue
        row = next((tables.gone_names()[each] for each in around if each in tables.gone_names()), None)
        if row is None and around[1:] and around[1] == _MODULES and (found := tables.gone_models().get(alias.name)):
            row = replace(found, old=around[-1])
        release = ctx.upgrade(row.library) if row is not None else None
        if row is None or release is None or not ranges.every((f"=={release}",), row.removed):
            continue
        bound = alias.asname or alias.name
        if version_tested(ctx, statement, row.library) or any(":" in o for o in ctx.index.imported(ctx.path, bound)):
            continue
        yield from finding(rule, row.spelled(statement.module.partition(".")[0]), alias, ctx, None)


def gone_arguments(rule: Rule, call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    """The arguments of a call that its owner once took."""
    given = [each for each in call.keywords if each.arg in tables.gone_arguments()]
    for each in given:
        name = str(each.arg)
        row = _row(ctx, tables.gone_arguments()[name], owners_of(ctx, call))
        if row is not None and not version_tested(ctx, call, row.library):
            yield from finding(rule, row, each, ctx, None, (only_the_library_takes_it(ctx, call, name),))


def shifted_arguments(rule: Rule, call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    """What a call gives by position behind the place of a parameter that is new."""
    place, name, release = _INSERTED
    given = call.args[place:]
    if not given or any(isinstance(each, ast.Starred) for each in call.args):
        return
    row = RemovedName("transformers", "argument", _TRAINER, name, "decision", gone=release)
    if _TRAINER not in owners_of(ctx, call) or _row(ctx, {"": row}, ("",)) is None:
        return
    if not version_tested(ctx, call, row.library):
        said = f"`{name}` is argument {place + 1} of `Trainer` since transformers {release}: give what follows by name"
        yield from finding(rule, row, given[0], ctx, None, message=said)


def gone_members(rule: Rule, node: ast.Attribute, ctx: PythonContext) -> Iterator[Draft]:
    """A member that objects of a class once had: of one that is known, or whose name means nothing else."""
    fields = {o: row for o, row in tables.gone_arguments().get(node.attr, {}).items() if tables.is_field(row)}
    rows = {**tables.gone_members().get(node.attr, {}), **fields}
    if not rows or not isinstance(node.ctx, ast.Load):
        return
    known = {row.owner for row in tables.rows_of("attribute").get(node.attr, ())}
    rows = {o: row for o, row in rows.items() if o not in known}
    owners, own = of_class(ctx, node) if ctx.origin(node) else instance_of(ctx, node.value)
    if any(next(ctx.index.assigned(ref, node.attr), None) or ctx.index.method(ref, node.attr) for ref in own):
        return
    if _MODEL in owners:
        owners = (*owners, _GENERATING)  # as models were (of_a_model_that_generates)
    if (row := _row(ctx, rows, owners)) is not None and not version_tested(ctx, node, row.library):
        yield from finding(rule, row, node, ctx, None)
    elif not owners and not known and node.attr in tables.telling_members():
        row = _row(ctx, rows, tuple(rows))
        if row is None or not _imports(ctx, row) or uses(ctx.index, ctx.path, node.attr) - {OwnUse.READ}:
            return
        if ctx.index.search(ctx.path, (f"def {node.attr}".encode(),)):
            return
        doubt = unknown(ctx.evidence(node, f"what has `{node.attr}` here is not known"))
        for draft in finding(rule, row, node, ctx, None, (doubt,)):
            yield replace(draft, message=f"if it is {row.library}'s: {draft.message}")


def gone_variables(rule: Rule, node: ast.Subscript, ctx: PythonContext) -> Iterator[Draft]:
    """`os.environ["WANDB_DISABLED"] = …` of a variable that the library no longer reads."""
    name = literal(node.slice)
    row = tables.gone_variables().get(name) if isinstance(name, str) and isinstance(node.ctx, ast.Store) else None
    if row is None or not ctx.means(node.value, "os.environ") or _row(ctx, {"": row}, ("",)) is None:
        return
    doubt = unknown(ctx.evidence(node, f"something else may read `{name}`"))
    yield from finding(
        rule, row, node, ctx, None, (doubt,), message=f"{row.library} {row.gone} no longer reads `{name}`"
    )


def unread_switches(rule: Rule, node: ast.Attribute, ctx: PythonContext) -> Iterator[Draft]:
    """`model.is_parallelizable = True`: what somebody sets on a model, and its Trainer no longer reads."""
    if not isinstance(node.ctx, ast.Store) or node.attr not in tables.unread_switches():
        return
    row = RemovedName("transformers", "attribute", "transformers.PreTrainedModel", node.attr, "decision", gone=_FIFTH)
    row = replace(row, silent=True)
    if _row(ctx, {"": row}, ("",)) is None or not _imports(ctx, row) or version_tested(ctx, node, row.library):
        return
    if OwnUse.READ in uses(ctx.index, ctx.path, node.attr):
        return  # a Trainer of the project reads it (read_by_its_own_trainer)
    doubt = unknown(ctx.evidence(node, f"what has `{node.attr}` here is not known"))
    said = f"if it is a model's: no Trainer reads `{node.attr}` since transformers {_FIFTH}; `device_map` says it"
    yield from finding(rule, row, node, ctx, None, (doubt,), message=said)


def called_on_an_object(rule: Rule, call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    """`model.load_from_checkpoint(path)`: what a library lets only a class call."""
    if not isinstance(call.func, ast.Attribute) or ctx.origin(call.func):
        return
    owners, own = instance_of(ctx, call.func.value)
    row = _row(ctx, tables.of_the_class(), tuple(f"{each}.{call.func.attr}" for each in owners))
    if row is None or version_tested(ctx, call, row.library):
        return
    if any(ctx.index.method(ref, row.old) for ref in own):
        return
    said = (
        f"only a class may call `{row.old}` since {row.library} {row.gone}: call it on the class, and take its result"
    )
    yield from finding(rule, row, call, ctx, None, message=said)


def lost_bases(rule: Rule, klass: ast.ClassDef, ctx: PythonContext) -> Iterator[Draft]:
    """`class Model(PreTrainedModel)` that says how it generates, and is no `GenerationMixin` any more."""
    own_methods = {each.name for each in klass.body if isinstance(each, ast.FunctionDef)}
    if _GENERATES not in own_methods or "generate" in own_methods:
        return
    row = RemovedName("transformers", "attribute", "transformers.PreTrainedModel", "generate", "decision", gone=_MIXIN)
    if _row(ctx, {"": row}, ("",)) is None or not _is_a_model(ctx, klass) or version_tested(ctx, klass, row.library):
        return
    said = f"`PreTrainedModel` is no `GenerationMixin` since transformers {_MIXIN}, so `{klass.name}` has no `generate`"
    yield from finding(rule, row, klass, ctx, None, message=f"{said}: add `transformers.GenerationMixin` to its bases")


def optional_parameters(rule: Rule, function: Function, ctx: PythonContext) -> Iterator[Draft]:
    """`def on_validation_batch_end(…, dataloader_idx)`: given by Lightning 2 only where there are several loaders."""
    given = function.args
    required = given.args[: len(given.args) - len(given.defaults)]
    if not _BATCH_HOOK.fullmatch(function.name) or not any(each.arg == "dataloader_idx" for each in required):
        return
    klass = ctx.klass(function) if isinstance(ctx.parent(function), ast.ClassDef) else None
    above = {name for base in ctx.index.lineage(klass).external for name in meant(base)} if klass is not None else set()
    row = RemovedName("lightning", "hook", "lightning.pytorch.Callback", function.name, "decision", gone="2.0.0")
    if above.isdisjoint(_WITH_HOOKS) or _row(ctx, {"": row}, ("",)) is None:
        return
    if version_tested(ctx, function, row.library):
        return
    said = f"`{function.name}` is given `dataloader_idx` only where there are several loaders since lightning 2.0.0"
    yield from finding(rule, row, function, ctx, None, message=f"{said}: write `dataloader_idx=0`")


def callback_tokenizers(rule: Rule, function: Function, ctx: PythonContext) -> Iterator[Draft]:
    """`def on_save(…, tokenizer, **kwargs)` or `kwargs["tokenizer"]`: callbacks are given `processing_class`."""
    klass = ctx.klass(function) if isinstance(ctx.parent(function), ast.ClassDef) else None
    if klass is None or not function.name.startswith("on_"):
        return
    row = RemovedName("transformers", "hook", _CALLBACK, function.name, "decision", gone="4.46.1")
    if _CALLBACK not in ctx.index.lineage(klass).external or _row(ctx, {"": row}, ("",)) is None:
        return
    said = f"callbacks are given `processing_class` since transformers {row.gone}, and no `tokenizer`"
    spread = function.args.kwarg.arg if function.args.kwarg is not None else ""
    places: list[ast.AST] = [each for each in parameters(function) if each.arg == "tokenizer"]
    for node in own(function):
        match node:
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value="tokenizer")) if name == spread:
                places.append(node)
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=name), attr="get" | "pop"),
                args=[ast.Constant(value="tokenizer"), *_],
            ) if name == spread:
                places.append(node)
    for place in places if not version_tested(ctx, function, row.library) else ():
        yield from finding(rule, row, place, ctx, None, message=said)


def scripts_of_data(rule: Rule, call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    """`load_dataset("data.py")`: a script, which is no longer run."""
    path = argument(call, "path", 0)
    given = literal(path) if path is not None else None
    if not isinstance(given, str) or not given.endswith(".py") or not ctx.means(call.func, _LOADING):
        return
    row = RemovedName("datasets", "value", "datasets.load_dataset", "path", "decision", gone="4.0.0")
    if _row(ctx, {"": row}, ("",)) is not None and not version_tested(ctx, call, row.library):
        said = f"`{given.rpartition('/')[2]}` is not run since datasets {row.gone}: save the data in a standard format"
        yield from finding(rule, row, call, ctx, None, message=said)


def _is_a_model(ctx: PythonContext, klass: ast.ClassDef) -> bool:
    """Whether a class extends a base class of models of Transformers, and no model."""
    lineage = ctx.index.lineage(Ref(ctx.path, klass.name))
    bases = {each for each in lineage.external if each.startswith("transformers.")}
    return lineage.complete and bool(bases) and all(each.endswith("PreTrainedModel") for each in bases)


def unended_constructors(rule: Rule, klass: ast.ClassDef, ctx: PythonContext) -> Iterator[Draft]:
    """A model whose constructor does not end with `self.post_init()`, without which nothing is loaded any more."""
    own_methods = {each.name for each in klass.body if isinstance(each, ast.FunctionDef)}
    if "__init__" not in own_methods or "from_pretrained" in own_methods:  # (loaded_in_its_own_way)
        return
    row = RemovedName("transformers", "attribute", "transformers.PreTrainedModel", "post_init", "decision", gone=_FIFTH)
    below = ctx.index.subclasses(Ref(ctx.path, klass.name))
    if _row(ctx, {"": row}, ("",)) is None or not _is_a_model(ctx, klass) or any(below):
        return
    if version_tested(ctx, klass, row.library):
        return
    for ref in ctx.index.lineage(Ref(ctx.path, klass.name)).refs:
        there = ctx.other(ref.path)
        if there is None or any("post_init" in ast.unparse(each) for each in there.classes(ref.name)):
            return
    said = f"the constructor of `{klass.name}` does not call `self.post_init()`, without which `from_pretrained` fails"
    yield from finding(rule, row, klass, ctx, None, message=f"{said} since transformers {_FIFTH}")


def listed_ties(rule: Rule, klass: ast.ClassDef, ctx: PythonContext) -> Iterator[Draft]:
    """`_tied_weights_keys = ["lm_head.weight"]`: a dictionary since Transformers 5, which fails on a list."""
    for statement in klass.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.List() | ast.Tuple()) if name == _TIED:
                pass
            case _:
                continue
        row = RemovedName("transformers", "attribute", "transformers.PreTrainedModel", name, "decision", gone=_FIFTH)
        above = ctx.index.lineage(Ref(ctx.path, klass.name)).external
        is_model = any("transformers.PreTrainedModel" in meant(each) for each in above) or _is_a_model(ctx, klass)
        if not is_model or _row(ctx, {"": row}, ("",)) is None or version_tested(ctx, statement, row.library):
            return
        said = f"`{name}` of `{klass.name}` is a list, and `save_pretrained` takes only a dictionary since transformers"
        yield from finding(rule, row, statement, ctx, None, message=f"{said} {_FIFTH}: write each key with its source")


def generation_settings(rule: Rule, node: ast.Attribute, ctx: PythonContext) -> Iterator[Draft]:
    """`model.config.max_length = 64`: settings of generation that only `generation_config` may hold."""
    owner, statement = node.value, ctx.statement(node)
    if node.attr not in tables.generation_settings() or (model := _configured(ctx, node)) is None:
        return
    row = RemovedName("transformers", "attribute", "transformers.PreTrainedConfig", node.attr, "decision", gone=_FIFTH)
    if _row(ctx, {"": row}, ("",)) is None or version_tested(ctx, node, "transformers"):
        return
    said = "`generate` and `save_pretrained` refuse a setting of generation in a model's configuration"
    if isinstance(node.ctx, ast.Load):
        said = "a model's configuration holds no settings of generation, and reading one fails,"
    elif is_none(getattr(statement, "value", None)):
        return
    doubt = unknown(ctx.evidence(node, f"what has `{node.attr}` here is not known"))
    where = f"`{ctx.source(model)}.generation_config.{node.attr}`" if model is not owner else "a `GenerationConfig`"
    told = f"if it is transformers's: {said} since transformers 5.0.0: use {where}"
    yield from finding(rule, row, node, ctx, None, (doubt,), message=told)


def token_ids(rule: Rule, node: ast.Attribute, ctx: PythonContext) -> Iterator[Draft]:
    """`model.config.decoder_start_token_id = …`: an id that `generate` looks for in `generation_config` only."""
    owner = node.value
    if node.attr not in tables.token_ids() or not isinstance(node.ctx, ast.Store):
        return
    if not isinstance(owner, ast.Attribute) or owner.attr != "config":
        return
    if _is_set_for_generation(ctx, owner.value, node):
        return
    row = RemovedName("transformers", "attribute", "transformers.PreTrainedConfig", node.attr, "decision", gone=_FIFTH)
    row = replace(row, silent=True)
    if _row(ctx, {"": row}, ("",)) is None or not _imports(ctx, row) or version_tested(ctx, node, row.library):
        return
    if not ctx.index.search(ctx.path, (b".generate(", b"predict_with_generate")) or _classifies(ctx, owner.value):
        return
    doubt = unknown(ctx.evidence(node, f"what has `{node.attr}` here is not known"))
    said = f"if it is a model's: `generate` no longer reads it there since transformers {_FIFTH}"
    where = f"`{ctx.source(owner.value)}.generation_config.{node.attr}`"
    yield from finding(rule, row, node, ctx, None, (doubt,), message=f"{said}: set {where}, too")


def _classifies(ctx: PythonContext, model: ast.expr) -> bool:
    """Whether a model surely is of a class that generates nothing (`classifier`)."""
    found, complete = possible_values(ctx, model)
    makers = [each.ctx.origin(each.node.func) for each in found if isinstance(each.node, ast.Call)]
    return complete and len(makers) == len(found) > 0 and all(m and all(map(_CLASSES.search, m)) for m in makers)


def _is_set_for_generation(ctx: PythonContext, model: ast.expr, node: ast.Attribute) -> bool:
    """Whether the file sets the same of the configuration that `generate` reads."""
    wanted = f"{ctx.source(model)}.generation_config.{node.attr}"
    stores = (each for each in ctx.all(ast.Attribute) if each.attr == node.attr and isinstance(each.ctx, ast.Store))
    return any(ctx.source(each) == wanted for each in stores)


def dashed_rank(rule: Rule, call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    """`add_argument("--local_rank")`: the launcher of torch 2 gives `--local-rank`."""
    names = [each.value for each in call.args if isinstance(each, ast.Constant)]
    if _RANK not in names or _RANK.replace("_", "-") in names or ctx.name(call.func) in (None, "print"):
        return
    row = RemovedName("torch", "argument", "torch.distributed.launch", _RANK, "decision", gone=_DASHED)
    if _row(ctx, {"": row}, ("",)) is None or version_tested(ctx, call, row.library):
        return
    if not ctx.index.search(ctx.path, (b"distributed.launch",), suffixes=_STARTING):
        return
    doubt = unknown(ctx.evidence(call, "how the program is started is not known"))
    said = f"`python -m torch.distributed.launch` gives `--local-rank` since torch {_DASHED}: name both here"
    yield from finding(
        rule, row, call, ctx, None, (doubt,), message=f"{said}, or start it with `torchrun` and read `LOCAL_RANK`"
    )


def _configured(ctx: PythonContext, node: ast.Attribute) -> ast.expr | None:
    """The model, or else its configuration, of which a place sets or reads something; None of anything else."""
    owner = node.value
    if isinstance(owner, ast.Name):
        is_one = "transformers.PreTrainedConfig" in instance_of(ctx, owner)[0]
        return owner if is_one and isinstance(node.ctx, ast.Store) else None
    if not isinstance(owner, ast.Attribute) or owner.attr != "config":
        return None
    if isinstance(node.ctx, ast.Store):
        return owner.value
    named = (ctx.name(owner.value) or "").rpartition(".")[2]  # a name only ranks what is possible anyway
    return owner.value if named.endswith("model") else None


def _row(ctx: FileContext, rows: Mapping[str, RemovedName], owners: tuple[str, ...]) -> RemovedName | None:
    """The row of one of some owners, if the project is carried to a release without the name."""
    for row in (rows[each] for each in owners if each in rows):
        release = ctx.upgrade(row.library)
        if release is not None and ranges.every((f"=={release}",), row.removed):
            return row
    return None


def _imports(ctx: PythonContext, row: RemovedName) -> bool:
    packages = PACKAGES.get(row.library, (row.library,))
    return any(each.target.partition(".")[0] in packages for each in ctx.facts.imports)
