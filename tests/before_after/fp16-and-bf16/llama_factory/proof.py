"""Both precisions on in LLaMA-Factory: its arguments descend from Transformers', and so does their refusal."""

import torch
import yaml
from transformers import HfArgumentParser, Seq2SeqTrainingArguments, Trainer

from codemods.verify.observe import watch

SYMPTOM = "At most one of fp16 and bf16 can be True, but not both"


class Regression(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 1)

    def forward(self, features, labels):
        predicted = self.linear(features)
        return {"loss": torch.nn.functional.mse_loss(predicted, labels.to(predicted.dtype)), "logits": predicted}


def run(case):
    """What its parser does, with what a test wants besides, and the folder that the fixture leaves out."""
    quiet = {"report_to": [], "save_strategy": "no", "use_cpu": True, "disable_tqdm": True, "max_steps": 3}
    options = yaml.safe_load((case / "llama_factory.yml").read_text()) | quiet | {"output_dir": "out"}
    (arguments,) = HfArgumentParser(Seq2SeqTrainingArguments).parse_dict(options, allow_extra_keys=True)
    torch.manual_seed(0)
    model = Regression()
    rows = [{"features": f, "labels": f.sum(0, keepdim=True)} for f in torch.randn(24, 4)]
    with watch(model) as seen:
        seen.losses = [Trainer(model=model, args=arguments, train_dataset=rows).train().training_loss]
    seen.numbers = {"fp16": arguments.fp16, "bf16": arguments.bf16}
    return seen
