import torch


def _nodes(root):
    seen, order = {root}, [root]
    for node in order:
        for other, _ in node.next_functions:
            if other is not None and other not in seen:
                seen.add(other)
                order.append(other)
    return order


def _leaves(nodes):
    return [node.variable for node in nodes if hasattr(node, "variable")]


def _bad(grad):
    return grad is not None and not grad.isfinite().all()


def first_bad_node(loss):
    if not loss.isfinite():
        return None
    nodes, found, handles = _nodes(loss.grad_fn), [], []
    for node in nodes:
        def hook(sent, received, node=node):
            if any(_bad(grad) for grad in sent) and not any(_bad(grad) for grad in received):
                found.append(node)
        handles.append(node.register_hook(hook))
    try:
        torch.autograd.grad(loss, _leaves(nodes), retain_graph=True, allow_unused=True)
    finally:
        for handle in handles:
            handle.remove()
    return found[0] if found else None
