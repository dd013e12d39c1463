import torch
from accelerate import Accelerator
from sklearn.preprocessing import StandardScaler
from timm.utils import NativeScaler


def prepared(model, optimizer, loader):
    accelerator = Accelerator(mixed_precision="fp16")
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for batch in loader:
        loss = model(batch)
        accelerator.backward(loss)
        accelerator.scaler.step(optimizer)
        accelerator.scaler.update()


def plain(frame, model, optimizer, loader):
    scaler = StandardScaler().fit(frame)
    for batch in loader:
        loss = model(scaler.transform(batch))
        loss.backward()
        optimizer.step()


def wrapped(model, optimizer, loader):
    loss_scaler = NativeScaler()
    for batch in loader:
        loss = model(batch)
        loss_scaler(loss, optimizer)
