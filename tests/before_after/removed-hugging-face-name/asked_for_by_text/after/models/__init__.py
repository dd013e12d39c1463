from transformers import AutoModelForImageTextToText as AutoModelForVision2Seq
from transformers import AutoProcessor

REGISTRY = {"vlm": "HuggingFaceTB/SmolVLM-256M-Instruct"}
