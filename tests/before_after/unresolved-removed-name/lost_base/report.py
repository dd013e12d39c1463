# fixer: upgrade=transformers@5.23.0
"""Models that generate, by what they are made of."""

import torch
from transformers import GenerationMixin, LlamaForCausalLM, LlamaPreTrainedModel, PreTrainedModel


class Plain(PreTrainedModel):
    def prepare_inputs_for_generation(self, input_ids, **kwargs):
        return {"input_ids": input_ids}


class OfAFamily(LlamaPreTrainedModel):
    def prepare_inputs_for_generation(self, input_ids, **kwargs):
        return {"input_ids": input_ids}


class Mixed(PreTrainedModel, GenerationMixin):
    def prepare_inputs_for_generation(self, input_ids, **kwargs):
        return {"input_ids": input_ids}


class Whole(LlamaForCausalLM):
    def prepare_inputs_for_generation(self, input_ids, **kwargs):
        return {"input_ids": input_ids}


class Encoder(PreTrainedModel):
    def forward(self, x):
        return x


class Own(torch.nn.Module):
    def prepare_inputs_for_generation(self, input_ids, **kwargs):
        return {"input_ids": input_ids}
