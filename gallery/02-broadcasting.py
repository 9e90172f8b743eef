"""A bias that was broadcast

b has 3 numbers, the result 2 x 3: each number of b was used in two rows. Backward has to undo that,
so b receives the sum over the rows: watch the shape of its gradient.
"""

import torch

x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
w = torch.tensor(2.0, requires_grad=True)
b = torch.tensor([0.1, 0.2, 0.3], requires_grad=True)
y = w * x + b
loss = y.sum()
loss.backward()
print(b.grad, w.grad)
