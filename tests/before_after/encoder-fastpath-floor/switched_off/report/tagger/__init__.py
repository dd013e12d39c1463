from torch.backends import mha

mha.set_fastpath_enabled(False)  # #132613
