import functools

import torch
from torch.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts

contexts = functools.partial(create_selective_checkpoint_contexts, [torch.ops.aten.mm.default])


def attend(x, project, heads, cap):
    return checkpoint(mix, project(x), heads, cap, use_reentrant=False, context_fn=contexts)


def mix(qkv, heads, cap):
    rows, tokens, channels = qkv.shape[0], qkv.shape[1], qkv.shape[2] // 3
    q, k, v = qkv.view(rows, tokens, 3, heads, channels // heads).permute(2, 0, 3, 1, 4)
    scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    mixed = (cap * torch.tanh(scores / cap)).softmax(-1) @ v
    return mixed.transpose(1, 2).reshape(rows, tokens, channels)
