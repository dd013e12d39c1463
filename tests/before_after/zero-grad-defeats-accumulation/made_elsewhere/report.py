import torch


class Task:
    def inner_loop(self, model, loader, optimizer, lr_scheduler, rounds, accum_grad_iters, scaler=None):
        use_amp = scaler is not None
        for i in range(rounds):
            if i >= rounds:
                break
            samples = next(loader)
            lr_scheduler.step(cur_epoch=0, cur_step=i)
            optimizer.zero_grad()
            with torch.autocast("cuda", enabled=use_amp):
                loss = model(samples)["loss"]
                loss /= accum_grad_iters
            if use_amp:
                scaler.scale(loss).backward()
            else:
                loss.backward()
            if (i + 1) % accum_grad_iters == 0:
                if use_amp:
                    scaler.step(optimizer)
                    scaler.update()
                else:
                    optimizer.step()
