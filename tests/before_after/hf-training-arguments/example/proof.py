"""Qwen2 with LoRA under a Trainer: fails before Transformers 5; with 5 both sides are non-reentrant and train alike."""

import tempfile

import torch
from transformers import Qwen2Config, Qwen2ForCausalLM, Trainer

from codemods.verify.observe import watch

SYMPTOM = "element 0 of tensors does not require grad and does not have a grad_fn"
BITES = {"transformers": "<5"}


def run(case):
    torch.manual_seed(0)
    small = {"vocab_size": 64, "hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2}
    base = Qwen2ForCausalLM(Qwen2Config(num_attention_heads=2, num_key_value_heads=2, **small))
    case.AutoModelForCausalLM = type("Loader", (), {"from_pretrained": staticmethod(lambda name: base)})
    given, arguments = {}, case.TrainingArguments

    def with_folder(*_, **options):
        given.update(options)
        options["output_dir"] = tempfile.mkdtemp()
        return arguments(**options, report_to=[], max_steps=3, save_strategy="no", use_cpu=True, disable_tqdm=True)

    case.TrainingArguments = with_folder
    generator = torch.Generator().manual_seed(3)
    ids = [torch.randint(64, (8,), generator=generator) for _ in range(12)]
    watched = {}

    class Watching(Trainer):
        def train(self):
            with watch(self.model) as seen:
                seen.losses = [super().train().training_loss]
            watched["seen"] = seen

    case.Trainer = Watching
    case.main([{"input_ids": i, "labels": i} for i in ids])
    watched["seen"].witness = int("gradient_checkpointing_kwargs" in given)
    return watched["seen"]
