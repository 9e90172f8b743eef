import torch


def first_bad_node(loss):
    """The first node that received finite gradients and sent on one with NaN or infinity, or None."""
    broken = []

    def watch(node):
        def judge(sent, received):
            if all_finite(received) and not all_finite(sent):
                broken.append(node)

        return node.register_hook(judge)

    nodes = walk(loss.grad_fn)
    leaves = [node.variable for node in nodes if hasattr(node, "variable")]
    handles = [watch(node) for node in nodes]
    torch.autograd.grad(loss, leaves, retain_graph=True)
    for handle in handles:
        handle.remove()
    return broken[0] if broken else None


def all_finite(gradients):
    return all(one is None or bool(one.isfinite().all()) for one in gradients)


def walk(root):
    seen, stack = {root: None}, [root]
    while stack:
        for node, _ in stack.pop().next_functions:
            if node is not None and node not in seen:
                seen[node] = None
                stack.append(node)
    return list(seen)
