import torch


def collect(node, found):
    if node is not None and node not in found:
        found.append(node)
        for following, _ in node.next_functions:
            collect(following, found)
    return found


class Search:
    def __init__(self, loss):
        self.loss, self.nodes, self.answer = loss, collect(loss.grad_fn, []), None

    def note(self, node, going, coming):
        bad = [[g is not None and not torch.isfinite(g).all().item() for g in side] for side in (going, coming)]
        if self.answer is None and any(bad[0]) and not any(bad[1]):
            self.answer = node

    def run(self):
        leaves = [node.variable for node in self.nodes if node.name().endswith("AccumulateGrad")]
        before = [leaf.grad for leaf in leaves]
        for leaf in leaves:
            leaf.grad = None
        handles = [node.register_hook(lambda a, b, node=node: self.note(node, a, b)) for node in self.nodes]
        self.loss.backward(retain_graph=True)
        for leaf, grad in zip(leaves, before):
            leaf.grad = grad
        for handle in handles:
            handle.remove()
        return self.answer


def first_bad_node(loss):
    return Search(loss).run()
