"""Backward twice

retain_graph=True keeps the saved tensors after the first backward: the amber bars stay filled, and .grad is added to
by the second. Take it away, and the second backward finds nothing left.
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
loss = (x * x).sum()
loss.backward(retain_graph=True)
print(x.grad)
loss.backward()
print(x.grad)
