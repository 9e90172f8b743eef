import re

import torch


def first_bad_node(loss):
    nodes = [loss.grad_fn]
    for node in nodes:
        nodes += [one for one, _ in node.next_functions if one and one not in nodes]
    leaves = [node.variable for node in nodes if hasattr(node, "variable")]
    try:
        with torch.autograd.detect_anomaly():
            torch.autograd.grad(loss, leaves, retain_graph=True)
    except RuntimeError as error:
        name = re.search(r"Function '(\w+)'", str(error)).group(1)
        return next(node for node in nodes if node.name() == name)
    return None
