# fixer: upgrade=datasets@5.2.0
from datasets import load_dataset

data = load_dataset("src/ni_dataset.py", data_dir="tasks")
more = load_dataset("json", data_files="a.json")
