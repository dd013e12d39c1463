"""`fp16` and `bf16` both switched on, of which a Trainer or DeepSpeed takes one.

## Why is this bad?
It never starts. Transformers (4.46 and 5.23), and all that hand their settings to its `TrainingArguments`:

    ValueError: At most one of fp16 and bf16 can be True, but not both
    ValueError: At most one of fp16 and bf16 can be True for full eval, but not both

A DeepSpeed configuration that enables both sections, read by DeepSpeed (0.19), and under a Trainer:

    AssertionError: bfloat16 and fp16 modes cannot be simultaneously enabled
    ValueError: Please correct the following DeepSpeed config values that mismatch TrainingArguments values:
    - ds fp16.enabled=True vs hf fp16|fp16_full_eval=False

## Fix safety
Unsafe: which of the two was meant is not written anywhere. `keep-bf16` (default) switches fp16 off: bf16 has the range
of float32 and needs no loss scaling, but a GPU that can compute in it (Ampere or newer). `keep-fp16` switches bf16 off.
`auto`, the default for a DeepSpeed configuration that leaves other values to the Trainer with `"auto"`, leaves these to
it too; without a Trainer DeepSpeed takes `"auto"` for off.

For configuration files possible where code of the project names one of the keys, and may take it away.

## When it is not offered
Where one of the two is no literal `True` (`bf16=torch.cuda.is_bf16_supported()`, `"auto"`, `${bf16}`), for classes that
are not surely `TrainingArguments` or descend from it, and for files that neither these, LLaMA-Factory nor DeepSpeed can
be shown to read. Axolotl takes both, and computes in bf16. `fp16=True` with `bf16_full_eval=True` is accepted, and left
alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from codemods.analysis.calls import keyword, literal
from codemods.analysis.python_context import PythonContext
from codemods.flow.answers import Answer, question, unless
from codemods.frameworks import config_owners
from codemods.frameworks.config_owners import scalar
from codemods.frameworks.trainer_arguments import TRAINER_ARGUMENTS, TRL_ARGUMENTS, arguments_class, arguments_stay
from codemods.model.edits import Consequence, Evidence, Safety
from codemods.model.effect import Effect
from codemods.model.names import canonical
from codemods.rules.file_context import FileContext
from codemods.rules.rule import Draft, Remedy, Repair, Rule
from codemods.sources.config import Config, Entry, Scalar, Table
from codemods.syntax.verbs import Verbs, replace

rule = Rule(
    code="HF003",
    name="fp16-and-bf16",
    summary="`fp16` and `bf16` are both on: Trainer and DeepSpeed take at most one of them",
    fix_title="Switch `fp16` off",
    safety=Safety.UNSAFE,
    consequence=Consequence.RAISES,
    effect=Effect.NUMBERS,
    triggers=(("fp16", "fp16_full_eval"), ("bf16", "bf16_full_eval")),
    elsewhere=(b"fp16",),
    errors=(
        "At most one of fp16 and bf16 can be True, but not both",
        "At most one of fp16 and bf16 can be True for full eval, but not both",
        "bfloat16 and fp16 modes cannot be simultaneously enabled",
        "ds fp16.enabled=True vs hf fp16|fp16_full_eval",
    ),
    references=(
        "https://huggingface.co/docs/transformers/main_classes/trainer#transformers.TrainingArguments",
        "https://www.deepspeed.ai/docs/config-json/",
    ),
    strategies=("keep-bf16", "keep-fp16", "auto"),
)

PAIRS = (("fp16", "bf16"), ("fp16_full_eval", "bf16_full_eval"))
_KEYS = (b"fp16", b"bf16")
TITLES = {"keep-fp16": "Switch `bf16` off", "auto": 'Leave both to the Trainer with `"auto"`'}


@rule.on(ast.Call)
def training_arguments(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    for names in PAIRS:
        given = [on for name in names if (on := keyword(call, name)) is not None and literal(on) is True]
        if len(given) == 2 and (classes := arguments_class(ctx, call)):
            spoken = " or ".join(f"`{name.rpartition('.')[2]}`" for name in sorted(classes))
            message = f"`{names[0]}=True` and `{names[1]}=True`: {spoken} takes at most one of them"
            switched = {"keep-bf16": [replace(given[0], "False")], "keep-fp16": [replace(given[1], "False")]}
            yield _finding(given[0], message, switched, [arguments_stay(ctx, call, *names)])


@rule.on(Config)
def configuration(config: Config, ctx: FileContext) -> Iterator[Draft]:
    for table in _argument_tables(config, ctx):
        for names in PAIRS:
            message = f"`{names[0]}: true` and `{names[1]}: true`: `TrainingArguments` takes at most one of them"
            yield from _check(message, _on(table, names[0]), _on(table, names[1]), ctx)
    if config_owners.owner(config, ctx.index) == config_owners.DEEPSPEED:
        for root in config.roots:
            if isinstance(root, Table):
                bf16 = _on(root, "bf16", "enabled") or _on(root, "bfloat16", "enabled")
                message = "`fp16` and `bf16` are both enabled: DeepSpeed takes at most one of them"
                yield from _check(message, _on(root, "fp16", "enabled"), bf16, ctx, auto=_leaves_to_trainer(config))


def _argument_tables(config: Config, ctx: FileContext) -> Iterator[Table]:
    """The tables whose keys become arguments of `TrainingArguments`, or of a class that descends from it."""
    if config_owners.owner(config, ctx.index) in (config_owners.LLAMA_FACTORY, config_owners.TRAINING_ARGUMENTS):
        yield from (root for root in config.roots if isinstance(root, Table))
    for node in config.nodes():
        if isinstance(node, Table) and isinstance(target := scalar(node.get("_target_")), str):
            if canonical(target) in TRAINER_ARGUMENTS | TRL_ARGUMENTS:
                yield node


def _on(table: Table, *path: str) -> Entry | None:
    """The entry at the end of a path, if it says `true`."""
    holder = table.get(*path[:-1])
    entry = holder.entry(path[-1]) if isinstance(holder, Table) else None
    return entry if entry is not None and scalar(entry.value) is True else None


def _leaves_to_trainer(config: Config) -> bool:
    """Whether other values of a DeepSpeed configuration are `"auto"`, which only Transformers' Trainer fills in."""
    return any(isinstance(node, Scalar) and node.value == "auto" for node in config.nodes())


def _check(
    message: str, fp16: Entry | None, bf16: Entry | None, ctx: FileContext, *, auto: bool = False
) -> Iterator[Draft]:
    if fp16 is None or bf16 is None:
        return
    changes: dict[str, Repair] = {"keep-bf16": {fp16.value: False}, "keep-fp16": {bf16.value: False}}
    if auto:
        changes = {"auto": {fp16.value: "auto", bf16.value: "auto"}, **changes}
    yield _finding(fp16, message, changes, [nobody_chooses(ctx)])


@question
def nobody_chooses(ctx: FileContext) -> Answer:
    """Whether no code of the project names the two keys, and may take one away before the file is used."""
    found = [path for path in ctx.index.search(ctx.path, _KEYS) if _names(ctx, path)]
    return unless(Evidence(path, 1, "this may take one of the two away") for path in found)


def _names(ctx: FileContext, path: str) -> bool:
    """Whether a file has one of the keys as a string."""
    module = ctx.index.syntax(path)
    return module is not None and any(node.value in ("fp16", "bf16") for node in module.all(ast.Constant))


def _finding(node: object, message: str, changes: Mapping[str, Repair | Verbs], is_bug: Sequence[Answer] = ()) -> Draft:
    remedies = {name: Remedy(fix, TITLES.get(name)) for name, fix in changes.items()}
    return rule.offer(node, remedies, message=message, is_bug=is_bug)
