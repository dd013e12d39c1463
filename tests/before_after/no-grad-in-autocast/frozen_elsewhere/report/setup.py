import yaml


def configure(model, path="prompt.yaml"):
    with open(path) as f:
        cfg = yaml.safe_load(f)
    for name, p in model.named_parameters():
        p.requires_grad_(any(name.startswith(t) for t in cfg["train_only"]))
    return cfg
