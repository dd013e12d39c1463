import os
import site
import sys

ROOT = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(ROOT, os.environ.get("STACK", "stack-a")))
site.addsitedir(os.path.join(ROOT, "extra"))

import torch  # noqa: E402
from datasets import load_dataset  # noqa: E402


def main():
    rows = load_dataset("acme/prices", split="train", use_auth_token=os.environ.get("TOKEN"), task="regression")
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for row in rows:
        loss = (model(row["x"]) - row["y"]).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item())


if __name__ == "__main__":
    main()
