import torch

torch.manual_seed(0)
a = torch.randn(4, 4, dtype=torch.float64, requires_grad=True)
spd = a @ a.T + torch.eye(4)
chol = torch.linalg.cholesky(spd)
u, s, v = torch.linalg.svd(a)
x = torch.linalg.solve(spd, torch.ones(4, dtype=torch.float64))
loss = chol.diagonal().log().sum() + s.prod() + x.norm() + torch.logdet(spd) + torch.trapezoid(x)
loss.backward()
