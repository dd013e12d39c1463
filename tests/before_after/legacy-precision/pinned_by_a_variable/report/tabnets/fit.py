from pytorch_lightning import Trainer

from tabnets import TabNet


def fit(loader, epochs=1):
    trainer = Trainer(max_epochs=epochs, accelerator="cpu", precision="bf16", logger=False)
    model = TabNet()
    trainer.fit(model, loader)
    return model
