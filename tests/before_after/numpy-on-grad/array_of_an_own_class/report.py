import torch


class Score(torch.Tensor):
    def numpy(self):
        return self.detach().as_subclass(torch.Tensor).numpy()


def fit(model, optimizer, batches):
    values = []
    for x, y in batches:
        loss = (model(x) - y).square().mean().as_subclass(Score)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        values.append(float(loss.numpy()))
    return values
