from pytorch_lightning import LightningModule
from torch.optim.lr_scheduler import StepLR
