import argparse

from lightning import Trainer

parser = argparse.ArgumentParser()
parser.add_argument("--precision", default="fp16")
args = parser.parse_args()
Trainer(precision=args.precision)
