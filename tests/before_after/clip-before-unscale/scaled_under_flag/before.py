import torch


class Solver:
    def __init__(self, model, optimizer, fp16):
        self.model, self.optimizer = model, optimizer
        self.scaler = torch.cuda.amp.GradScaler() if fp16 else None

    def run_step(self, batch, max_norm):
        loss = self.model(batch)
        if self.scaler is not None:
            loss = self.scaler.scale(loss)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), max_norm)
        if self.scaler is None:
            self.optimizer.step()
        else:
            self.scaler.step(self.optimizer)
            self.scaler.update()


class Flagged(Solver):
    def run_step(self, batch, max_norm):
        loss = self.model(batch)
        if self.fp16:
            loss = self.scaler.scale(loss)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), max_norm)
        if self.fp16:
            self.scaler.step(self.optimizer)
            self.scaler.update()
        else:
            self.optimizer.step()
