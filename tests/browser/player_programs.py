"""Programs for the player's tests, and links that carry them."""

import base64
import zlib

DIAMOND = """\
import torch
x = torch.tensor(2.0, requires_grad=True)
h = x * 3
a = h * 2
b = h**2
loss = a + b
loss.backward()
"""

TWICE = """\
import torch
x = torch.tensor([1.0, 2.0], requires_grad=True)
loss = (x * x).sum()
loss.backward(retain_graph=True)
loss.backward()
"""

CHECKPOINT = """\
import torch
from torch.utils.checkpoint import checkpoint
w = torch.tensor([0.5, -0.5], requires_grad=True)
y = checkpoint(lambda x: torch.sigmoid(torch.tanh(x * w)), torch.ones(2), use_reentrant=False)
loss = (y * y).sum()
loss.backward()
"""

OVERWRITTEN = """\
import torch
x = torch.tensor([0.0, 1.0], requires_grad=True)
y = x.exp()
z = y * 2
y.add_(1)
loss = (y + z).sum()
loss.backward()
"""

SECOND_ORDER = """\
import torch
x = torch.tensor(2.0, requires_grad=True)
y = x**3
(slope,) = torch.autograd.grad(y, x, create_graph=True)
slope.backward()
"""

LOOP = """\
import torch
torch.manual_seed(0)
W = torch.randn(3, 3, requires_grad=True)
other = torch.randn(3, requires_grad=True)
h = torch.ones(3)
for _ in range(9):
    h = torch.tanh(h @ W)
left = (h * other).detach()
loss = (h - left).sum()
loss.backward()
"""

WIDE = """\
import torch
torch.manual_seed(0)
x = torch.randn(4, requires_grad=True)
parts = [x.exp(), x.sin(), x.cos(), x.tanh(), x.sigmoid(), x.relu(), x.neg(), x.abs()]
turns = [lambda v: v * 2, lambda v: v.exp() , lambda v: v.sin(), lambda v: v + 1]
while len(parts) > 1:
    parts = [(a * b).tanh() + a for a, b in zip(parts[::2], parts[1::2])]
loss = parts[0].sum()
for _ in range(2):
    loss = loss.exp().log().sin().cos()
loss.backward()
"""

LONG_LOOP = """\
import torch
torch.manual_seed(0)
W = torch.randn(4, 4, requires_grad=True)
U = torch.randn(4, 4, requires_grad=True)
h = torch.zeros(4)
for step in range(2500):
    h = torch.tanh(W @ h + U @ torch.ones(4))
loss = h.sum()
loss.backward()
"""


def link_to(source: str) -> str:
    """The page to play on with this code in its address."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(source.encode()) + packer.flush()
    return f"/play#code={base64.urlsafe_b64encode(packed).decode().rstrip('=')}"
