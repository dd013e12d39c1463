import sagemaker
from sagemaker.huggingface import HuggingFace

IMAGE = {"transformers_version": "4.36.0", "pytorch_version": "2.1.0", "py_version": "py310"}


def submit(data):
    estimator = HuggingFace(
        entry_point="train.py",
        source_dir="job",
        instance_type="ml.g5.xlarge",
        instance_count=1,
        role=sagemaker.get_execution_role(),
        hyperparameters={"epochs": 2},
        **IMAGE,
    )
    estimator.fit({"train": data})
