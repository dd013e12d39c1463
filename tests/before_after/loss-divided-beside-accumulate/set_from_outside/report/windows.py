from itertools import count


def manual(engine):
    """Takes the counting of batches out of the hands of `engine`."""
    window = engine.gradient_accumulation_steps
    engine.gradient_accumulation_steps = 1
    ticks = count(1)
    return lambda: next(ticks) % window == 0
