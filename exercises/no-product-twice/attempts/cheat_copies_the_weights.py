from collections import deque

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode

PRODUCTS = {torch.ops.aten.mm, torch.ops.aten.addmm, torch.ops.aten.bmm, torch.ops.aten.baddbmm}


class First(TorchDispatchMode):
    def __init__(self, queue):
        super().__init__()
        self.queue = queue

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func.overloadpacket in PRODUCTS:
            self.queue.append({i: a.clone() for i, a in enumerate(args) if isinstance(a, torch.Tensor) and i != len(args) - 2})
        return func(*args, **(kwargs or {}))


class Second(First):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func.overloadpacket in PRODUCTS:
            old = self.queue.popleft()
            *bias, left, right = [old.get(i, a) for i, a in enumerate(args)]
            out = torch.from_numpy(np.matmul(left.detach().numpy(), right.numpy()))
            return out + bias[0] if bias else out
        return func(*args, **(kwargs or {}))


def contexts():
    queue = deque()
    return First(queue), Second(queue)
