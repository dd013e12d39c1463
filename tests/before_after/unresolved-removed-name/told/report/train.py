from somewhere import Base
from transformers import *
from transformers import Trainer


class Quiet(Trainer):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)


class Module(Base):
    def training_epoch_end(self, outputs):
        self.log("loss", sum(outputs))


def main(make, model, tokens, more):
    settings = {"output_dir": "out", "evaluation_strategy": "steps", "no_cuda": True}
    settings["overwrite_output_dir"] = True
    arguments = make.arguments(**settings, per_gpu_train_batch_size=3)
    if more.use_mps_device:
        settings = {}
    kept = make.from_pretrained("folder", load_in_8bit=True)
    return Quiet(model=model, tokenizer=tokens, args=arguments), kept, AdamWeightDecay(1e-3)
