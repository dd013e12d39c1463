# fixer: target=torch==2.4.1
import torch
import torch.nn.functional as F
from torch import nn


class Student(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(torch.randn(64, 16) * 0.1)
        self.mix = nn.Parameter(torch.eye(16))

    def forward(self, ids):
        # one row for each id, and the mixing matrix from the left
        return F.embedding(ids, self.table) @ self.mix.T


def main():
    student = Student()
    optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
    for step in range(50):
        ids = torch.randint(64, (32,))
        with torch.autocast("cpu", dtype=torch.bfloat16):
            with torch.no_grad():
                before = student(ids)
            loss = F.mse_loss(student(ids.flip(0)).float(), before.flip(0).float() * 0.9)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        assert student.mix.grad is not None and student.table.grad is not None


if __name__ == "__main__":
    main()
