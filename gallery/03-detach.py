"""Where detach cuts

The target is computed from the same weight as the prediction. The scissors mark the call that cut it off, and its line.
Backward reaches w only through the prediction. Remove .detach() and look again.
"""

import torch

w = torch.tensor(3.0, requires_grad=True)
x = torch.tensor(2.0)
prediction = w * x
target = (w * 0.5).detach()
loss = (prediction - target) ** 2
loss.backward()
print(w.grad)
