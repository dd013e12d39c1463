from sagemaker.huggingface import HuggingFace

estimator = HuggingFace(entry_point="train.py", source_dir="job", transformers_version="4.36.0", py_version="py310")
