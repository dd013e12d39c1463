from lightning.pytorch.cli import LightningCLI


class CLI(LightningCLI):
    def before_fit(self):
        if self.config.fit.trainer.precision == 16:
            self.model.half()


CLI()
