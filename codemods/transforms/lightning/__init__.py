"""Rules about LightningModule, Fabric and Trainer."""
