import lightning.pytorch as pl


class PodTrainer(pl.Trainer):
    def __getattr__(self, name):
        if name == "training_type_plugin":
            return len(name)
        raise AttributeError(name)
