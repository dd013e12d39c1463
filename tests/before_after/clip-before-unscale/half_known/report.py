from torch.nn.utils import clip_grad_norm_


def optimizer_step(scaler, optimizer, model):
    clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
