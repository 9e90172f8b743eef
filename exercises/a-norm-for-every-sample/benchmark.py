"""Times sample_norms on 4,096 samples with 256 x 256 weights."""

import torch

SAMPLES, WIDTH = 4096, 256


def prepare(learner, device):
    torch.manual_seed(0)
    shapes = [(SAMPLES, WIDTH), (SAMPLES, WIDTH), (WIDTH, WIDTH), (WIDTH,), (WIDTH, WIDTH), (WIDTH,)]
    tensors = [torch.randn(shape, device=device) / (1 if shape[0] == SAMPLES else WIDTH**0.5) for shape in shapes]
    return lambda: learner.sample_norms(*tensors)
