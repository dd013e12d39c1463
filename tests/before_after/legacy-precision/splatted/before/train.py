import hydra
import lightning as L
from omegaconf import OmegaConf


@hydra.main(config_path="configs", config_name="train")
def main(cfg):
    trainer = L.Trainer(logger=make_logger(cfg), **cfg.trainer)
    fabric = L.Fabric(**cfg["distill"]["fabric"])
    ours = make_trainer(**cfg.ours)
