class TrainingArguments:
    def __init__(self, output_dir, evaluation_strategy="no"):
        self.output_dir, self.evaluation_strategy = output_dir, evaluation_strategy
