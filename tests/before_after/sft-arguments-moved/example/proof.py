"""The configuration is not made; with the new names a small Qwen2 trains."""

import tempfile

import torch
from datasets import Dataset
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

from codemods.verify.observe import watch

SYMPTOM = "got an unexpected keyword argument 'max_seq_length'"


def run(case):
    torch.manual_seed(0)
    words = {f"w{number}": number for number in range(60)} | {"[PAD]": 60, "[EOS]": 61, "[UNK]": 62}
    tokens = Tokenizer(WordLevel(words, unk_token="[UNK]"))
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=tokens, pad_token="[PAD]", eos_token="[EOS]", unk_token="[UNK]"
    )
    small = {"vocab_size": 64, "hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2}
    model = Qwen2ForCausalLM(Qwen2Config(num_attention_heads=2, num_key_value_heads=2, **small))
    generator = torch.Generator().manual_seed(3)
    ids = [torch.randint(60, (8,), generator=generator).tolist() for _ in range(16)]
    with watch(model) as seen:
        seen.losses = [case.main(Dataset.from_dict({"input_ids": ids}), model, tokenizer, tempfile.mkdtemp()).training_loss]
    return seen
