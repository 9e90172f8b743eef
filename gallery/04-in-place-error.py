"""Overwritten before it was needed

exp keeps its result for backward. The line with add_ then writes into that result, so that backward cannot use it:
the RuntimeError stands at the node that needed it, and the tape up to there stays.
"""

import torch

x = torch.tensor([0.0, 1.0], requires_grad=True)
y = x.exp()
z = y * 2
y.add_(1)
loss = (y + z).sum()
loss.backward()
