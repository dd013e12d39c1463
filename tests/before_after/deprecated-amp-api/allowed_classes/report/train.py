import torch


def train(path, model):
    scaler = torch.cuda.amp.GradScaler()
    torch.save({"model": model.state_dict(), "scaler": scaler}, path)
