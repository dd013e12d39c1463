import time


def bench(module, batches, phase="training"):
    """Time of the step alone."""
    optimizer = module.configure_optimizers()
    module.optimizers = lambda: optimizer
    step = getattr(module, "_".join((phase, "step")))
    start = time.perf_counter()
    for i, batch in enumerate(batches):
        step(batch, i)
    return time.perf_counter() - start
