"""What a program says of the model that it checkpoints: small programs, with the answer beside them."""

from __future__ import annotations

import ast

import pytest
from test_python_context import call, context

from codemods.frameworks.checkpointing.closures import late_bound
from codemods.frameworks.checkpointing.project_traits import (
    adapters,
    forbids_non_reentrant,
    frozen,
    frozen_embeddings,
    gives_inputs_gradients,
    may_forbid_non_reentrant,
    no_hook_runs_inside,
    unsloth,
)
from codemods.frameworks.checkpointing.reachable import trouble_in


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("model.enable_input_require_grads()", True),
        ("model. enable_input_require_grads ()", True),
        ("getattr(model, 'enable_input_require_grads')()", True),
        ("if args.make_inputs_require_grads: pass", True),
        ("model.get_input_embeddings().requires_grad_()", True),
        ("model.get_input_embeddings().requires_grad_(False)", False),
        ("model.head.requires_grad_(True)", False),
        ("# model.enable_input_require_grads()", False),
        ("'''Call enable_input_require_grads first.'''", False),
    ],
)
def test_who_lets_inputs_require_gradients(code: str, expected: bool) -> None:
    assert gives_inputs_gradients(context(code)) is expected
    assert gives_inputs_gradients(context("import other", other=code)) is expected


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("from torch.nn.attention.flex_attention import flex_attention", 1),
        ("x = 1\nfrom_pretrained(name, attn_implementation='flex_attention')", 2),
        ("# flex_attention\nfrom_pretrained(name, attn_implementation='eager')", None),
        ("import deepspeed\nconfig = {'stage': 3}", 2),
        ("config = {'zero_optimization': {'stage': 3}}", 1),
        ("config = {'zero_optimization': {'stage': 2}}", None),
        ("# DeepSpeed calls it so\nlesson = {'stage': 3}", None),
        ("Trainer(strategy='deepspeed_stage_3')", 1),
        ("Trainer(strategy='deepspeed_stage_2')", None),
    ],
)
def test_what_forbids_the_other_variant(code: str, shown: int | None) -> None:
    found = forbids_non_reentrant(context(code), partly_frozen=True)
    assert (found.line if found is not None else None) == shown


def test_flex_attention_in_a_file_that_only_shares_the_program() -> None:
    """Somebody who imports this file, and flex attention for something else, is no reason."""
    above = "import p\nfrom torch.nn.attention.flex_attention import flex_attention"
    assert forbids_non_reentrant(context("x = 1", above=above), partly_frozen=True) is None


def test_libraries_are_shown_by_their_imports() -> None:
    ctx = context("import torch\nimport deepspeed.ops\nfrom unsloth import FastLanguageModel")
    deepspeed, owner = may_forbid_non_reentrant(ctx), unsloth(ctx)
    assert deepspeed is not None and deepspeed.line == 2
    assert owner is not None and owner.line == 3
    assert unsloth(context("# unsloth\nx = 'unsloth'")) is None


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("model.embed.requires_grad_(False)", True),
        ("model.requires_grad_(False)", False),
        ("model.requires_grad_(False)\nmodel.head.requires_grad_()", True),
        ("for p in model.embed.parameters():\n    p.requires_grad = False", True),
        ("for p in model.embed.parameters(): p.requires_grad_(requires_grad = False)", True),
        ("model.pos_embed.requires_grad_(False)", False),
        ("other.embed.requires_grad_(False)", False),
        ("model.embed.weight.requires_grad = False", True),
    ],
)
def test_what_is_frozen(code: str, expected: bool) -> None:
    assert (frozen(context(code), "model") is not None) is expected


def test_frozen_embeddings_of_the_program() -> None:
    found = frozen_embeddings(context("import parts", parts="x = 1\nself.wte.requires_grad_(False)"))
    assert found is not None and found[1] == "self.wte"
    shown = found[0]
    assert (shown.path, shown.line, shown.why) == ("parts.py", 2, "`self.wte` is frozen")


PEFT = "from peft import get_peft_model\n"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (PEFT + "model = get_peft_model(model)\nhere(model)", True),
        (PEFT + "other = get_peft_model(base)\nhere(model)", False),
        (PEFT + "if lora:\n    model = get_peft_model(model)\nif not lora:\n    here(model)", False),
        (PEFT + "if lora and x:\n    model = get_peft_model(model)\nelse:\n    here(model)", True),
        (PEFT + "def test_a(m): get_peft_model(m)\ndef test_b(m): here(m)", False),
        (PEFT + "def wrap(m): return get_peft_model(m)\ndef run(model): here(model)", True),
    ],
)
def test_adapters_that_may_be_on_a_model(code: str, expected: bool) -> None:
    ctx = context(code)
    assert (adapters(ctx, near=call(ctx), model="model") is not None) is expected


def test_hooks_are_shown() -> None:
    answer = no_hook_runs_inside(context("import layers", layers="x = 1\nmodule.register_forward_hook(f)"))
    (shown,) = answer.places
    assert answer.is_unknown and (shown.path, shown.line) == ("layers.py", 2)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("def f(x):\n    x = x + here(lambda: g(x))", "x"),
        ("def f(x):\n    y = here(lambda: g(x))\n    return y", None),
        ("def f(x):\n    y = here(lambda: g(x))\n    x = 1", "x"),
        ("def f(x):\n    y = here(lambda x=x: g(x))\n    x = 1", None),
        ("def f(bs):\n    for b in bs:\n        here(lambda: b(1))", "b"),
        ("def f(bs):\n    for b in bs:\n        pass\n    here(lambda: b(1))", None),
        ("def f(bs, x):\n    x = here(lambda: [b(1) for b in bs])\n    for b in x: pass", None),
        ("def f(a, x):\n    y = here(lambda: a.x(1))\n    x = 2", None),
        ("def f(x):\n    def g(): return x\n    y = here(g)\n    x = 2", "x"),
        ("def f(x):\n    if a:\n        return here(lambda: g(x))\n    x = 2", None),
    ],
)
def test_variables_that_a_closure_reads_late(code: str, expected: str | None) -> None:
    ctx = context(code)
    assert late_bound(ctx, call(ctx).args[0]) == expected


BLOCK = "import torch\nclass Block(torch.nn.Module):\n    def forward(self, x):\n        {0}\n        return x\n"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("y = torch.relu(x)", None),
        ("y = x * 2; z = [y]; z.append(x)", None),
        ("y: int = x.softmax(-1)", None),
        ("self.seen = x", "`self.seen` is set inside it"),
        ("x += 1", "`x` is changed in place"),
        ("x.add_(1)", "`x.add_` changes something in place"),
        ("y = x.clone(); y += 1; y[0] = 2", None),
        ("x[0] = 1", "`x` is written to"),
        ("global k", "`global k` keeps something between calls"),
        ("y = torch.rand(3, generator=g)", "a random generator of its own is used inside it"),
        ("import random; random.random()", "`random.random` runs inside it"),
        ("a, *self.b = x", "`self.b` is set inside it"),
    ],
)
def test_what_may_not_be_recomputed(code: str, expected: str | None) -> None:
    ctx = context(BLOCK.format(code) + "block = Block()\ndef run(x):\n    block = Block()\n    here(block, x)\n")
    found = trouble_in(ctx, call(ctx).args[0])
    assert (found.why if found is not None else None) == expected


def test_the_text_of_code_in_a_message_is_short_and_on_one_line() -> None:
    ctx = context("here(a,\n     b)\nhere_is_a_very_long_name_of_a_function(argument)")
    (first, second) = ctx.all(ast.Call)
    assert ctx.written(first) == "here(a, b)"
    assert ctx.written(second) == "here_is_a_very_long_name_of_a_function(argument)"[:37] + "…"
