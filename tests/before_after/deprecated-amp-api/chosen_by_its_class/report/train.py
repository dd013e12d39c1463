from stepping import advance
from torch.cuda.amp import GradScaler


def train(model, optimizer, batches):
    scaler = GradScaler()
    for batch in batches:
        optimizer.zero_grad()
        advance(scaler, optimizer, model(batch).mean())
