import argparse

from lightning import Trainer

parser = argparse.ArgumentParser()
parser.add_argument("--precision", default=32, choices=[16, 32])
parser.add_argument("--mixed-precision", default=16)
args = parser.parse_args()
Trainer(precision=args.precision)
