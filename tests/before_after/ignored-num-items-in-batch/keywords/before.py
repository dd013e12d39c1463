# fixer: target=transformers==5.23.0
from transformers import AutoModelForCausalLM, Seq2SeqTrainer, Seq2SeqTrainingArguments


class Logging(Seq2SeqTrainer):
    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        loss, outputs = super().compute_loss(model, inputs, return_outputs=True)
        self.log({"loss of a batch": loss.item()})
        return (loss, outputs) if return_outputs else loss


def main(name, dataset, steps=8):
    model = AutoModelForCausalLM.from_pretrained(name)
    args = Seq2SeqTrainingArguments("out", gradient_accumulation_steps=steps)
    Logging(model=model, args=args, train_dataset=dataset).train()


main("a", [], 16)
