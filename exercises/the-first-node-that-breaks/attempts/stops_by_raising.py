import torch


class Found(Exception):
    pass


def first_bad_node(loss):
    nodes = {}

    def visit(node):
        if node is None or node in nodes:
            return
        nodes[node] = node.register_hook(lambda go, come: check(node, go, come))
        for child, _ in node.next_functions:
            visit(child)

    def check(node, go, come):
        flat = lambda many: torch.cat([torch.zeros(1, dtype=loss.dtype), *(g.flatten() for g in many if g is not None)])
        if torch.isfinite(flat(come)).all() and not torch.isfinite(flat(go)).all():
            raise Found(node)

    visit(loss.grad_fn)
    try:
        torch.autograd.grad(loss, [n.variable for n in nodes if hasattr(n, "variable")], retain_graph=True)
    except Found as found:
        return found.args[0]
    finally:
        for handle in nodes.values():
            handle.remove()
