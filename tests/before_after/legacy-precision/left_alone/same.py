import torchmetrics
import transformers
from lightning.pytorch import Trainer
from lightning.pytorch.plugins import MixedPrecision
from torchmetrics.classification import BinaryPrecision

from my_project.training import Trainer as OurTrainer

args = None
Trainer(precision="16-mixed")
Trainer(precision="bf16-true")
Trainer(precision=32)
Trainer(precision="32")
Trainer(precision=64)
Trainer(precision=16.0)
Trainer(precision=args.precision)
Trainer(precision=None)
Trainer(**{"precision": 16})
Trainer.from_argparse_args(args, precision=16)
MixedPrecision(precision=16, device="cuda")
OurTrainer(precision=16)
BinaryPrecision(precision=16)
torchmetrics.Precision(precision=16)
transformers.Trainer(precision=16)
