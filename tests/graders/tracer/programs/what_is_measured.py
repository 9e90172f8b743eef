import gc
import weakref

import torch
from torch.utils._python_dispatch import TorchDispatchMode

gc.disable()
counts = []


class Counter(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        counts.append(float(str(function) != "aten.mul.Tensor"))
        return function(*args, **(kwargs or {}))


def lifetimes():
    x = torch.ones(1000, requires_grad=True)
    h = x * 2
    alive, gone = weakref.ref(h), []
    loss = (h**2).sum()
    loss.backward()
    gone.append(float(alive() is None))
    del h
    gone.append(float(alive() is None))
    grad = weakref.ref(x.grad)
    x.grad = None
    gone.append(float(grad() is None))
    return gone


died = lifetimes()
packed = []


def pack(tensor):
    packed.append(float(tensor.numel()))
    return tensor.numel()


x = torch.ones(3, requires_grad=True)
with Counter():
    y = (x * x).sum()
    y.backward()
with torch.autograd.graph.saved_tensors_hooks(pack, lambda size: torch.full((size,), 2.0)):
    z = (x.exp() * x).sum()
z.backward()
stolen = []
for _ in range(2):
    a = torch.ones(3, requires_grad=True)
    arrived = []
    a.register_hook(lambda grad, arrived=arrived: arrived.append(grad.data_ptr()))
    (a * 3.0).sum().backward()
    stolen.append(float(a.grad.data_ptr() == arrived[0]))
gc.enable()
