# fixer: target=transformers==5.23.0
from transformers import PreTrainedModel


class Pruned(PreTrainedModel):
    def _prune_heads(self, heads_to_prune):
        for layer, heads in heads_to_prune.items():
            self.encoder.layer[layer].attention.prune_heads(heads)


class Kept(PreTrainedModel):
    def _prune_heads(self, heads_to_prune):
        self.heads = heads_to_prune

    def prune(self, heads):
        self._prune_heads(heads)
