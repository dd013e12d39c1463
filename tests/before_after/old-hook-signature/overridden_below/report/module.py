from base import Base


class Module(Base):
    def on_train_epoch_end(self):
        self.log("epochs", float(self.current_epoch))
