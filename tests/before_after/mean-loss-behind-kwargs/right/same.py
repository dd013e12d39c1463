# fixer: target=transformers==5.23.0
from torch import nn
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments


class Plain(nn.Module):
    def forward(self, features, labels=None):
        return {"loss": nn.functional.mse_loss(self.linear(features), labels)}


class Handing(nn.Module):
    def __init__(self, name):
        super().__init__()
        self.inner = AutoModelForCausalLM.from_pretrained(name)

    def forward(self, input_ids, labels=None, **kwargs):
        outputs = self.inner(input_ids, labels=labels, **kwargs)
        return {"loss": outputs.loss}


class Declared(nn.Module):
    accepts_loss_kwargs = False

    def forward(self, features, labels=None, **kwargs):
        return {"loss": nn.functional.mse_loss(self.linear(features), labels)}


class Elsewhere(nn.Module):
    def forward(self, features, labels=None, **kwargs):
        return {"loss": nn.functional.mse_loss(self.linear(features), labels)}


class Computing(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        return model(**inputs)["loss"] / num_items_in_batch


def main(name, dataset):
    args = TrainingArguments("out", gradient_accumulation_steps=4)
    for model in (Plain(), Handing(name), Declared()):
        Trainer(model, args, train_dataset=dataset).train()
    Computing(Elsewhere(), args, train_dataset=dataset).train()
