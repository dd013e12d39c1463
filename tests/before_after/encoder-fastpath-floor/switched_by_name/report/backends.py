"""Switches of the backends, as the job file has them."""
import torch

SWITCHES = {"mha.fastpath_enabled": False, "mkldnn.flags": None}


def configure(switches=SWITCHES):
    for path, value in switches.items():
        backend, name = path.split(".")
        if value is not None:
            getattr(getattr(torch.backends, backend), f"set_{name}")(value)
