"""Two paths to one loss

h reaches the loss along two paths. Step backward until both gradients have arrived at h. They are added there,
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
