import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(
    nn.Conv2d(1, 4, 3),
    nn.ReLU(inplace=True),
    nn.MaxPool2d(2),
    nn.Conv2d(4, 4, 3),
    nn.GroupNorm(2, 4),
    nn.SiLU(),
    nn.AdaptiveAvgPool2d(1),
    nn.Flatten(),
    nn.Linear(4, 3),
)
x = torch.randn(2, 1, 10, 10)
labels = torch.tensor([0, 2])
loss = F.cross_entropy(net(F.interpolate(x, scale_factor=2)), labels, label_smoothing=0.1)
loss.backward()
