from torch.backends import mha

# CPU autocast and the fused encoder do not go together (pytorch#107663)
mha.set_fastpath_enabled(False)
