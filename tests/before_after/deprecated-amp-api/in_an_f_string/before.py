# fixer: target=torch==2.5
import torch

print(f"{torch.cuda.amp.GradScaler()} and more")
print(f'{torch.cuda.amp.GradScaler()} and more')
print(f"""{torch.cuda.amp.GradScaler()} and more""")
scaler = torch.cuda.amp.GradScaler()
