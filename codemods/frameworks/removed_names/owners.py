"""Whose arguments and attributes a place in the code uses, in terms of the tables."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from codemods.analysis import instances
from codemods.analysis.calls import argument, binder, given
from codemods.analysis.python_context import PythonContext
from codemods.analysis.values import PossibleValue, possible_values
from codemods.frameworks.removed_names.tables import inherited, member_type
from codemods.project.index import NONE, Lineage, Ref
from codemods.syntax.module import FUNCTIONS

_MODELS = re.compile(r"transformers\.(?!TF|Flax)(?:AutoModel\w*|\w+Model|\w+For[A-Z]\w+|AutoBackbone|pipeline)")
_TOKENIZERS = re.compile(r"transformers\.\w*Tokenizer(?:Fast)?")
_CONFIGURATIONS = re.compile(
    r"transformers\.(?!Generation|BitsAndBytes|GPTQ|Awq|Hqq|Quanto|TorchAo|Eetq|Aqlm|FineGrainedFP8|Fbgemm|HfDeepSpeed)\w+Config"
)
"""Those of models: of generation and of quantization there are others (`of_generation_itself`)."""
_PROCESSORS = re.compile(r"transformers\.\w*(?:Processor|FeatureExtractor)(?:Fast)?")
_FAMILIES = (
    (_MODELS, "transformers.PreTrainedModel"),
    (_TOKENIZERS, "transformers.PreTrainedTokenizerBase"),
    (_CONFIGURATIONS, "transformers.PreTrainedConfig"),
    (_PROCESSORS, "transformers.ProcessorMixin"),
)
_WITHOUT_ATTRIBUTES = frozenset({"object", "abc.ABC", "typing.Generic", "typing.Protocol"})
_PARSERS = frozenset({"transformers.HfArgumentParser", "trl.TrlParser"})
_PARSE = (
    *("parse_args_into_dataclasses", "parse_args_and_config", "parse_dict", "parse_json_file", "parse_yaml_file"),
)
"""Methods that make an object of each dataclass."""
_HOOKS = {
    "lightning.pytorch.Callback": ("lightning.pytorch.Trainer", "lightning.pytorch.LightningModule"),
    "transformers.TrainerCallback": ("transformers.TrainingArguments",),
}
"""What the hooks of callbacks are given first: lightning 2.6 pytorch/callbacks/callback.py, transformers 5.23
trainer_callback.py.
"""
_MAKERS = ("from_pretrained", "from_config", "_from_config")
"""Class methods that make an object of a class, or of one that they choose."""


def meant(name: str) -> tuple[str, ...]:
    """The owners in the tables that a canonical name stands for: itself, what it inherits from, and its family."""
    klass, _, method = name.rpartition(".")
    for pattern, family in _FAMILIES:
        if method and pattern.fullmatch(klass):
            return (name, f"{family}.{method}")
        if pattern.fullmatch(name):
            return (name, family)
    return inherited(name)


def owners_of(ctx: PythonContext, call: ast.Call) -> tuple[str, ...]:
    """The owners in the tables whose arguments a call surely gives; none where it may be another's call.

    Through classes of the project that leave the constructor as it is, and in `super().__init__(…)` of such classes.
    """
    match call.func:
        case ast.Attribute(value=ast.Call(func=ast.Name(id="super"), args=args), attr="__init__"):
            here = ctx.klass(call)
            if args and (here is None or ctx.name(args[0]) != here.name.rpartition(".")[2]):
                return ()
            return _inherits_constructor(ctx, here, above=True) if here is not None else ()
        case ast.Attribute(value=receiver, attr=method) if not ctx.origin(call.func):
            return tuple(f"{owner}.{method}" for owner in instance_of(ctx, receiver)[0])
    found = [_owners_at(ctx, origin) if ":" in origin else meant(origin) for origin in sorted(ctx.origin(call.func))]
    return tuple(name for name in found[0] if all(name in each for each in found)) if found else ()


def _owners_at(ctx: PythonContext, origin: str) -> tuple[str, ...]:
    """The owners of a constructor of the project, or of a class method that a class of it inherits."""
    path, _, name = origin.partition(":")
    klass, _, method = name.rpartition(".")
    if method in _MAKERS and (found := ctx.index.klass(Ref(path, klass))) is not None:
        lineage = ctx.index.lineage(Ref(path, klass))
        bases = _of_base(lineage) if lineage.complete and ctx.index.method(Ref(path, klass), method) is None else ()
        return tuple(f"{base}.{method}" for base in bases) if found else ()
    return _inherits_constructor(ctx, Ref(path, name))


def own_classes(ctx: PythonContext, call: ast.Call) -> Iterator[Ref]:
    """The classes of the project that a call is of, by its constructor or one of its methods, with their ancestors."""
    match call.func:
        case ast.Attribute(value=ast.Call(func=ast.Name(id="super"))):
            here = ctx.klass(call)
            refs: tuple[Ref, ...] = (here,) if here is not None else ()
        case ast.Attribute(value=receiver) if not ctx.origin(call.func):
            refs = instance_of(ctx, receiver)[1]
        case _:
            named = (each.split(":", 1) for each in sorted(ctx.origin(call.func)) if ":" in each)
            refs = tuple(Ref(path, _class_of(name)) for path, name in named)
    for ref in refs:
        yield from ctx.index.lineage(ref).refs


def _class_of(name: str) -> str:
    """The class of `Scorer` and of `Scorer.from_pretrained` (`taken_by_its_constructor`)."""
    klass, _, method = name.rpartition(".")
    return klass if method in _MAKERS else name


def _inherits_constructor(ctx: PythonContext, ref: Ref, *, above: bool = False) -> tuple[str, ...]:
    """The owners whose constructor a class of the project has; with `above`, the one that its base has."""
    lineage = ctx.index.lineage(ref)
    classes = [ctx.index.klass(each) for each in lineage.refs[1 if above else 0 :]]
    if not lineage.complete or any(each is None or "__init__" in each.methods for each in classes):
        return ()
    return _of_base(lineage)


def _of_base(lineage: Lineage) -> tuple[str, ...]:
    """The owners that a class has from its only base in a library; of several, nobody knows whose constructor runs."""
    bases = lineage.external - _WITHOUT_ATTRIBUTES
    return meant(next(iter(bases))) if len(bases) == 1 else ()


def instance_of(ctx: PythonContext, node: ast.expr) -> tuple[tuple[str, ...], tuple[Ref, ...]]:
    """The owners that an object is an instance of, by its constructor or annotation, or as `self` of a subclass; and
    the classes of the project among its own.
    """
    method = ctx.method(node)
    if method is not None and ctx.name(node) == method.self:
        return made(ctx, str(method.owner)), (method.owner,)
    if isinstance(node, ast.Attribute) and (member := _member(ctx, node)):
        return member, ()
    names = sorted(_parsed(ctx, node) or _classes(ctx, node) or _given_to_a_hook(ctx, node))
    found = [made(ctx, name) for name in names]
    owners = tuple(name for name in found[0] if all(name in each for each in found)) if found else ()
    return owners, tuple(Ref.of(name) for name in names if ":" in name)


def of_class(ctx: PythonContext, node: ast.Attribute) -> tuple[tuple[str, ...], tuple[Ref, ...]]:
    """The same of the class in `Trainer.from_argparse_args`."""
    origins = ctx.origin(node.value)
    return (meant(origin), ()) if len(origins) == 1 and ":" not in (origin := next(iter(origins))) else ((), ())


def _classes(ctx: PythonContext, node: ast.expr) -> frozenset[str]:
    kind = instances.of(ctx, node)
    return kind.names if kind is not None and kind.how != "protocol" else NONE


def _given_to_a_hook(ctx: PythonContext, node: ast.expr) -> frozenset[str]:
    """The class of what a library gives to a hook of a callback, by its place: `trainer` of `on_train_start`."""
    if not isinstance(node, ast.Name):
        return NONE
    function = binder(ctx, node.id, node)
    method = ctx.method(function) if isinstance(function, FUNCTIONS) else None
    if method is None or method.node is not function or not method.name.startswith("on_"):
        return NONE
    names = [each.arg for each in (*method.node.args.posonlyargs, *method.node.args.args)][1:]
    if node.id not in names or node.id in ctx.bindings(method.node):
        return NONE
    for base in ctx.index.lineage(method.owner).external:
        given_there = next((_HOOKS[each] for each in meant(base) if each in _HOOKS), ())
        if names.index(node.id) < len(given_there):
            return frozenset({given_there[names.index(node.id)]})
    return NONE


def _member(ctx: PythonContext, node: ast.Attribute) -> tuple[str, ...]:
    """What the attribute of an object of a library holds, where no class of the project sets it: `self.args`."""
    owners, own = instance_of(ctx, node.value)
    if any(next(ctx.index.assigned(ref, node.attr), None) for ref in own):
        return ()
    types = {kind for owner in owners if (kind := member_type(f"{owner}.{node.attr}"))}
    return meant(types.pop()) if len(types) == 1 else ()


def _parsed(ctx: PythonContext, node: ast.expr) -> frozenset[str]:
    """The class of an object that a parser of dataclasses makes: `_, args = HfArgumentParser((A, B)).parse_…()`."""
    found, complete = possible_values(ctx, node, returns=True, given=given)
    classes = [_parsed_by(each) for each in found]
    return NONE.union(*classes) if complete and all(classes) else NONE


def dataclasses_of(ctx: PythonContext, call: ast.Call) -> Sequence[ast.expr]:
    """The classes that a call gives to a parser of dataclasses; none of any other call."""
    kinds = argument(call, "dataclass_types", 0) if ctx.origin(call.func) & _PARSERS else None
    return kinds.elts if isinstance(kinds, (ast.Tuple, ast.List)) else [kinds] if kinds is not None else []


def _parsed_by(value: PossibleValue) -> frozenset[str]:
    match value.node, value.path:
        case ast.Call(func=ast.Attribute(value=parser, attr=method)), (int(number),) if method in _PARSE:
            makers, complete = possible_values(value.ctx, parser, ordered=True)  # (of_given_arguments)
            if not complete or len(makers) != 1 or not isinstance(maker := makers[0].node, ast.Call):
                return NONE
            there = makers[0].ctx
            kinds = dataclasses_of(there, maker)
            return there.origin(kinds[number]) if 0 <= number < len(kinds) else NONE
    return NONE


def made(ctx: PythonContext, name: str) -> tuple[str, ...]:
    """What a call of this name makes."""
    if ":" in name:
        return _of_base(ctx.index.lineage(Ref.of(name)))
    klass, _, method = name.rpartition(".")
    return meant(klass if method in _MAKERS else name)
