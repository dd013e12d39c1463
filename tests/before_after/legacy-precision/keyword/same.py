from pytorch_lightning import Trainer

OPTIONS = {"precision": 16, "max_epochs": 3}
hidden = Trainer(**OPTIONS)
given = Trainer(**dict(precision=16))
