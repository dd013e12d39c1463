import argparse

import torch
import torch.nn.functional as F


def two_step(logits):
    return torch.log(F.softmax(logits, dim=-1))


def one_step(logits):
    return F.log_softmax(logits, dim=-1)


def largest_margin(kind, dtype, upper=400.0, steps=60):
    low, high = 0.0, upper
    for _ in range(steps):
        middle = (low + high) / 2
        logits = torch.tensor([[0.0, middle]], dtype=dtype)
        if torch.isfinite(kind(logits)).all():
            low = middle
        else:
            high = middle
    return low


def report(dtypes, tolerance):
    rows = []
    for dtype in dtypes:
        safe = largest_margin(two_step, dtype)
        stable = largest_margin(one_step, dtype)
        assert stable > safe + tolerance, (dtype, safe, stable)
        rows.append((str(dtype), safe, stable))
    return rows


def main():
    parser = argparse.ArgumentParser(description="Figure 2: where the naive formula underflows")
    parser.add_argument("--tolerance", type=float, default=10.0)
    args = parser.parse_args()
    for name, safe, stable in report([torch.float32, torch.bfloat16], args.tolerance):
        print(f"{name:>16}  naive {safe:7.2f}  stable {stable:7.2f}")


if __name__ == "__main__":
    main()
