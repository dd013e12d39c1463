"""`load_in_4bit=`, `use_auth_token=` and other arguments of `from_pretrained` that Transformers 5 removed.

## Why is this bad?
Every keyword that `from_pretrained` does not know goes to the model's constructor, which refuses it, also where it says
`False`:

    TypeError: LlamaForCausalLM.__init__() got an unexpected keyword argument 'load_in_4bit'

## Fix safety
Safe where a person names a release (`--target`, or `target` in the configuration): `load_in_4bit=True` becomes
`quantization_config=BitsAndBytesConfig(load_in_4bit=True)`, which means the same, `load_in_4bit=False` goes, and
`use_auth_token` is called `token`. Else unsafe, with the floor raised where the requirements can be edited.

## When it is not offered
For values that are no literals, beside a `quantization_config` or arguments that belong into one
(`bnb_4bit_compute_dtype`), and where `**` may hide one. Nothing is said of loaders
of other libraries with an argument of this name (Unsloth's own `load_in_4bit`), and of `BitsAndBytesConfig` itself.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from codemods.analysis.calls import has_splat, keyword, literal
from codemods.analysis.python_context import PythonContext
from codemods.frameworks.removed_names import tables
from codemods.frameworks.removed_names.arguments import old_arguments, old_values
from codemods.model.edits import Consequence, Safety
from codemods.model.effect import Effect
from codemods.rules.rule import Draft, Remedy, Rule
from codemods.syntax.verbs import edit_call

rule = Rule(
    code="HF010",
    name="load-in-kbit-argument",
    summary="`from_pretrained` of Transformers 5 refuses this argument",
    fix_title="Pass what replaces the argument",
    safety=Safety.SAFE,
    consequence=Consequence.RAISES,
    effect=Effect.EQUAL,
    triggers=(tables.words("HF010", "argument", "value"), ("from_pretrained", "from_config", "pipeline")),
    imports=("transformers",),
    references=("https://github.com/huggingface/transformers/blob/main/MIGRATION_GUIDE_V5.md",),
)
_BITS = ("load_in_4bit", "load_in_8bit")
_MORE = ("bnb_4bit_", "llm_int8_")
_CONFIG = "transformers.BitsAndBytesConfig"
_SINCE = ">=4.30.0"
"""The first release whose configuration takes both."""


@rule.on(ast.Call)
def removed_argument(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    for draft in old_arguments(rule, call, ctx):
        name = draft.node.arg if isinstance(draft.node, ast.keyword) else None
        yield _with_config(draft, call, ctx) if name in _BITS and draft.remedy is None else draft
    yield from old_values(rule, call, ctx)


def _with_config(draft: Draft, call: ast.Call, ctx: PythonContext) -> Draft:
    """The draft, with the configuration that says the same as the argument."""
    given = [each for each in call.keywords if each.arg in _BITS]
    spelled = ctx.spell(_CONFIG, at=call)
    wanted = [each for each in given if literal(each.value) is True]
    if spelled is None or has_splat(call) or keyword(call, "quantization_config") is not None or len(wanted) != 1:
        return draft
    if any((each.arg or "").startswith(_MORE) for each in call.keywords):
        return draft  # they belong into the same configuration (more_of_the_configuration)
    if any(literal(each.value) not in (True, False) for each in given) or draft.node is not wanted[0]:
        return draft
    config = ("quantization_config", f"{spelled.code}({wanted[0].arg}=True)")
    verbs = [edit_call(call, drop=given, last=[config])]
    remedy = Remedy(verbs, f"Pass `{config[0]}`", needs=[spelled.need], requires={"transformers": _SINCE})
    return replace(draft, remedy=remedy)
