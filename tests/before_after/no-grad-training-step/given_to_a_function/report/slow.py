def targets(owner, x):
    """What the slow network says; nobody has to know where it lives."""
    return owner.get_submodule(owner.slow_name)(x)
