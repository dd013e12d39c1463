from modal import Image

image = Image.debian_slim().pip_install("transformers==4.35.0", "peft==0.6.0")
