import transformers


class MeanTrainer(transformers.Trainer):
    def compute_loss(self, model, inputs, return_outputs=False):
        outputs = model(**inputs)
        loss = outputs.loss
        if model.training:
            loss = loss / self.args.gradient_accumulation_steps
        return (loss, outputs) if return_outputs else loss
