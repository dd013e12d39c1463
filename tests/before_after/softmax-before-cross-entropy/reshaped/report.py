import torch
from torch import nn
from torch.nn import CrossEntropyLoss, Softmax


class Tagger(nn.Module):
    def __init__(self, width, tags):
        super().__init__()
        self.tags, self.head, self.softmax = tags, nn.Linear(width, tags), Softmax(dim=-1)

    def forward(self, states, labels):
        probabilities = self.predict(states)
        return CrossEntropyLoss()(probabilities.view(-1, self.tags), labels.view(-1))

    def predict(self, states):
        return self.softmax(self.head(states))


if __name__ == "__main__":
    print(Tagger(8, 3)(torch.randn(2, 5, 8), torch.randint(3, (2, 5))))
