"""Two ways to one loss

h reaches the loss by two ways. Step backward until both gradients have come back to h: they meet there and are added,
2 + 12 = 14, and only then does h's own VJP run.
"""

import torch

x = torch.tensor(2.0, requires_grad=True)
h = x * 3
a = h * 2
b = h**2
loss = a + b
loss.backward()
print(x.grad)
