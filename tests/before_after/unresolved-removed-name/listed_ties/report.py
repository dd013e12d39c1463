# fixer: upgrade=transformers@5.23.0
from transformers import LlamaForCausalLM, PreTrainedModel


class Listed(PreTrainedModel):
    _tied_weights_keys = ["output.weight"]


class Inherited(LlamaForCausalLM):
    _tied_weights_keys = ["lm_head.weight"]


class Told(PreTrainedModel):
    _tied_weights_keys = {"output.weight": "embedding.weight"}


class Own:
    _tied_weights_keys = ["output.weight"]
