# fixer: unsafe
import torch
import torchvision
from torch import nn
from transformers import AutoModelForCausalLM, Trainer


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(512, 10)


def images(trainer, weights):
    model = torchvision.models.vgg16(weights=None)
    optimizer = torch.optim.AdamW((p for p in model.parameters() if p.requires_grad), lr=1e-4)
    # ten classes
    model.classifier[6] = nn.Linear(4096, 10)
    trainer.run(model, optimizer)
    other = torch.optim.SGD(params=model.parameters(), lr=0.1)
    model.load_state_dict(weights, assign=True)
    other.step()
    last = torch.optim.SGD(model.parameters(), lr=0.1)
    model.features.head = Head()
    last.step()


def texts(name, args, tokens):
    model = AutoModelForCausalLM.from_pretrained(name)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
    model.resize_token_embeddings(len(tokens))
    Trainer(model, args, optimizers=(optimizer, None)).train()
