"""Builds the case's program, asks twice for its first bad node, and looks at what was left behind.

A program is a list of lines [result, operation, operands...]; `x` and `w` are the leaves, and `loss` is
the last result. A node is told as its number in `walk`, so that the judge can read a wrong one too.
"""

import sys

import torch

NONE, GONE, OF_ANOTHER_GRAPH = -1, -2, -3


class Spoil(torch.autograd.Function):
    """The identity, whose backward divides by the values."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return gradient / x


def pin(v):
    """v with 0 in the place of its first entry."""
    return v - v.detach() * torch.eye(len(v), dtype=v.dtype)[0]


OPERATIONS = {
    "tanh": torch.tanh,
    "sin": torch.sin,
    "exp": torch.exp,
    "sqrt": torch.sqrt,
    "log": torch.log,
    "abs": torch.abs,
    "reciprocal": torch.reciprocal,
    "softplus": torch.nn.functional.softplus,
    "fourth root": lambda v: v.pow(0.25),
    "square": lambda v: v * v,
    "triple": lambda v: 3 * v,
    "shift": lambda v: v + 0.5,
    "times 1e200": lambda v: v * 1e200,
    "first entry": lambda v: v[:1],
    "root or 0": lambda v: torch.where(v > 0, v.sqrt(), torch.zeros_like(v)),
    "log of zeros": lambda v: torch.zeros_like(v).log(),
    "Spoil": Spoil.apply,
    "pin": pin,
    "add": torch.add,
    "multiply": torch.mul,
    "sum": torch.sum,
}


def probe(submission, case):
    leaves = {name: torch.from_numpy(case[name]).clone().requires_grad_(name not in case["frozen"]) for name in "xw"}
    kept = torch.full_like(leaves["x"], 7.0) if case["has_grad"] else None
    leaves["x"].grad = None if kept is None else kept.clone()
    loss = build(case["program"], dict(leaves))
    nodes = walk(loss.grad_fn)
    first = ask(submission, loss, nodes)
    second = ask(submission, loss, nodes)
    hook_calls = 0 if GONE in (first, second) else count_calls(submission, loss, leaves["x"])
    is_anomaly_on = torch.is_anomaly_enabled()
    torch.autograd.set_detect_anomaly(False)
    grad = leaves["x"].grad
    is_kept = grad is None if kept is None else grad is not None and torch.equal(grad, kept)
    return {
        "node": first,
        "node in a second call": second,
        ".grad is as before": is_kept and leaves["w"].grad is None,
        "anomaly mode is on": is_anomaly_on,
        "a later backward calls your code": hook_calls > 0,
    }


def build(program, values):
    for result, operation, *operands in program:
        values[result] = OPERATIONS[operation](*(values[name] for name in operands))
    return values["loss"]


def walk(root):
    """Every node once: the root first, then along the edges, in their order."""
    nodes = [root]
    for node in nodes:
        nodes += [one for one in dict.fromkeys(n for n, _ in node.next_functions) if one and one not in nodes]
    return nodes


def count_calls(submission, loss, leaf):
    """How often a backward of ours calls functions of the learner's file: hooks that are still registered."""
    calls = []

    def note(frame, event, _):
        if event == "call" and frame.f_globals is vars(submission):
            calls.append(frame.f_code)

    sys.setprofile(note)
    try:
        torch.autograd.grad(loss, leaf, retain_graph=True)
    finally:
        sys.setprofile(None)
    return len(calls)


def ask(submission, loss, nodes):
    try:
        found = submission.first_bad_node(loss)
    except RuntimeError as error:
        if "a second time" not in str(error):
            raise
        return GONE
    if found is None:
        return NONE
    for number, node in enumerate(nodes):
        if node is found:
            return number
    if hasattr(found, "next_functions"):
        return OF_ANOTHER_GRAPH
    told = f"a value of type {type(found).__name__}"
    raise TypeError(f"first_bad_node should return a node of the graph of `loss`, or None; it returned {told}")
