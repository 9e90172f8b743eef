import math

import torch


class CrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, target):
        total, ctx.rows, ctx.targets = 0.0, [], target.tolist()
        for row, column in zip(logits.tolist(), ctx.targets, strict=True):
            highest = max(row)
            whole = math.fsum(math.exp(entry - highest) for entry in row)
            ctx.rows.append([math.exp(entry - highest) / whole for entry in row])
            if column != -100:
                total += highest + math.log(whole) - row[column]
        ctx.count = sum(column != -100 for column in ctx.targets)
        return logits.new_tensor(total / ctx.count)

    @staticmethod
    def backward(ctx, g):
        factor = g.item() / ctx.count
        rows = [
            [factor * (share - (at == column)) if column != -100 else 0.0 for at, share in enumerate(row)]
            for row, column in zip(ctx.rows, ctx.targets, strict=True)
        ]
        return torch.tensor(rows, dtype=g.dtype), None
