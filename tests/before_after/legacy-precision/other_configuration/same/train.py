from lightning.pytorch import Trainer

from project import Trainer as Ours
