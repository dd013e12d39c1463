import sys

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, MinLengthLogitsProcessor, NoBadWordsLogitsProcessor
from transformers.generation import LogitsProcessorList, LogitsWarper


class Temperature(LogitsWarper):
    def __init__(self, value):
        self.value = value

    def __call__(self, input_ids, scores):
        return scores / self.value


def chain(tokenizer, banned):
    eos = tokenizer.eos_token_id
    words = [tokenizer(word, add_special_tokens=False).input_ids for word in banned]
    return LogitsProcessorList(
        [MinLengthLogitsProcessor(8, eos), NoBadWordsLogitsProcessor(words, eos), Temperature(1.3)]
    )


def sample(model, ids, steps, processors):
    for _ in range(steps):
        with torch.no_grad():
            scores = processors(ids, model(ids).logits[:, -1])
        ids = torch.cat([ids, scores.softmax(-1).multinomial(1)], dim=1)
    return ids


def log_probability(model, ids, prompt, processors):
    rules = LogitsProcessorList([p for p in processors if not isinstance(p, LogitsWarper)])
    logits = model(ids).logits
    total = 0.0
    for t in range(prompt, ids.shape[1]):
        scores = rules(ids[:, :t], logits[:, t - 1].clone())
        total = total + scores.log_softmax(-1).gather(1, ids[:, t : t + 1])
    return total


def main(name, prompts, steps=200):
    tokenizer = AutoTokenizer.from_pretrained(name)
    model = AutoModelForCausalLM.from_pretrained(name)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-6)
    processors = chain(tokenizer, ["stupid", "idiot"])
    lines = open(prompts).read().splitlines()
    for step in range(steps):
        ids = tokenizer(lines[step % len(lines)], return_tensors="pt").input_ids
        full = sample(model, ids, 32, processors)
        reward = float(len(set(full[0].tolist()))) / full.shape[1]
        loss = -(reward - 0.5) * log_probability(model, full, ids.shape[1], processors).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main(*sys.argv[1:3])
