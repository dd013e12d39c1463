# fixer: upgrade=transformers@5.23.0
from transformers import LlamaForCausalLM


class Streaming(LlamaForCausalLM):
    def stream(self, input_ids, config):
        return self._get_logits_warper(config)(input_ids, None)
