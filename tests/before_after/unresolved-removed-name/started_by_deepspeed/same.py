# fixer: upgrade=torch@2.13.0
import argparse

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", type=int, default=-1)
torch.cuda.set_device(parser.parse_args().local_rank)
