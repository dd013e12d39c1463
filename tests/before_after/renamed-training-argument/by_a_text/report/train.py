from transformers import Trainer, TrainingArguments


class Warm(Trainer):
    def create_scheduler(self, num_training_steps, optimizer=None):
        ratio = getattr(self.args, "warmup_ratio", 0.0)
        return super().create_scheduler(int(num_training_steps * (1 - ratio)), optimizer)


arguments = TrainingArguments(output_dir="runs", warmup_ratio=0.06)
