from trl import DPOTrainer


class Patient(DPOTrainer):
    def log(self, logs, *args, **kwargs):
        print(logs)
