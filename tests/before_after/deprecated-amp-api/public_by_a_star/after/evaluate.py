import argparse
import importlib

import torch


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("weights")
    parser.add_argument("--package", default="vision")
    options = parser.parse_args()
    toolkit = importlib.import_module(options.package)
    model = torch.jit.load(options.weights).cuda().eval()
    images = torch.randn(8, 3, 224, 224, device="cuda")
    with torch.no_grad(), toolkit.autocast(enabled=True):
        print(model(images).argmax(-1).tolist())


if __name__ == "__main__":
    main()
