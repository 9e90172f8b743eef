import torch

w = torch.tensor([1.0, -2.0, 3.0, 0.5], requires_grad=True)
a = w * 2
a.add_(1).mul_(w)
b = w.exp()[1:3]
c = torch.zeros(4)
c[0] = a[1]
c[1:3] = b * 3
c[3] += w.sum()
base = w.clone()
view = base[::2]
view.mul_(5)
other = base.view(2, 2)
other[0].add_(w[:2])
d = view * 2
with torch.no_grad():
    w.grad = torch.ones_like(w)
loss = (a * c).sum() + (base * d.sum()).sum()
loss.backward()
