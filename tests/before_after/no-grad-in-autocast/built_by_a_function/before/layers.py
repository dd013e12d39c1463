import torch


def chained(*layers):
    class Chain(torch.nn.Sequential):
        def forward(self, x):
            for layer in self:
                x = layer(x)
            return x

    return Chain(*layers)
