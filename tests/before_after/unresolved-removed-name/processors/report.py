# fixer: upgrade=transformers@5.23.0,lightning@2.6.6
import pytorch_lightning as pl
from pytorch_lightning.loops import PredictionLoop
from pytorch_lightning.utilities.imports import _fault_tolerant_training
from transformers import Wav2Vec2Processor


def prepare(processor, batch):
    with processor.as_target_processor():
        return processor(batch)
