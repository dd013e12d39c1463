# fixer: upgrade=transformers@5.23.0
import torch.nn as nn
from transformers import BertConfig, BertForSequenceClassification, BertModel


class Classifier(nn.Module):
    def __init__(self, path):
        super().__init__()
        self.bert = BertModel(BertConfig.from_pretrained(path))

    def forward(self, input_ids, attention_mask):
        sequence, pooled = self.bert(input_ids=input_ids, attention_mask=attention_mask)
        _, again = self.bert(input_ids, return_dict=False)
        both = self.bert(input_ids)[:2]
        return sequence, pooled, again, both


def step(model, batch, labels):
    loss, logits = model(batch, labels=labels)
    first, second = model(batch)
    return loss, logits, first, second


def train(batch, labels, path):
    model = BertForSequenceClassification(BertConfig.from_pretrained(path))
    loss, logits = model(batch, labels=labels)
    return loss, logits
