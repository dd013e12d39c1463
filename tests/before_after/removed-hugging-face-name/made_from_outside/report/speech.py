from transformers import PreTrainedModel


class Encoder(PreTrainedModel):
    pass


def frozen(self):
    self.front.requires_grad_(False)


for part in ("extractor",):
    setattr(Encoder, f"freeze_feature_{part}", frozen)
