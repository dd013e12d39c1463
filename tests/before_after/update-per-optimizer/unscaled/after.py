# fixer: unsafe
import torch


class Trainer:
    def __init__(self, encoder, head, device="cuda", init_scale=2.0**16):
        self.encoder, self.head = encoder, head
        self.opt_encoder = torch.optim.SGD(encoder.parameters(), lr=0.05)
        self.opt_head = torch.optim.SGD(head.parameters(), lr=0.1)
        self.scaler = torch.amp.GradScaler(device, init_scale=init_scale)

    def training_step(self, inputs, targets):
        self.opt_encoder.zero_grad()
        self.opt_head.zero_grad()
        loss = torch.nn.functional.mse_loss(self.head(self.encoder(inputs)), targets)
        self.scaler.scale(loss).backward()
        self.scaler.unscale_(self.opt_encoder)
        torch.nn.utils.clip_grad_norm_(self.encoder.parameters(), 1.0)
        self.scaler.unscale_(self.opt_head)
        torch.nn.utils.clip_grad_norm_(self.head.parameters(), 1.0)
        self.scaler.step(self.opt_encoder)
        self.scaler.step(self.opt_head)
        self.scaler.update()
        return loss.item()
