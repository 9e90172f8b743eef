"""Two ways to one loss

h reaches the loss by two ways: watch the two gradients meet.
"""

import torch

x = torch.tensor(2.0, requires_grad=True)
h = x * 3
a = h * 2
b = h**2
loss = a + b
loss.backward()
