"""`python selfcheck.py`: is the Lightning of this machine as strict as the form on our web page says?"""
import sys
from functools import partial

import lightning as L

from runner import run


def refuses(make):
    try:
        make()
    except Exception as error:
        return "precision" in str(error).lower()
    return False


CHECKS = {
    "underscore": partial(L.Trainer, precision="16_mixed", accelerator="cpu"),
    "swapped": partial(L.Trainer, precision="mixed-bf16", accelerator="cpu"),
    "framework name": lambda: L.Trainer(precision="fp16-mixed", accelerator="cpu"),
}

if __name__ == "__main__":
    wrong = [name for name, make in CHECKS.items() if not refuses(make)]
    print(run("bf16-mixed").global_step, "steps;", "accepted:", wrong or "nothing")
    sys.exit(bool(wrong))
