import functools
from contextlib import ExitStack, contextmanager

import torch
from torch.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts

NORMS = [torch.ops.aten.native_batch_norm.default]


def run(stretch, x):
    contexts = functools.partial(both_runs, stretch)
    return checkpoint(stretch, x, use_reentrant=False, context_fn=contexts)


def both_runs(stretch):
    first, second = create_selective_checkpoint_contexts(NORMS)
    return first, keep_counts(stretch, second)


@contextmanager
def keep_counts(stretch, inner):
    """The results of the norms are saved, so only their counts advance again."""
    counts = [(b, b.clone()) for name, b in stretch.named_buffers() if name.endswith("num_batches_tracked")]
    with ExitStack() as stack:
        stack.callback(lambda: [count.copy_(before) for count, before in counts])
        stack.enter_context(inner)
        yield
