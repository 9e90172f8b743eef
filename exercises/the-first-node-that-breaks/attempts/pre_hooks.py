import math

import torch


def count_bad(gradients):
    return sum(not math.isfinite((g * 0).sum().item()) for g in gradients if g is not None)


def first_bad_node(loss):
    log, handles, todo, seen, leaves = [], [], [loss.grad_fn], set(), []
    while todo:
        node = todo.pop(0)
        if node is None or node in seen:
            continue
        seen.add(node)
        todo.extend(next_node for next_node, _ in node.next_functions)
        if hasattr(node, "variable"):
            leaves.append(node.variable)
            continue
        handles.append(node.register_prehook(lambda come, node=node: log.append([node, count_bad(come)])))
        handles.append(node.register_hook(lambda go, come, node=node: log[-1].append(count_bad(go))))
    try:
        torch.autograd.grad([loss], leaves, retain_graph=True, allow_unused=True)
    finally:
        [handle.remove() for handle in handles]
    return next((node for node, come, go in log if go and not come), None)
