import torch
from torch.nn.utils import clip_grad_norm_


def train(encoder, decoder, loader, device="cuda", init_scale=2.0**16):
    encoder_optimizer = torch.optim.SGD(encoder.parameters(), lr=0.05)
    decoder_optimizer = torch.optim.SGD(decoder.parameters(), lr=0.05)
    scaler = torch.amp.GradScaler(device, init_scale=init_scale)
    losses = []
    for inputs, targets in loader:
        encoder_optimizer.zero_grad()
        decoder_optimizer.zero_grad()
        with torch.autocast(device, dtype=torch.float16):
            loss = torch.nn.functional.mse_loss(decoder(encoder(inputs)), targets)
        scaler.scale(loss).backward()
        scaler.unscale_(encoder_optimizer)
        scaler.unscale_(decoder_optimizer)
        clip_grad_norm_(decoder.parameters(), 0.5)
        clip_grad_norm_(encoder.parameters(), 0.5)
        scaler.step(encoder_optimizer)
        scaler.step(decoder_optimizer)
        scaler.update()
        losses.append(loss.item())
    return losses
