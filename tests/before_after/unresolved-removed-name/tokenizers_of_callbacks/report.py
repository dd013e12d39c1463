# fixer: upgrade=transformers@5.23.0
from transformers import TrainerCallback


class Saving(TrainerCallback):
    def on_save(self, args, state, control, **kwargs):
        kwargs["tokenizer"].save_pretrained(args.output_dir)
        kwargs.get("tokenizer").save_pretrained(args.output_dir)

    def on_train_end(self, args, state, control, tokenizer=None, **kwargs):
        tokenizer.save_pretrained(args.output_dir)


class Other:
    def on_save(self, tokenizer, **kwargs):
        return kwargs["tokenizer"]
