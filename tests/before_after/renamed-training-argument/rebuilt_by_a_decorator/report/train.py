from options import Options
from transformers import HfArgumentParser, Trainer


def main(model, dataset):
    (options,) = HfArgumentParser(Options).parse_args_into_dataclasses()
    device = "cpu" if options.no_cuda else "cuda"
    Trainer(model=model.to(device), args=options, train_dataset=dataset).train()
