"""One product

A leaf, a node, and one gradient.
"""

import torch

x = torch.tensor(3.0, requires_grad=True)
(x * 2).backward()
print(1)
