import argparse

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--precision", default=16)
args = parser.parse_args()
