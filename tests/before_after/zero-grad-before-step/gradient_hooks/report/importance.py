import torch


class Importance:
    def __init__(self, model):
        self.scores = {}
        self.handles = []
        for name, p in model.named_parameters():
            self.scores[name] = torch.zeros_like(p)
            self.handles.append(p.register_post_accumulate_grad_hook(self._collect(name)))

    def _collect(self, name):
        def hook(p):
            self.scores[name] += (p.detach() * p.grad).square()

        return hook

    def remove(self):
        for handle in self.handles:
            handle.remove()

    def ranking(self):
        return sorted(self.scores, key=lambda name: self.scores[name].mean().item())
