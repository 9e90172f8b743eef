"""The gradient of a gradient

create_graph=True records the backward pass itself: its operations join the graph, and can be run backward in turn.
The first tape hands out 3x², which is 12, the second one adds 6x, again 12, to x.grad.
"""

import torch

x = torch.tensor(2.0, requires_grad=True)
y = x**3
(slope,) = torch.autograd.grad(y, x, create_graph=True)
slope.backward()
print(slope, x.grad)
