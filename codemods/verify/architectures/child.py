"""One architecture of Transformers after the other, tiny and random: which gradients checkpointing loses.

Run by path, in a process of its own: reads the names of model types from standard input, a line each, and writes one
JSON object a line to standard output; `list` names those there are. Each architecture runs in a fork, so that a crash,
a hang or a leak costs that one only. Standard library, torch, transformers and peft.
"""

from __future__ import annotations

import copy
import json
import os
import random
import resource
import select
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

MEMORY = 8 << 30
SECONDS = 300
TOLERANCE = 1e-3
"""Largest relative difference of a gradient that counts as equal; recomputation in float32 gives about 1e-6."""
TRAINED = ("full", "lora", "frozen-embeddings")
INPUTS = ("none", "own", "hook", "wrapper")
"""Who lets the inputs of the checkpointed layers require gradients: nobody; whatever this version of Transformers does
by itself; a hook on the embeddings (`enable_input_require_grads`, as PEFT, Trainer and axolotl); a wrapper around each
layer that sets the flag on the first positional tensor (as LLaMA-Factory)."""
SIZES: dict[str, int] = {
    **dict.fromkeys(("hidden_size", "d_model", "n_embd", "embedding_size", "word_embed_proj_dim", "dim_model"), 32),
    **dict.fromkeys(("embedding_dim", "lru_width", "hidden_dim", "conv_dim", "attention_hidden_size"), 32),
    **dict.fromkeys(("intermediate_size", "ffn_dim", "encoder_ffn_dim", "decoder_ffn_dim", "d_ff", "n_inner"), 64),
    **dict.fromkeys(("dim_ff", "dff", "ffn_hidden_size", "d_inner", "intermediate_size_mlp"), 64),
    **dict.fromkeys(("moe_intermediate_size", "shared_expert_intermediate_size", "shared_intermediate_size"), 32),
    **dict.fromkeys(("num_hidden_layers", "n_layer", "num_layers", "encoder_layers", "decoder_layers", "n_layers"), 2),
    **dict.fromkeys(("num_decoder_layers", "num_encoder_layers", "num_blocks"), 2),
    **dict.fromkeys(("num_attention_heads", "n_head", "num_heads", "n_heads", "encoder_attention_heads"), 4),
    **dict.fromkeys(("decoder_attention_heads", "num_encoder_attention_heads", "num_decoder_attention_heads"), 4),
    **dict.fromkeys(("num_key_value_heads", "num_kv_heads", "n_head_kv", "multi_query_group_num"), 2),
    **dict.fromkeys(
        ("head_dim", "d_kv", "attention_head_size", "qk_rope_head_dim", "qk_nope_head_dim", "v_head_dim"), 8
    ),
    **dict.fromkeys(("kv_lora_rank", "q_lora_rank"), 16),
    **dict.fromkeys(("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts"), 4),
    **dict.fromkeys(("num_experts_per_tok", "num_experts_per_token", "moe_k", "num_selected_experts", "moe_topk"), 2),
    **dict.fromkeys(("n_group", "topk_group", "n_shared_experts", "first_k_dense_replace"), 1),
    **dict.fromkeys(("max_position_embeddings", "n_positions", "n_ctx", "max_target_positions"), 64),
    **dict.fromkeys(
        ("max_source_positions", "max_sequence_length", "max_seq_len", "max_encoder_position_embeddings"), 64
    ),
    **dict.fromkeys(("max_decoder_position_embeddings", "sliding_window", "attention_window"), 64),
    "vocab_size": 128,
    "state_size": 8,
    "mamba_d_state": 8,
    "image_size": 16,
    "patch_size": 8,
    "projection_dim": 32,
}


def main() -> None:
    """Serve the names on standard input until it ends."""
    warnings.simplefilter("ignore")
    os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_VERBOSITY="error", TOKENIZERS_PARALLELISM="false")
    import peft
    import torch
    import transformers

    torch.set_num_threads(1)
    versions = {"torch": torch.__version__, "transformers": transformers.__version__, "peft": peft.__version__}
    _say({"versions": {name: version.partition("+")[0] for name, version in versions.items()}})
    for line in sys.stdin:
        kind, _, name = line.strip().partition(" ")
        if kind == "list":
            _say({"names": _names()})
        if name:
            _say({"name": name, "kind": kind, **_forked(partial(_architecture, kind, name))})


def _names() -> list[str]:
    """Every architecture with a causal or an encoder-decoder language model: `causal qwen2`, `encoder-decoder t5`."""
    from transformers.models.auto import modeling_auto

    causal = (f"causal {name}" for name in modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES)
    return [*causal, *(f"encoder-decoder {n}" for n in modeling_auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES)]


def _say(answer: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(answer, sort_keys=True) + "\n")
    sys.stdout.flush()


def _forked(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What `work` answers in a fork of this process; or how it ended."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        signal.alarm(SECONDS)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        try:
            answer = work()
        except BaseException as error:  # whatever an architecture raises is its answer
            answer = {"unbuilt": _short(error)}
        with os.fdopen(writing, "w") as stream:
            json.dump(answer, stream)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as stream:
        select.select([stream], [], [], SECONDS + 10)
        text = stream.read()
    _, status = os.waitpid(child, 0)
    if text:
        return dict(json.loads(text))
    ended = os.waitstatus_to_exitcode(status)
    return {"unbuilt": "took too long" if ended == -signal.SIGALRM else f"the process ended with {ended}"}


def _short(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:160]}"


def _architecture(kind: str, name: str) -> dict[str, Any]:
    """One architecture in every variant."""
    built = _Architecture(kind, name)
    cells: dict[str, Any] = {}
    references: dict[str, dict[str, Any]] = {}
    unbuilt: dict[str, str] = {}
    for trained in TRAINED:
        try:
            references[trained] = built.gradients(trained, None, "none")
        except Exception as error:
            if trained == "full":
                raise
            unbuilt[trained] = _short(error)
    lacking = {trained: sorted(n for n, g in found.items() if g is None) for trained, found in references.items()}
    for trained in references:
        for reentrant in (True, False):
            for inputs in INPUTS:
                cell = f"{trained}/{'reentrant' if reentrant else 'non-reentrant'}/{inputs}"
                cells[cell] = built.compared(references[trained], trained, reentrant, inputs)
    return {
        "class": type(built.model).__name__,
        "parameters": {trained: len(found) for trained, found in references.items()},
        "never": {trained: len(names) for trained, names in lacking.items() if names},
        "layers": built.layers,
        "cells": cells,
        **({"unbuilt variants": unbuilt} if unbuilt else {}),
    }


class _Architecture:
    """A tiny random model of one architecture, and a batch for it."""

    def __init__(self, kind: str, name: str) -> None:
        import torch
        import transformers

        config = tiny(transformers.AutoConfig.for_model(name))
        auto = transformers.AutoModelForCausalLM if kind == "causal" else transformers.AutoModelForSeq2SeqLM
        self._seed()
        self.model: Any = auto.from_config(config).float()
        ids = torch.randint(3, 90, (2, 8))
        self.batch = {"input_ids": ids, "attention_mask": torch.ones_like(ids), "labels": ids.clone()}
        if kind == "encoder-decoder":
            self.batch["decoder_input_ids"] = torch.randint(3, 90, (2, 8))
        self.layers = 0
        """Calls of checkpointed layers in one forward pass."""

    @staticmethod
    def _seed() -> None:
        import torch

        torch.manual_seed(0)
        random.seed(0)

    def compared(self, reference: dict[str, Any], trained: str, reentrant: bool, inputs: str) -> dict[str, Any]:
        """Which gradients a variant loses, against those without checkpointing."""
        try:
            found = self.gradients(trained, reentrant, inputs)
        except Exception as error:
            return {"error": _short(error)}
        lost = [name for name, gradient in reference.items() if gradient is not None and found.get(name) is None]
        largest = 0.0
        for name, gradient in reference.items():
            other = found.get(name)
            if gradient is not None and other is not None:
                scale = max(float(gradient.abs().max()), 1e-6)
                largest = max(largest, float((gradient - other).abs().max()) / scale)
        answer: dict[str, Any] = {"lost": len(lost)}
        if largest > TOLERANCE:
            answer["differs"] = round(largest, 4)
        return answer

    def gradients(self, trained: str, reentrant: bool | None, inputs: str) -> dict[str, Any]:
        """The gradients of one step by parameter name; None for a trainable parameter that gets none."""
        model = copy.deepcopy(self.model)
        self._seed()
        if trained == "lora":
            import peft

            model = peft.get_peft_model(
                model, peft.LoraConfig(r=2, target_modules="all-linear", init_lora_weights=False)
            )
        elif trained == "frozen-embeddings":
            for parameter in model.get_input_embeddings().parameters():
                parameter.requires_grad_(False)
        model.train()
        for module in model.modules():
            if type(module).__name__.startswith("Dropout"):
                module.p = 0.0
        if reentrant is not None:
            self._checkpoint(model, reentrant, inputs)
        self._seed()
        output = model(**self.batch)
        loss = output.loss
        if loss is None:
            loss = output.logits.float().pow(2).mean()
        loss.backward()
        return {
            name: None if parameter.grad is None else parameter.grad.detach().float()
            for name, parameter in model.named_parameters()
            if parameter.requires_grad
        }

    def _checkpoint(self, model: Any, reentrant: bool, inputs: str) -> None:
        base = model.get_base_model() if hasattr(model, "get_base_model") else model
        base.gradient_checkpointing_enable({"use_reentrant": reentrant})
        if inputs in ("none", "wrapper") and hasattr(base, "disable_input_require_grads"):
            for module in base.modules():
                if hasattr(module, "_require_grads_hook") or hasattr(module, "_require_grads_hooks"):
                    module.disable_input_require_grads()
        if inputs == "hook":
            base.enable_input_require_grads()
        calls = [0]
        found = False
        for module in base.modules():
            function = getattr(module, "_gradient_checkpointing_func", None)
            if function is not None and getattr(module, "gradient_checkpointing", False):
                module._gradient_checkpointing_func = _counted(function, calls, wraps=inputs == "wrapper")
                found = True
        if not found:
            raise RuntimeError("no layer is checkpointed")
        model.register_forward_hook(lambda *_: self._note(calls[0]))

    def _note(self, calls: int) -> None:
        self.layers = max(self.layers, calls)


def _counted(function: Callable[..., Any], calls: list[int], *, wraps: bool) -> Callable[..., Any]:
    """A checkpoint function that counts its calls and, as LLaMA-Factory's does, lets the first tensor require grad."""
    import torch

    def checkpoint(layer: Any, *args: Any, **kwargs: Any) -> Any:
        calls[0] += 1
        if wraps:
            owner = getattr(layer, "__self__", None) or getattr(getattr(layer, "func", None), "__self__", None)
            if owner is None or any(parameter.requires_grad for parameter in owner.parameters()):
                for arg in args:
                    if torch.is_tensor(arg) and torch.is_floating_point(arg):
                        arg.requires_grad_(True)
                        break
        return function(layer, *args, **kwargs)

    return checkpoint


def tiny(config: Any) -> Any:
    """The configuration of an architecture, with small sizes and without dropout, sub-configurations included."""
    import transformers

    base = transformers.PretrainedConfig
    values: dict[str, Any] = dict(vars(config))
    layers = {
        values[name] for name in ("num_hidden_layers", "n_layer", "num_layers") if isinstance(values.get(name), int)
    }
    for name, value in _small(values, layers):
        try:
            setattr(config, name, value)
        except (AttributeError, NotImplementedError, TypeError, ValueError):
            continue
    for name, value in values.items():
        if isinstance(value, base):
            setattr(config, name, tiny(value))
    for name in ("pad_token_id", "bos_token_id", "eos_token_id", "decoder_start_token_id"):
        if hasattr(config, name):
            setattr(config, name, {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}.get(name, 1))
    config.use_cache = False
    return config


def _small(values: dict[str, Any], layers: set[int]) -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if name in SIZES and isinstance(value, int) and not isinstance(value, bool):
            yield name, min(SIZES[name], value) if value > 0 else value
        elif ("drop" in name or name.endswith("_pdrop")) and isinstance(value, float):
            yield name, 0.0
        elif isinstance(value, (list, tuple)) and len(value) in layers and len(value) > 2:
            yield name, list(value)[:2]
        elif name in ("rope_parameters", "rope_scaling") and isinstance(value, dict):
            yield name, {k: ([1, 1, 2] if k == "mrope_section" else v) for k, v in value.items()}
    yield "mamba_n_heads", 8


if __name__ == "__main__":
    main()
