from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def build_loader(cfg, dataset, is_train=True):
    sampler = DistributedSampler(dataset, shuffle=is_train) if cfg.world_size > 1 else None
    return DataLoader(dataset, batch_size=cfg.batch, sampler=sampler, shuffle=is_train and sampler is None)
