import aliases

aliases.install()

from train import trainer  # noqa: E402, F401
