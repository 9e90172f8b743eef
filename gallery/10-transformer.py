"""A transformer of twelve layers

About two hundred and fifty operations are folded into the modules that you named. Click a layer to open it, then click
inside it again. Below the picture, see what uses the memory. Colour by gradient norm to see how it changes with depth.
"""

import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def attend(self, x):
        batch, length, width = x.shape
        parts = self.qkv(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        queries, keys, values = parts
        scores = queries @ keys.transpose(-2, -1) / (width // self.heads) ** 0.5
        mixed = F.softmax(scores, dim=-1) @ values
        return self.out(mixed.transpose(1, 2).reshape(batch, length, width))

    def forward(self, x):
        x = x + self.attend(self.norm1(x))
        return x + self.mlp(self.norm2(x))


torch.manual_seed(0)
model = nn.Sequential(*(Block(32, 4) for _ in range(12)), nn.LayerNorm(32), nn.Linear(32, 50))
x = torch.randn(2, 8, 32)
logits = model(x)
loss = F.cross_entropy(logits.flatten(0, 1), torch.randint(0, 50, (16,)))
loss.backward()
print(loss)
