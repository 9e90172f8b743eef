"""Where detach cuts

The target is made from the same weight as the prediction. The scissors say which call cut it off, and at which line:
backward reaches w through the prediction alone. Take .detach() away, and look again.
"""

import torch

w = torch.tensor(3.0, requires_grad=True)
x = torch.tensor(2.0)
prediction = w * x
target = (w * 0.5).detach()
loss = (prediction - target) ** 2
loss.backward()
print(w.grad)
