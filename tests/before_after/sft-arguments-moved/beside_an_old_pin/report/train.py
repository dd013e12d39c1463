from trl import PPOTrainer, SFTTrainer


def main(model, dataset):
    SFTTrainer(model=model, train_dataset=dataset, dataset_text_field="text").train()
    return PPOTrainer
