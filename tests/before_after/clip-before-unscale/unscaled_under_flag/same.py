import torch
from torch.cuda import amp


class Trainer:
    def train(self, model, optimizer, loader):
        if self.args.fp16:
            scaler = amp.GradScaler()
        for step, batch in enumerate(loader):
            loss = model(**batch).loss / self.args.accumulation
            if self.args.fp16:
                scaler.scale(loss).backward()
            else:
                loss.backward()
            if (step + 1) % self.args.accumulation == 0:
                if self.args.fp16:
                    scaler.unscale_(optimizer)
                torch.nn.utils.clip_grad_norm_(model.parameters(), self.args.max_norm)
                if self.args.fp16:
                    scaler.step(optimizer)
                    scaler.update()
                else:
                    optimizer.step()
