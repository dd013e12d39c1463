"""A key that `HfArgumentParser` refuses; with the new name the Trainer trains."""

import tempfile

import torch
import yaml
from transformers import HfArgumentParser, Trainer, TrainingArguments

from codemods.verify.observe import watch

SYMPTOM = "Some keys are not used by the HfArgumentParser: ['evaluation_strategy'"


class Regression(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 1)

    def forward(self, features, labels):
        predicted = self.linear(features)
        return {"loss": torch.nn.functional.mse_loss(predicted, labels), "logits": predicted}


def run(case):
    """What `parse_yaml_file` does, with what a test wants besides."""
    quiet = {"output_dir": tempfile.mkdtemp(), "save_strategy": "no", "use_cpu": True, "disable_tqdm": True}
    options = yaml.safe_load((case / "yaml.yaml").read_text()) | quiet
    (arguments,) = HfArgumentParser(TrainingArguments).parse_dict(options)
    torch.manual_seed(0)
    model = Regression()
    rows = [{"features": f, "labels": f.sum(0, keepdim=True)} for f in torch.randn(24, 4)]
    with watch(model) as seen:
        seen.losses = [Trainer(model=model, args=arguments, train_dataset=rows).train().training_loss]
    return seen
