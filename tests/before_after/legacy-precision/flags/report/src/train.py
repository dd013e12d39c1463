import argparse

import pytorch_lightning as pl

parser = argparse.ArgumentParser()
parser.add_argument("--precision", type=int, default=16)
parser.add_argument("-a", "--amp-bits", default="bf16", help="for the teacher")
parser.add_argument("--bits", dest="student_bits", default=16)
parser.add_argument("--unused", default=16)
parser.add_argument("--devices", default=32)
args = parser.parse_args()
trainer = pl.Trainer(precision=args.precision, devices=args.devices)
teacher = pl.Trainer(precision=args.amp_bits)
student = pl.Trainer(precision=args.student_bits)
