# fixer: upgrade=transformers@5.23.0
from transformers import AutoModelForCausalLM, AutoProcessor

processor = AutoProcessor.from_pretrained("m")
model = AutoModelForCausalLM.from_pretrained("m", load_in_8bit=True)


def text(messages):
    prompt = processor.apply_chat_template(messages, add_generation_prompt=True)
    return processor(prompt, return_tensors="pt")
