# fixer: target=transformers==5.23.0
"""A class method that a class of the project has from its base."""

from transformers import RobertaModel, RobertaPreTrainedModel


class Encoder(RobertaPreTrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.roberta = RobertaModel(config)
        self.post_init()


class Own(Encoder):
    @classmethod
    def from_pretrained(cls, name, use_auth_token=None):
        return super().from_pretrained(name, token=use_auth_token)


model = Encoder.from_pretrained("me/model", token=True)
other = Own.from_pretrained("me/model", use_auth_token=True)
