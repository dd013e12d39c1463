# fixer: target=transformers==5.23.0
import huggingface_hub
import transformers
from huggingface_hub import Repository

work = Repository("out", clone_from="me/model")
token = huggingface_hub.HfFolder.get_token()
model = transformers.AutoModel.from_pretrained("me/model")
