"""A recurrent loop is a long graph

Every iteration of the loop uses the same two weights. The iterations are folded: open them, and watch W.grad sum the
contributions of all iterations, while the gradient shrinks on its way back through time.
"""

import torch

torch.manual_seed(0)
W = (torch.randn(4, 4) * 0.3).requires_grad_()
U = (torch.randn(3, 4) * 0.3).requires_grad_()
inputs = torch.randn(12, 3)
h = torch.zeros(4)
for x in inputs:
    h = torch.tanh(h @ W + x @ U)
loss = h.sum()
loss.backward()
print(W.grad.norm())
