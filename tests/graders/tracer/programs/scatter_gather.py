import torch

torch.manual_seed(0)
table = torch.randn(6, 3, requires_grad=True)
weights = torch.rand(4, requires_grad=True)
index = torch.tensor([0, 2, 2, 5])
rows = table[index]
picked = table.gather(0, index.view(4, 1).expand(4, 3))
summed = torch.zeros(6, 3).scatter_add(0, index.view(4, 1).expand(4, 3), rows * weights.view(4, 1))
chosen = summed.index_select(0, index[:2])
mixed = torch.einsum("ij,kj->ik", chosen, picked)
top, where = mixed.topk(2, dim=1)
parts = torch.cat([top, torch.stack([weights[:2], weights[2:]])])
masked = torch.where(parts > 0, parts, parts * 0.1)
values, order = masked.flatten().sort()
a, b = masked.max(dim=0)
loss = values.cumsum(0).sum() + a.sum() + masked[masked > 0.5].sum()
loss.backward()
