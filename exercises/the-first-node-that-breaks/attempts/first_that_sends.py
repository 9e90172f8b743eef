import torch


def first_bad_node(loss):
    sends, handles, todo, seen = [], [], [loss.grad_fn], []
    while todo:
        node = todo.pop()
        if node is None or node in seen:
            continue
        seen.append(node)
        todo += [child for child, _ in node.next_functions]

        def note(sent, _, node=node):
            if any(one is not None and not one.isfinite().all() for one in sent):
                sends.append(node)

        handles.append(node.register_hook(note))
    torch.autograd.grad(loss, [node.variable for node in seen if hasattr(node, "variable")], retain_graph=True)
    for handle in handles:
        handle.remove()
    return sends[0] if sends else None
