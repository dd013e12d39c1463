# fixer: target=transformers==5.23.0
from transformers import AutoModelForCausalLM, BitsAndBytesConfig, pipeline


def load(folder, few, **more):
    first = AutoModelForCausalLM.from_pretrained(folder, load_in_4bit=few)
    config = BitsAndBytesConfig(load_in_4bit=True)
    second = AutoModelForCausalLM.from_pretrained(folder, load_in_4bit=True, quantization_config=config)
    return first, second, AutoModelForCausalLM.from_pretrained(folder, load_in_8bit=True, **more)


def traced(folder):
    return AutoModelForCausalLM.from_pretrained(folder, torchscript=True)


def tasks(flag):
    asked = pipeline("question-answering" if flag else "text-generation")
    return asked, pipeline(task="summarization"), pipeline("fill-mask")
