import torch
from student import Student

student = torch.jit.script(Student())
