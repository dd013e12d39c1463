import torch.nn.functional as F
from torch import nn
from transformers import BertModel, BertPreTrainedModel


class Prompted(BertPreTrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.bert, self.head = BertModel(config), nn.Linear(config.hidden_size, 2)

    def forward(self, input_ids=None, labels=None, **kwargs):
        logits = self.head(self.bert(input_ids)[1])
        loss = F.cross_entropy(logits, labels)
        return loss, logits


MODELS = {"prompted": Prompted}
