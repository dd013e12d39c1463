from lightning_fabric import Fabric

fabric = Fabric(accelerator="cuda", devices=1, precision=16)
