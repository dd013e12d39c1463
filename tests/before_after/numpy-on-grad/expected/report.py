from torch.nn import functional as F


def refused(model, x, y):
    loss = F.mse_loss(model(x), y)
    loss.backward()
    try:
        return loss.numpy()
    except RuntimeError:
        return loss.detach().numpy()
