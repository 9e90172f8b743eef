import torch


def first_bad_node(loss):
    nodes = [loss.grad_fn]
    for node in nodes:
        nodes += [one for one, _ in node.next_functions if one and one not in nodes]
    leaves = [node for node in nodes if hasattr(node, "variable")]
    gradients = torch.autograd.grad(loss, [leaf.variable for leaf in leaves], retain_graph=True)
    for leaf, gradient in zip(leaves, gradients):
        if not gradient.isfinite().all():
            return leaf
    return None
