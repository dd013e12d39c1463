import argparse

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", type=int, default=-1)
parser.add_argument("--rank", "--local-rank", "--local_rank", type=int)
torch.cuda.set_device(parser.parse_args().local_rank)
