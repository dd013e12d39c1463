# fixer: target=transformers==5.23.0
from transformers import AutoImageProcessor, AutoProcessor

processor = AutoProcessor.from_pretrained("m", token=True)
images = AutoImageProcessor.from_pretrained("m", token="t")
