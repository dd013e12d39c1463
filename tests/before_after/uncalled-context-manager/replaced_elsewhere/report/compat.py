import torch


class Reusable:
    """Can be entered as it is, and be called."""

    def __call__(self, *given):
        return _original(*given)

    def __enter__(self):
        self.entered = _original()
        return self.entered.__enter__()

    def __exit__(self, *error):
        return self.entered.__exit__(*error)


_original = torch.no_grad
torch.no_grad = Reusable()
