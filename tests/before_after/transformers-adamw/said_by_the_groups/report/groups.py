NO_DECAY = ("bias", "LayerNorm.weight")
BERT = dict(correct_bias=False, betas=(0.9, 0.999))


def grouped(model, decay):
    """As the original TensorFlow code of BERT trained it."""
    rows = {True: [], False: []}
    for name, p in model.named_parameters():
        rows[name.endswith(NO_DECAY)].append(p)
    return [
        {"params": rows[False], "weight_decay": decay, **BERT},
        {"params": rows[True], "weight_decay": 0.0, **BERT},
    ]
