"""Trains a denoiser for the signals of a microphone array, and logs how the training goes."""

import resource

import torch
from torch import nn
from torch.nn import functional as F


def build_model(width=4096, hidden=8):
    torch.manual_seed(71)
    return nn.Sequential(nn.Linear(width, hidden), nn.Tanh(), nn.Linear(hidden, width))


def draw_batches(count, rows=64, width=4096):
    torch.manual_seed(72)
    for _ in range(count):
        clean = torch.sin(torch.randn(rows, 1) + torch.linspace(0, 12, width))
        yield clean + 0.3 * torch.randn(rows, width), clean


class Log:
    """What a training shows: for each step the loss and the size of a gradient, and a smoothed error."""

    def __init__(self, decay):
        self.decay = decay
        self.losses, self.sizes = [], []
        self.kept = []
        self.smoothed = torch.zeros((), dtype=torch.float64)

    def note_gradient(self, gradient):
        self.sizes.append(gradient.norm().item())

    def note_step(self, loss, restored, clean):
        self.losses.append(loss.item())
        self.kept.append(restored.detach().float())
        # backward() has emptied the graph of the loss. It never visits the nodes of this error.
        error = (restored.detach() - clean).abs().mean()
        self.smoothed = self.decay * self.smoothed + (1 - self.decay) * error


def train(model, batches, lr=0.5, decay=0.9):
    """One step of SGD per batch. Returns the losses, the sizes of the gradient, and the smoothed error."""
    log = Log(decay)
    hook = model[0].weight.register_hook(log.note_gradient)
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    for noisy, clean in batches:
        restored = model(noisy)
        loss = F.mse_loss(restored, clean)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        log.note_step(loss, restored, clean)
    hook.remove()
    return log.losses, log.sizes, log.smoothed.item()


if __name__ == "__main__":
    for steps in (100, 200, 400, 800):
        losses, sizes, smoothed = train(build_model(), draw_batches(steps))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{steps} steps: error {smoothed:.3f}, {peak:5.0f} MiB")
