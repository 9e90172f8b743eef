"""Double backward: a gradient's gradient

create_graph=True records the backward pass itself. Its operations join the graph, so you can run backward through them.
The first backward gives 3x², which is 12. The second adds 6x, which is also 12, to x.grad.
"""

import torch

x = torch.tensor(2.0, requires_grad=True)
y = x**3
(slope,) = torch.autograd.grad(y, x, create_graph=True)
slope.backward()
print(slope, x.grad)
