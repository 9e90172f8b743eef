"""Broadcasting a bias

b has 3 elements, the result has 2 x 3: broadcasting uses each element of b in two rows. Backward undoes that by summing
over the rows. Watch the shape of b's gradient.
"""

import torch

x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
w = torch.tensor(2.0, requires_grad=True)
b = torch.tensor([0.1, 0.2, 0.3], requires_grad=True)
y = w * x + b
loss = y.sum()
loss.backward()
print(b.grad, w.grad)
