import torch


def train(generator, discriminator, batches):
    opt_g = torch.optim.Adam(generator.parameters())
    opt_d = torch.optim.Adam(discriminator.parameters())
    scaler, spare = torch.amp.GradScaler("cuda"), torch.amp.GradScaler("cuda", init_scale=1024.0)
    for noise, real in batches:
        opt_g.zero_grad()
        opt_d.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            fake = generator(noise)
            loss_d = discriminator(fake.detach()).mean() - discriminator(real).mean()
            loss_g = -discriminator(fake).mean()
        scaler.scale(loss_d).backward()
        spare.scale(loss_g).backward()
        scaler.step(opt_d)
        scaler.update()
        scaler, spare = spare, scaler
        scaler.step(opt_g)
        scaler.update()
        scaler, spare = spare, scaler
