import torch
from torch import nn

torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
x = torch.randn(5, 3, requires_grad=True)
score = critic(x)
(slope,) = torch.autograd.grad(
    score.sum(),
    x,
    create_graph=True,
)
penalty = (slope.norm(2, dim=1) - 1).pow(2).mean()
loss = score.mean() + penalty
loss.backward()
t = torch.tensor(0.7, requires_grad=True)
derivative = t.sin() * t**3
for _ in range(3):
    (derivative,) = torch.autograd.grad(derivative, t, create_graph=True)
