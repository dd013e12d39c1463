import argparse

from lightning import Trainer

parser = argparse.ArgumentParser()
parser.add_argument("--precision", default=16)
args = parser.parse_args()
if args.precision == "16":
    args.precision = "16-mixed"
Trainer(precision=args.precision)
