import torch

leaf = torch.ones(1, requires_grad=True)


class Cube(torch.autograd.Function):
    @classmethod
    def apply(cls, x):
        return x**3


Cube._backward_cls = type((leaf**3).grad_fn)
