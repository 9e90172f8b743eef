def first_bad_node(loss):
    nodes = [loss.grad_fn]
    for node in nodes:
        if any(name in node.name() for name in ("Sqrt", "Log", "Pow", "Reciprocal", "Spoil")):
            return node
        nodes += [one for one, _ in node.next_functions if one and one not in nodes]
    return None
