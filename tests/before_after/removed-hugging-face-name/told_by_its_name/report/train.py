import torch
import torch.nn.functional as F
from collate import collator
from PIL import Image
from torch.utils.data import DataLoader
from transformers import CLIPFeatureExtractor


def main():
    processor = CLIPFeatureExtractor(size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32})
    rows = [(Image.new("RGB", (40, 40), (i, 0, 0)), i % 2) for i in range(32)]
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 32 * 32, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for pixels, labels in DataLoader(rows, batch_size=8, collate_fn=collator(processor)):
        loss = F.cross_entropy(model(pixels), torch.tensor(labels))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
