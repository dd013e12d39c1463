def scales(model):
    return [p for name, p in model.named_parameters() if name.endswith("scale")]
