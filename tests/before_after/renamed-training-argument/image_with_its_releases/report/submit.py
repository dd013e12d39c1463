IMAGE = "gcr.io/lab/huggingface-pytorch-training-cu121.2-3.transformers.4-40.ubuntu2004.py310"
