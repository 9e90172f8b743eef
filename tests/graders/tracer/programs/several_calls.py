import torch

w = torch.tensor([1.0, 2.0], requires_grad=True)
v = torch.tensor([3.0, 4.0], requires_grad=True)
seen = []
shared = w * v
shared.register_hook(lambda grad: seen.append(grad.sum().item()))
shared.retain_grad()
first = shared.sum()
second = shared.exp().mean()
first.backward(retain_graph=True)
second.backward()
w.register_post_accumulate_grad_hook(lambda leaf: seen.append(leaf.grad.tolist()))
(w * 3).sum().backward(inputs=[w])
(unused, dw) = torch.autograd.grad((w * w).sum(), (v, w), allow_unused=True)
torch.autograd.backward([(w * v).sum(), v.exp()], [None, torch.ones(2)])
