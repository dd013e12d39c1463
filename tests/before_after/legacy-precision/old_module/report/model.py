from pytorch_lightning.metrics import Accuracy

accuracy = Accuracy()
