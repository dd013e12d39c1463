"""One step of distillation; the student's logits are 300 apart."""

import torch

from codemods.verify.observe import batches, settle, watch

SYMPTOM = "differs"
TOLERANCE = 1e-6


def parts():
    settle()
    student, teacher = torch.nn.Linear(8, 2), torch.nn.Linear(8, 2)
    with torch.no_grad():
        student.bias.copy_(torch.tensor([300.0, -300.0]))
    return student, teacher, batches()[0][0]


def run(case):
    student, teacher, x = parts()
    with watch(student) as seen:
        loss = case.distill(student, teacher, x)
        loss.backward()
        seen.losses = [loss.item()]
    return seen


def reference(case):
    """The loss in 64 bits, with the logarithm of the sum of exponentials."""
    student, teacher, x = parts()
    student, teacher = student.double(), teacher.double()
    with watch(student) as seen:
        target = torch.softmax(teacher(x.double()) / 2, dim=-1).detach()
        logits = student(x.double()) / 2
        predicted = logits - torch.logsumexp(logits, dim=-1, keepdim=True)
        loss = (target * (target.log() - predicted)).sum() / len(x)
        loss.backward()
        seen.losses = [loss.item()]
    seen.weights = {}
    return seen
