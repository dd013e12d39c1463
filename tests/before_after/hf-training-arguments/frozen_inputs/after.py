# fixer: unsafe strategy=input-grads
import transformers

model = transformers.AutoModelForSequenceClassification.from_pretrained("acme/decoder-7b")
model.enable_input_require_grads()
model.get_input_embeddings().requires_grad_(False)
args = transformers.Seq2SeqTrainingArguments("out", gradient_checkpointing=True, gradient_checkpointing_kwargs=None)
trainer = transformers.Trainer(model, args)
