import transformers


class TrainingArguments(transformers.TrainingArguments):
    def __init__(self, output_dir, gradient_checkpointing=False):
        super().__init__(output_dir, gradient_checkpointing=gradient_checkpointing)


class Settings:
    def __init__(self, **values):
        self.values = values


a = TrainingArguments("out", gradient_checkpointing=True)
b = Settings(gradient_checkpointing=True)
