from torch.cuda.amp.grad_scaler import GradScaler as CudaScaler


def apply(scaler, loss, optimizer, parameters=None):
    """One step, with whatever the script uses: a scaler of CUDA, or our NullScaler."""
    if isinstance(scaler, CudaScaler):
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    else:
        loss.backward()
        optimizer.step()
    optimizer.zero_grad(set_to_none=True)
