import torch
from peft import LoraConfig, PeftModel
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments


class Saving(Trainer):
    def save_model(self, output_dir=None, _internal_call=False):
        self.model.save_pretrained(output_dir or self.args.output_dir)


def adapter_of(model, path):
    print(LoraConfig.from_pretrained(path).r)
    return PeftModel.from_pretrained(model, path)


def main(name, path, rows):
    model = AutoModelForCausalLM.from_pretrained(name, dtype=torch.float32)
    model = adapter_of(model, path)
    Saving(model=model, args=TrainingArguments("out"), train_dataset=rows).train()
