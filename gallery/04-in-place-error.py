"""An in-place write that backward rejects

exp saves its result for backward. The line with add_ then overwrites that result in place, so backward cannot use it.
The RuntimeError is shown at the node that needed the result, and the tape up to there is kept.
"""

import torch

x = torch.tensor([0.0, 1.0], requires_grad=True)
y = x.exp()
z = y * 2
y.add_(1)
loss = (y + z).sum()
loss.backward()
