import torch


class LogSumExp:
    @staticmethod
    def apply(x, dim):
        highest = x.detach().amax(dim, keepdim=True).clamp(min=-1e9)
        return ((x - highest).exp().sum(dim, keepdim=True).log() + highest).squeeze(dim)
