# fixer: target=transformers==5.23.0
from transformers import Seq2SeqTrainer


class Logging(Seq2SeqTrainer):
    def compute_loss(
        self,
        model,
        inputs,
        return_outputs: bool = False,  # for evaluation
    ):
        loss = super().compute_loss(
            model,
            inputs,
            return_outputs,
        )
        print(loss)
        return loss
