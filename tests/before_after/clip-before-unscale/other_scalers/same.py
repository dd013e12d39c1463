import torch
from sklearn.preprocessing import StandardScaler
from timm.utils import NativeScaler
from torch.nn.utils import clip_grad_norm_


class LossScaler:
    def scale(self, loss):
        return loss * 128

    def step(self, optimizer):
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                parameter.grad.div_(128)
        optimizer.step()

    def update(self):
        pass


def wrapped(model, optimizer, loader):
    loss_scaler = NativeScaler()
    for batch in loader:
        loss_scaler(model(batch), optimizer, clip_grad=1.0, parameters=model.parameters())


def own(model, optimizer, loader):
    scaler = LossScaler()
    for batch in loader:
        scaler.scale(model(batch)).backward()
        clip_grad_norm_(model.parameters(), 128.0)
        scaler.step(optimizer)
        scaler.update()


def features(frame, model, optimizer, loss):
    scaler = StandardScaler()
    frame = scaler.fit_transform(frame) / scaler.scale_
    loss.backward()
    clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return frame
