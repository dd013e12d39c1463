"""Model families of Transformers, and which of them lose gradients under reentrant checkpointing.

The sets are those of the recorded runs (`docs/architectures.md`); a test holds them against the record.
"""

from __future__ import annotations

import re

from codemods.model.edits import Evidence
from codemods.rules.file_context import FileContext
from codemods.sources.config import Entry

FAMILIES = frozenset(
    [
        "afmoe",
        "apertus",
        "arcee",
        "aria_text",
        "audioflamingo3",
        "bailing_hybrid",
        "bart",
        "beam",
        "bert",
        "bert-generation",
        "big_bird",
        "bigbird_pegasus",
        "biogpt",
        "bitnet",
        "blenderbot",
        "blenderbot-small",
        "bloom",
        "camembert",
        "code_llama",
        "cohere",
        "cohere2",
        "cohere2_moe",
        "cwm",
        "data2vec-text",
        "dbrx",
        "deepseek_v4",
        "diffllama",
        "doge",
        "electra",
        "emu3",
        "encoder-decoder",
        "ernie",
        "ernie4_5",
        "ernie4_5_moe",
        "exaone4",
        "exaone_moe",
        "falcon",
        "falcon_mamba",
        "flex_olmo",
        "flint",
        "fuyu",
        "gemma",
        "gemma2",
        "gemma3",
        "gemma3_text",
        "gemma4",
        "gemma4_text",
        "gemma4_unified",
        "gemma4_unified_text",
        "glm",
        "glm4",
        "glm4_moe",
        "glmasr",
        "got_ocr2",
        "gpt-sw3",
        "gpt2",
        "gpt_bigcode",
        "gpt_neo",
        "gpt_neox",
        "gpt_oss",
        "granite",
        "granite_swa",
        "granitemoe",
        "granitemoe_swa",
        "granitemoeshared",
        "helium",
        "hrm_text",
        "hy_v3",
        "hyperclovax",
        "inkling2_text",
        "inkling_text",
        "internlm3",
        "iquestcoder",
        "jais2",
        "jamba",
        "kimi_linear",
        "kolibri1",
        "laguna",
        "led",
        "lfm2",
        "lfm3",
        "llama",
        "llama4",
        "llama4_text",
        "longt5",
        "m2m_100",
        "mamba",
        "mbart",
        "megatron-bert",
        "mellum",
        "mimo_v2_flash",
        "minimax",
        "minimax_m2",
        "minimax_m3_vl_text",
        "ministral3",
        "mistral",
        "mixtral",
        "mllama",
        "modernbert-decoder",
        "moshi",
        "moss_transcribe_diarize",
        "mpt",
        "mt5",
        "musicflamingo",
        "mvp",
        "nanochat",
        "nemo_speechlm",
        "nemotron_h",
        "nllb-moe",
        "olmo",
        "olmo2",
        "olmo3",
        "olmo_hybrid",
        "olmoe",
        "open-llama",
        "opt",
        "pegasus",
        "pegasus_x",
        "persimmon",
        "phi",
        "phi3",
        "phi4_multimodal",
        "phimoe",
        "plbart",
        "prophetnet",
        "qwen2",
        "qwen2_audio",
        "qwen2_moe",
        "qwen3",
        "qwen3_5",
        "qwen3_5_moe",
        "qwen3_5_moe_text",
        "qwen3_5_text",
        "qwen3_asr",
        "qwen3_moe",
        "qwen3_next",
        "qwen4_exp",
        "qwen4_exp_text",
        "recurrent_gemma",
        "rembert",
        "roberta",
        "roberta-prelayernorm",
        "roc_bert",
        "roformer",
        "rwkv",
        "seamless_m4t",
        "seamless_m4t_v2",
        "seed_oss",
        "smollm3",
        "solar_open",
        "stablelm",
        "starcoder2",
        "switch_transformers",
        "t5",
        "t5gemma2",
        "trocr",
        "umt5",
        "vaultgemma",
        "vibevoice_asr",
        "voxtral",
        "whisper",
        "xglm",
        "xlm-prophetnet",
        "xlm-roberta",
        "xlm-roberta-xl",
        "xlstm",
        "zamba",
        "zaya",
    ]
)
"""Model types that were run."""
LORA_KEEPS_ALL = frozenset(["gpt_bigcode", "rembert", "roc_bert"])
"""With Transformers before 5 and nobody who lets inputs require gradients, LoRA loses nothing in these."""
FROZEN_KEEPS_ALL = frozenset(
    [
        "bart",
        "bert",
        "bert-generation",
        "big_bird",
        "bigbird_pegasus",
        "biogpt",
        "blenderbot",
        "blenderbot-small",
        "bloom",
        "camembert",
        "data2vec-text",
        "electra",
        "ernie",
        "gpt-sw3",
        "gpt2",
        "gpt_bigcode",
        "gpt_neo",
        "led",
        "mbart",
        "megatron-bert",
        "modernbert-decoder",
        "mvp",
        "open-llama",
        "opt",
        "pegasus_x",
        "plbart",
        "prophetnet",
        "rembert",
        "roberta",
        "roberta-prelayernorm",
        "roc_bert",
        "roformer",
        "trocr",
        "whisper",
        "xlm-roberta",
    ]
)
"""The same for frozen embeddings: something else in front of the layers, such as positions, is trained."""
HOOK_LOSES = frozenset(
    [
        "bart",
        "bigbird_pegasus",
        "longt5",
        "m2m_100",
        "mbart",
        "nllb-moe",
        "plbart",
        "seamless_m4t",
        "seamless_m4t_v2",
        "switch_transformers",
        "xlm-prophetnet",
    ]
)
"""With a hook on the embeddings, as axolotl sets it, these still lose gradients (Transformers before 5)."""
WRAPPER_LOSES = frozenset(["switch_transformers", "xlm-prophetnet"])
"""With LLaMA-Factory's wrapper around each layer, these still lose gradients, or get others."""

_NAMES = (
    (r"qwen-?(?:1\.5|2\.5|2)(?!-?vl)", "qwen2"),
    (r"qwen-?3(?!-?(?:vl|next|\.))", "qwen3"),
    (r"(?:meta-?)?llama-?(?:2|3)(?:\.[0-3])?(?=-)(?!.*vision)|codellama|tinyllama|vicuna|alpaca|llama-\d+b", "llama"),
    (r"mixtral", "mixtral"),
    (r"mistral|zephyr", "mistral"),
    (r"gemma-?2-", "gemma2"),
    (r"gemma-\d+b", "gemma"),
    (r"phi-?3(?!.*vision)|phi-?3\.5-mini", "phi3"),
    (r"phi-?(?:1|1_5|2)(?![\d.])", "phi"),
    (r"gpt-?2|distilgpt2|dialogpt", "gpt2"),
    (r"gpt-?neox|pythia", "gpt_neox"),
    (r"gpt-?neo", "gpt_neo"),
    (r"starcoder2", "starcoder2"),
    (r"starcoder|santacoder", "gpt_bigcode"),
    (r"opt-\d", "opt"),
    (r"bloomz?-", "bloom"),
    (r"olmo-?2", "olmo2"),
    (r"(?:flan-)?t5", "t5"),
    (r"mt5", "mt5"),
    (r"bart", "bart"),
    (r"(?:distil)?roberta", "roberta"),
    (r"bert", "bert"),
    (r"whisper", "whisper"),
    (r"smollm3", "smollm3"),
)
"""How the names of checkpoints begin, behind their owner, and the model type they are; the first one counts."""


def family(checkpoint: str) -> str | None:
    """The model type of a checkpoint, told from its name: `qwen2` of `Qwen/Qwen2.5-7B-Instruct`.

    None where the name says nothing, and for families whose code comes with the checkpoint.
    """
    name = checkpoint.rstrip("/").rpartition("/")[2].lower()
    return next((model for pattern, model in _NAMES if re.match(pattern, name)), None)


def brings_code(checkpoint: object) -> bool:
    """Whether the name of a checkpoint begins like no architecture of Transformers, so that it may bring its own code.

    With `trust_remote_code` the built-in code runs where there is one: `Qwen/Qwen3-VL-4B` begins like `qwen3`.
    """
    if not isinstance(checkpoint, str):
        return True
    name = re.sub(r"[^a-z0-9]", "", checkpoint.rstrip("/").rpartition("/")[2].lower())
    return not any(name.startswith(re.sub(r"[^a-z0-9]", "", each)) for each in FAMILIES)


def unknown_family(ctx: FileContext, at: Entry, *, remote: bool) -> Evidence:
    """The place in a configuration that names a model of which no family is known.

    Args:
        remote: whether the configuration says that the model brings code of its own.
    """
    why = "this model brings code of its own" if remote else "the family of this model is unknown"
    return ctx.shown_at(at.key.start, why)
