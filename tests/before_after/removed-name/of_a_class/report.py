# fixer: target=lightning==2.6.6
from pytorch_lightning import Trainer, loggers
from pytorch_lightning.metrics.functional import accuracy


def trainer(parser, logger: loggers.LightningLoggerBase):
    Trainer.add_argparse_args(parser)
    print(accuracy, logger)
    return Trainer.from_argparse_args(parser.parse_args())
