# fixer: upgrade=transformers@5.23.0
import transformers


class Sampling:
    def sample(self, model, input_ids):
        ids, kwargs = self._expand_inputs(input_ids=input_ids, size=2)
        heads, weights = self.attend(input_ids=ids)
        return model.generate(ids, **kwargs), heads, weights

    def attend(self, input_ids):
        return input_ids, None


def load():
    return Sampling(), transformers.AutoModelForCausalLM.from_pretrained("gpt2")
