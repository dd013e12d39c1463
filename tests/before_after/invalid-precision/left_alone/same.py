import torchmetrics
import transformers
from lightning.pytorch import Trainer
from lightning.pytorch.plugins import MixedPrecision
from torchmetrics.classification import BinaryPrecision

from my_project.training import Trainer as OurTrainer

args = None
PRECISION = "16-mixed"
Trainer(precision=16)
Trainer(precision="16")
Trainer(precision="bf16")
Trainer(precision="16-mixed")
Trainer(precision="bf16-true")
Trainer(precision="transformer-engine")
Trainer(precision=32)
Trainer(precision=64)
Trainer(precision=None)
Trainer(precision=args.precision)
Trainer(precision=PRECISION)
Trainer(precision=f"{args.bits}-mixed")
Trainer(accelerator="gpu")
Trainer.from_argparse_args(args, precision="fp16")
MixedPrecision(precision="fp16", device="cuda")
OurTrainer(precision="fp16")
BinaryPrecision(precision="fp16")
torchmetrics.Precision(precision="fp16")
transformers.Trainer(precision="fp16")
