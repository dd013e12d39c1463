from torch.nn.parallel import DistributedDataParallel


def wrap(model):
    return DistributedDataParallel(model, forward_sync_buffers=False)
