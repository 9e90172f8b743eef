import torch


def first_bad_node(loss):
    users, todo = {loss.grad_fn: 0}, [loss.grad_fn]
    while todo:
        for node, _ in todo.pop().next_functions:
            if node is not None and not hasattr(node, "variable"):
                if node not in users:
                    todo.append(node)
                users[node] = users.get(node, 0) + 1
    arrived = {loss.grad_fn: torch.ones_like(loss)}
    ready = [loss.grad_fn]
    while ready:
        ready.sort(key=lambda node: node._sequence_nr())
        node = ready.pop()
        run = node if callable(node) else node.apply
        sent = run(arrived[node])
        sent = sent if isinstance(sent, tuple) else (sent,)
        if arrived[node].isfinite().all() and any(g is not None and not g.isfinite().all() for g in sent):
            return node
        for (following, _), gradient in zip(node.next_functions, sent):
            if following in users:
                arrived[following] = gradient if following not in arrived else arrived[following] + gradient
                users[following] -= 1
                if not users[following]:
                    ready.append(following)
    return None
