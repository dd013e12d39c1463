import yaml


def load(path):
    """File names and W&B tags are made of the values, so that they are written with underscores there."""
    values = yaml.safe_load(open(path))
    section = values["trainer"]
    values["tag"] = "-".join(f"{key}_{value}" for key, value in section.items())
    values["trainer"] = {k: v.replace("_", "-") if isinstance(v, str) else v for k, v in section.items()}
    return values
