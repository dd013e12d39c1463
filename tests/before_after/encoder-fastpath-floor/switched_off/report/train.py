import torch
from tagger.model import Tagger, evaluate, train

if __name__ == "__main__":
    batches = [(torch.randn(4, 10, 64), torch.randint(7, (4, 10))) for _ in range(5)]
    model = Tagger()
    train(model, batches)
    print(evaluate(model, batches))
