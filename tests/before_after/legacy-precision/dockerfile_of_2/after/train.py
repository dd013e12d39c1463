import pytorch_lightning as pl


def main(model, loader):
    pl.Trainer(precision="16-mixed").fit(model, loader)


def optimizer_idx(text):
    """No hook: `def validation_epoch_end` in a text, and a function of that name."""
    return text


class Report:
    def validation_epoch_end(self, outputs):
        return outputs
