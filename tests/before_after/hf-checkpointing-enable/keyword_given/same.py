import peft
from peft import prepare_model_for_kbit_training
from transformers import AutoModel

model = AutoModel.from_pretrained("base")
model.gradient_checkpointing_enable({"use_reentrant": False})
model.gradient_checkpointing_enable(gradient_checkpointing_kwargs=dict(use_reentrant=True))
model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"every_n_layers": 2})
model = prepare_model_for_kbit_training(model, gradient_checkpointing_kwargs={"use_reentrant": False})
model = prepare_model_for_kbit_training(model, use_gradient_checkpointing=False)
model = peft.prepare_model_for_kbit_training(model, False)
