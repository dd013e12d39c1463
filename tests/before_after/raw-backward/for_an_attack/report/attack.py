import torch
import torch.nn.functional as F


class AttackMixin:
    attack_step = 0.5

    def attack(self, x, y):
        delta = torch.zeros_like(x, requires_grad=True)
        loss = F.cross_entropy(self(x + delta), y)
        loss.backward(inputs=[delta])
        return (x + self.attack_step * delta.grad).detach()
