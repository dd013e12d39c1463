"""Nothing is frozen in the model that trains: a frozen VAE beside it, or an import of PEFT, changes nothing."""

import peft
from transformers import AutoModel, AutoModelForCausalLM, Trainer, TrainingArguments

vae = AutoModel.from_pretrained("acme/vae")
vae.requires_grad_(False)
model = AutoModelForCausalLM.from_pretrained("acme/decoder-7b")
args = TrainingArguments("out", gradient_checkpointing=True)
trainer = Trainer(model, args)
print(peft.__version__)
