"""Lightning: hooks, optimizers, precisions, and the arguments of its Trainer."""
