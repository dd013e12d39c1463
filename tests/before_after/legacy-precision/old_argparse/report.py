import pytorch_lightning as pl


def main(args):
    fast = pl.Trainer.from_argparse_args(args)
    return fast, pl.Trainer(precision=16)
