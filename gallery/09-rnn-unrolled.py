"""A loop is a long graph

The same two weights serve every turn of the loop. The turns are folded: open them, and see W.grad wait for the sum of
all the turns, while the gradient shrinks on its way back through time.
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
