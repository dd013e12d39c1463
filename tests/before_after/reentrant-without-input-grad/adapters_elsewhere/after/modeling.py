from torch.utils.checkpoint import checkpoint
from transformers import PreTrainedModel


class MyDecoder(PreTrainedModel):
    def forward(self, hidden_states, mask):
        for layer in self.layers:
            hidden_states = checkpoint(layer, hidden_states, mask, use_reentrant=False)
        return hidden_states
