import importlib
import sys

import torch

program = importlib.import_module(sys.argv[1])
with vars(program)["autocast"](True, torch.bfloat16):
    print(program.model(torch.randn(2, 4)))
