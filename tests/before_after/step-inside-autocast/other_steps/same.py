import torch
import torch.nn as nn
import torch.nn.functional as F


def rollout(policy, env, scheduler, profiler, device_type="cuda"):
    with torch.autocast(device_type):
        state = env.reset()
        for _ in range(100):
            action = policy(state)
            state = env.step(action)
            scheduler.step()
            profiler.step()


def sample(unet, noise_scheduler, latents, device_type="cuda"):
    with torch.autocast(device_type):
        for t in noise_scheduler.timesteps:
            noise = unet(latents, t)
            latents = noise_scheduler.step(noise, t, latents).prev_sample
    return latents


def other_model(generator, discriminator, z, real, device_type="cuda"):
    opt_g = torch.optim.Adam(generator.parameters())
    with torch.autocast(device_type):
        fake = generator(z)
        loss = -discriminator(fake).mean()
        loss.backward()
        opt_g.step()
        return discriminator(real).mean() + discriminator(fake.detach()).mean()


def other_model_by_name(generator, discriminator, optimizer_G, z, real, device_type="cuda"):
    with torch.autocast(device_type):
        fake = generator(z)
        loss = -discriminator(fake).mean()
        loss.backward()
        optimizer_G.step()
        return discriminator(real).mean() + discriminator(fake.detach()).mean()
