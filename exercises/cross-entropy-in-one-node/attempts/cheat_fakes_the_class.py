import torch


class CrossEntropy(torch.autograd.Function):
    @classmethod
    def apply(cls, logits, target):
        loss = torch.nn.functional.cross_entropy(logits, target)
        cls._backward_cls = type(loss.grad_fn)
        return loss
