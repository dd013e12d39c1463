from lightning_fabric import Fabric

fabric = Fabric(accelerator="cuda", precision=16)
