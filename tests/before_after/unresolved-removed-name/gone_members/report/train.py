import pytorch_lightning as pl
from accelerate import DistributedType
from transformers import Trainer
from pytorch_lightning.callbacks import ModelCheckpoint


class Counting(Trainer):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.total_flos = 0

    def report(self):
        if self.is_world_master():
            print(self.total_flos, self.epoch)


def main(model, data, args, given):
    trainer = Trainer(model=model, args=args, train_dataset=data, prediction_loss_only=True)
    trainer.train(model_path="out/last")
    if given.trainer.is_world_master():
        print(given.trainer.epoch)
    saver = ModelCheckpoint(filepath="out/{epoch}", prefix="run", monitor="loss")
    fast = pl.Trainer(callbacks=[saver])
    fast.get_model().freeze()
    if given.kind == DistributedType.TPU:
        given.is_overridden("x")
