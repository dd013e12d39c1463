from dataclasses import dataclass

from torch.optim.lr_scheduler import LambdaLR


@dataclass
class ScheduleArguments:
    peak: float = 3e-4
    floor: float = 0.1
    warmup_ratio: float = 0.0

    def build(self, optimizer, steps):
        warmup = max(1, round(steps * self.warmup_ratio))

        def rate(step):
            if step < warmup:
                return (step + 1) / warmup
            return max(self.floor, 1 - (step - warmup) / max(1, steps - warmup))

        return LambdaLR(optimizer, rate)
