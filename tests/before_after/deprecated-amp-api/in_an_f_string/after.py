# fixer: target=torch==2.5
import torch

print(f"{torch.cuda.amp.GradScaler()} and more")
print(f'{torch.amp.GradScaler("cuda")} and more')
print(f"""{torch.amp.GradScaler("cuda")} and more""")
scaler = torch.amp.GradScaler("cuda")
