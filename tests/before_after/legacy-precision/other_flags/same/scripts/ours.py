import argparse

from project import Trainer

parser = argparse.ArgumentParser()
parser.add_argument("--precision", default=16)
args = parser.parse_args()
Trainer(precision=args.precision)
