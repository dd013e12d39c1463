from transformers import Trainer

from generation import Generates


class SamplingTrainer(Generates, Trainer):
    def log(self, logs, *args, **kwargs):
        if self.state.global_step % self.every == 0:
            ids = self.tokenizer("Once", return_tensors="pt").input_ids.to(self.args.device)
            out = self.model.generate(ids, max_new_tokens=20)
            print(self.tokenizer.decode(out[0]))
        super().log(logs, *args, **kwargs)
