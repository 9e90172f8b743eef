import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
jacobian = torch.autograd.functional.jacobian(lambda v: v.sin() * v.sum(), x.detach())
slope = torch.func.grad(lambda v: (v**3).sum())(x.detach())
rows = torch.func.vmap(lambda v: v * 2)(torch.ones(2, 3))
batched = torch.autograd.grad(x * 3, x, torch.eye(2), is_grads_batched=True)[0]
loss = (x * slope).sum()
loss.backward()
