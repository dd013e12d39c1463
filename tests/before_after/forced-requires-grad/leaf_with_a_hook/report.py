import torch.nn.functional as F


def train(model, optimizer, batches):
    for x, y in batches:
        optimizer.zero_grad()
        value = F.mse_loss(model(x), y)
        loss = value.detach()
        loss.requires_grad_()
        loss.register_post_accumulate_grad_hook(lambda leaf, value=value: value.backward(leaf.grad))
        loss.backward()
        optimizer.step()
