from transformers import AutoModelForVision2Seq, AutoProcessor

REGISTRY = {"vlm": "HuggingFaceTB/SmolVLM-256M-Instruct"}
