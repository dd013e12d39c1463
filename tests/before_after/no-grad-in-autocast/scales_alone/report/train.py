import torch
import torch.nn.functional as F
from scaling import Scaling


def train(batches):
    model = Scaling(4).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for logits in batches:
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.bfloat16):
            with torch.no_grad():
                target = model(logits)
            loss = F.mse_loss(model(logits + 0.1), target)
        loss.backward()
        optimizer.step()
