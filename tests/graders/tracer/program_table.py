"""Short programs for the oracle, one idea each; those of several lines are files in the folder `programs`."""

HEAD = """\
import torch
import torch.nn.functional as F
from torch import nn
torch.manual_seed(0)
x = torch.randn(2, 3, requires_grad=True)
w = torch.randn(3, 3, requires_grad=True)
s = torch.tensor(0.7, requires_grad=True)
"""

BODIES = {
    "product": (
        "loss = (x @ w).sum()",
        "loss.backward()",
    ),
    "diamond": (
        "a = x * 2",
        "loss = (a.sin() + a.cos()).sum()",
        "loss.backward()",
    ),
    "same operand twice": (
        "loss = (s * s * s)",
        "loss.backward()",
    ),
    "kept graph": (
        "loss = x.exp().sum()",
        "loss.backward(retain_graph=True)",
        "loss.backward()",
    ),
    "two losses": (
        "a = x.tanh()",
        "a.sum().backward(retain_graph=True)",
        "(a * a).sum().backward()",
    ),
    "accumulation": (
        "for t in range(3):",
        "    (x * t).sum().backward()",
    ),
    "optimizer": (
        "o = torch.optim.SGD([w], lr=0.1)",
        "for t in range(3):",
        "    o.zero_grad()",
        "    (x.detach() @ w).pow(2).mean().backward()",
        "    o.step()",
    ),
    "adam": (
        "o = torch.optim.Adam([w, s], lr=0.1)",
        "for t in range(2):",
        "    o.zero_grad()",
        "    (x @ w * s).pow(2).mean().backward()",
        "    o.step()",
    ),
    "grad": ("g, = torch.autograd.grad((x ** 3).sum(), x)",),
    "grad of two": ("gx, gw = torch.autograd.grad((x @ w).relu().sum(), (x, w))",),
    "grad of a middle": (
        "h = x.exp()",
        "g, = torch.autograd.grad(h.sin().sum(), h)",
    ),
    "vector": (
        "y = x @ w",
        "y.backward(torch.ones_like(y))",
    ),
    "branch without gradient": (
        "c = torch.randn(2, 3)",
        "loss = (x * c + c.exp()).sum()",
        "loss.backward()",
    ),
    "detach": (
        "a = x.exp()",
        "loss = (a * a.detach()).sum()",
        "loss.backward()",
    ),
    "no grad": (
        "with torch.no_grad():",
        "    f = x.mean()",
        "loss = (x - f).pow(2).sum()",
        "loss.backward()",
    ),
    "views": (
        "loss = x.view(3, 2).t().reshape(-1).unsqueeze(0).squeeze(0).sum()",
        "loss.backward()",
    ),
    "slices": (
        "loss = (x[0] + x[:, 1:].sum() + x[1, 2]).sum()",
        "loss.backward()",
    ),
    "fancy index": (
        "loss = x[torch.tensor([0, 0, 1])].exp().sum()",
        "loss.backward()",
    ),
    "cat and stack": (
        "loss = torch.cat([x, x * 2]).sum() + torch.stack([x, x.sin()]).prod(0).sum()",
        "loss.backward()",
    ),
    "split": (
        "a, b, c = x.split(1, dim=1)",
        "loss = (a * b).sum() + c.sum()",
        "loss.backward()",
    ),
    "unused output": (
        "a, b = x.chunk(2)",
        "loss = b.exp().sum()",
        "loss.backward()",
    ),
    "unbind": (
        "a, b = x.unbind()",
        "loss = (a - b).abs().sum()",
        "loss.backward()",
    ),
    "max": (
        "v, at = x.max(1)",
        "loss = v.sum() + x.max()",
        "loss.backward()",
    ),
    "topk and sort": (
        "loss = x.topk(2)[0].sum() + x.sort()[0][:, 0].sum()",
        "loss.backward()",
    ),
    "where": (
        "loss = torch.where(x > 0, x, x * 0.1).sum()",
        "loss.backward()",
    ),
    "clamp": (
        "loss = x.clamp(-0.5, 0.5).sum() + x.clamp_min(0).sum()",
        "loss.backward()",
    ),
    "powers": (
        "loss = (x ** 2 + 2 ** x + x.abs() ** s).sum()",
        "loss.backward()",
    ),
    "reflected": (
        "loss = (1 - x + 2 / (3 + x * x)).sum()",
        "loss.backward()",
    ),
    "broadcast": (
        "b = torch.randn(3, requires_grad=True)",
        "loss = (x + b).mean()",
        "loss.backward()",
    ),
    "reductions": (
        "loss = x.mean(0).sum() + x.var(1).sum() + x.std() + x.norm() + x.logsumexp(1).sum()",
        "loss.backward()",
    ),
    "softmax": (
        "loss = (x.softmax(1) * x.log_softmax(1)).sum()",
        "loss.backward()",
    ),
    "cross entropy": (
        "loss = F.cross_entropy(x @ w, torch.tensor([0, 2]))",
        "loss.backward()",
    ),
    "losses": (
        "t = torch.rand(2, 3)",
        "loss = F.mse_loss(x, t) + F.huber_loss(x, t) + F.binary_cross_entropy_with_logits(x, t)",
        "loss.backward()",
    ),
    "embedding": (
        "e = nn.Embedding(5, 3)",
        "loss = (e(torch.tensor([1, 3, 1])) @ w).sum()",
        "loss.backward()",
    ),
    "gather and scatter": (
        "at = torch.tensor([[0], [2]])",
        "loss = x.gather(1, at).sum() + x.scatter_add(1, at, x[:, :1]).exp().sum()",
        "loss.backward()",
    ),
    "linear layers": (
        "m = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))",
        "loss = m(x).sum()",
        "loss.backward()",
    ),
    "three dimensions": (
        "m = nn.Linear(3, 2)",
        "loss = m(x[None]).pow(2).sum()",
        "loss.backward()",
    ),
    "shared module": (
        "m = nn.Linear(3, 3)",
        "loss = m(m(x)).sum()",
        "loss.backward()",
    ),
    "norms": (
        "loss = (nn.LayerNorm(3)(x) * nn.BatchNorm1d(3)(x) + nn.GroupNorm(1, 3)(x)).sum()",
        "loss.backward()",
    ),
    "convolution": (
        "i = torch.randn(1, 2, 5, 5)",
        "m = nn.Conv2d(2, 3, 3)",
        "loss = F.max_pool2d(m(i).relu(), 2).sum()",
        "loss.backward()",
    ),
    "one-dimensional convolution": (
        "i = torch.randn(1, 2, 8)",
        "m = nn.Conv1d(2, 3, 3, stride=2)",
        "loss = F.avg_pool1d(m(i), 2).sum()",
        "loss.backward()",
    ),
    "attention": (
        "q = torch.randn(1, 2, 4, 3, requires_grad=True)",
        "loss = F.scaled_dot_product_attention(q, q, q, is_causal=True).sum()",
        "loss.backward()",
    ),
    "recurrent cell": (
        "m = nn.RNNCell(3, 2)",
        "h = torch.zeros(2, 2)",
        "for t in range(4):",
        "    h = m(x, h)",
        "loss = h.sum()",
        "loss.backward()",
    ),
    "lstm layer": (
        "m = nn.LSTM(3, 2)",
        "y, (h, c) = m(x[None])",
        "loss = y.sum() + c.sum()",
        "loss.backward()",
    ),
    "gru layer": (
        "m = nn.GRU(3, 2)",
        "y, h = m(x[None])",
        "loss = y.sum()",
        "loss.backward()",
    ),
    "einsum": (
        "loss = torch.einsum('ij,jk->ik', x, w).sum()",
        "loss.backward()",
    ),
    "batched": (
        "b = torch.randn(2, 3, 3, requires_grad=True)",
        "loss = torch.bmm(b, b).sum() + torch.baddbmm(b, b, b, alpha=2).sum()",
        "loss.backward()",
    ),
    "in place": (
        "a = x * 1",
        "a.mul_(2)",
        "a += 1",
        "loss = a.sum()",
        "loss.backward()",
    ),
    "in place on a view": (
        "a = x * 1",
        "a[0] = 0.0",
        "loss = a.exp().sum()",
        "loss.backward()",
    ),
    "dropout": (
        "loss = F.dropout(x, 0.5).sum()",
        "loss.backward()",
    ),
    "complex": (
        "z = torch.complex(x, x * 2)",
        "loss = (z * z.conj()).real.sum()",
        "loss.backward()",
    ),
    "double precision": (
        "d = x.double()",
        "loss = (d @ d.t()).trace()",
        "loss.backward()",
    ),
    "half precision": (
        "loss = (x.half() * 2).float().sum()",
        "loss.backward()",
    ),
    "tensor hook": (
        "a = x * 3",
        "a.register_hook(lambda g: g * 2)",
        "loss = a.sum()",
        "loss.backward()",
    ),
    "retained gradient": (
        "a = x * 3",
        "a.retain_grad()",
        "loss = a.exp().sum()",
        "loss.backward()",
    ),
    "leaf hook": (
        "x.register_hook(lambda g: g.clamp(-1, 1))",
        "loss = (x * 5).sum()",
        "loss.backward()",
    ),
    "penalty": (
        "y = (x @ w).tanh().sum()",
        "g, = torch.autograd.grad(y, x, create_graph=True)",
        "loss = g.pow(2).sum()",
        "loss.backward()",
    ),
    "third derivative": (
        "y = s ** 4",
        "for t in range(3):",
        "    y, = torch.autograd.grad(y, s, create_graph=True)",
    ),
    "inputs": (
        "loss = (x @ w * s).sum()",
        "loss.backward(inputs=[w])",
    ),
    "several roots": ("torch.autograd.backward([x.sum(), (x * x).sum()])",),
    "function": (
        "def f(a, b):",
        "    return (a * b).sum()",
        "loss = f(x, f(w, w))",
        "loss.backward()",
    ),
    "comprehension": (
        "parts = [x.sum() * t for t in range(4)]",
        "loss = sum(parts)",
        "loss.backward()",
    ),
    "frozen": (
        "w.requires_grad_(False)",
        "loss = (x @ w).sum()",
        "loss.backward()",
    ),
    "long chain": (
        "y = s",
        "for t in range(50):",
        "    y = (y * 1.01).sin()",
        "y.backward()",
    ),
    "second backward fails": (
        "loss = x.exp().sum()",
        "loss.backward()",
        "try:",
        "    loss.backward()",
        "except RuntimeError:",
        "    pass",
    ),
    "changed in place": (
        "a = x.exp()",
        "a.add_(1)",
        "try:",
        "    a.sum().backward()",
        "except RuntimeError:",
        "    pass",
    ),
}

SOURCES = {name: HEAD + "\n".join(lines) + "\n" for name, lines in BODIES.items()}
