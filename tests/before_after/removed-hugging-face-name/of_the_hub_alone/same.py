# fixer: target=transformers==5.23.0
from huggingface_hub import Repository

work = Repository("out", clone_from="me/model")
