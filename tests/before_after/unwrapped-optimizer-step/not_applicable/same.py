from somewhere import *


class Shadow:
    def training_step(self, batch, batch_idx, optimizers):  # shadow: a parameter of that name
        optimizers().optimizer.step()


class Star(ManualModule):  # star: nobody knows what the import brings
    def training_step(self, batch, batch_idx):
        self.optimizers().optimizer.step()


class Splat:
    def training_step(self, *args):
        self.optimizers(*args).step()  # splat: nobody knows what is given


class Keyword:
    def training_step(self, batch, **options):
        self.optimizers(**options).step()  # keyword: the same
