from transformers import Trainer

from arguments import ExperimentArguments


def main(model, train, valid):
    args = ExperimentArguments(
        output_dir="out",
        evaluation_strategy="steps",
        eval_steps=500,
        learning_rate=5e-5,
        note="baseline",
        report_to=[],
    )
    Trainer(model=model, args=args, train_dataset=train, eval_dataset=valid).train()
