REGISTRY = {}


def register(cls):
    """Found again by the name of its class, which stands in saved configurations."""
    REGISTRY[cls.__name__] = cls
    return cls


def build(config):
    return REGISTRY[config["image_processor"]](**config["options"])
