"""The old key warns, the new one trains the same."""

import tempfile

import torch
import yaml
from transformers import HfArgumentParser, Qwen2Config, Qwen2ForCausalLM, Trainer, TrainingArguments

from codemods.verify.observe import watch

SYMPTOM = "`gradient_checkpointing` is deprecated and will be removed in v6"


def run(case):
    """What `parse_yaml_file` does, with what a test wants besides."""
    quiet = {"output_dir": tempfile.mkdtemp(), "save_strategy": "no", "use_cpu": True, "disable_tqdm": True}
    options = yaml.safe_load((case / "yaml.yaml").read_text()) | quiet
    (arguments,) = HfArgumentParser(TrainingArguments).parse_dict(options)
    torch.manual_seed(0)
    small = {"vocab_size": 64, "hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2}
    model = Qwen2ForCausalLM(Qwen2Config(num_attention_heads=2, num_key_value_heads=2, **small))
    generator = torch.Generator().manual_seed(3)
    ids = [torch.randint(64, (8,), generator=generator) for _ in range(12)]
    rows = [{"input_ids": i, "labels": i} for i in ids]
    with watch(model) as seen:
        seen.losses = [Trainer(model=model, args=arguments, train_dataset=rows).train().training_loss]
    return seen
