WARM = 2


def phase(model, step):
    """The first steps only fill the statistics; nothing is trained."""
    for parameter in model.parameters():
        parameter.requires_grad_(step >= WARM)
