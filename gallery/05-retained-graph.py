"""Backward twice with retain_graph

retain_graph=True keeps the saved tensors after the first backward: the amber bars stay filled, and the second backward
adds to .grad. Remove it, and the second backward finds that the saved tensors have been released.
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
loss = (x * x).sum()
loss.backward(retain_graph=True)
print(x.grad)
loss.backward()
print(x.grad)
