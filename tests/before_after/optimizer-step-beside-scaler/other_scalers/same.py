import lightning.pytorch as pl
from sklearn.preprocessing import StandardScaler


class Scaled:
    def scale(self, loss):
        return 128 * loss


def own(model, optimizer, loader):
    scaler = Scaled()
    for batch in loader:
        scaler.scale(model(batch)).backward()
        optimizer.step()


def unknown(model, scaler, optimizer, loader):
    for batch in loader:
        scaler.scale(model(batch)).backward()
        optimizer.step()


def features(frame, model, optimizer, loader):
    scaler = StandardScaler().fit(frame)
    for batch in loader:
        (model(batch) / scaler.scale_).backward()
        optimizer.step()


class Module(pl.LightningModule):
    def training_step(self, batch):
        optimizer = self.optimizers()
        self.scaler.scale(self.net(batch)).backward()
        optimizer.step()
