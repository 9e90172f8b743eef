"""Differentiates the learner's cube once, twice and three times, alone and inside other functions."""

import torch

NO_SECOND = (
    "once_differentiable",
    "does not require grad",
    "does not have a grad_fn",
    "not have been used in the graph",
)


def probe(submission, case):
    cube = submission.Cube
    if not (isinstance(cube, type) and issubclass(cube, torch.autograd.Function)):
        raise TypeError("Cube should be a subclass of torch.autograd.Function")
    ask = case["ask"]
    if ask == "guard":
        return {"not misled": survives_change(cube, tensor(case, "x"))}
    x, weights = tensor(case, "x").requires_grad_(), tensor(case, "weights")
    if ask == "value":
        value = cube.apply(x)
        if not isinstance(value, torch.Tensor):
            raise TypeError(f"Cube.apply should return a tensor; it returned a value of type {type(value).__name__}")
        return {"value": value.detach(), "your node alone": is_one_step(cube, value, x)}
    try:
        return {"gradient": DERIVATIVES[ask](cube, x, weights), "connected": True}
    except RuntimeError as error:
        if not any(words in str(error) for words in NO_SECOND):
            raise
        return {"gradient": torch.zeros_like(x), "connected": False}


def tensor(case, name):
    """The case's own array, perhaps in the memory order of its transpose."""
    if case["transposed"]:
        case[name] = case[name].T.copy().T
    return torch.from_numpy(case[name])


def grad(output, inputs, upstream=None, keep=False):
    upstream = torch.ones_like(output) if upstream is None else upstream
    return torch.autograd.grad(output, inputs, upstream, create_graph=keep)[0]


def differentiate_once(cube, x, weights):
    return grad(cube.apply(x), x, weights)


def differentiate_two_calls(cube, x, weights):
    """Two calls before one backward, and that one is differentiated."""
    one, other = cube.apply(x), cube.apply(2 - x)
    first = grad([one, other], x, [weights, torch.ones_like(x)], keep=True)
    return grad(x * first, x)


def differentiate_product(cube, x, weights):
    """Of weights * x * cube'(x): an error in the second order shows, and raises nothing."""
    first = grad(cube.apply(x), x, keep=True)
    return grad(weights * x * first, x)


def differentiate_twice(cube, x, weights):
    first = grad(cube.apply(x), x, weights, keep=True)
    return grad(first, x)


def differentiate_by_upstream(cube, x, weights):
    """What came in from above is a variable too."""
    above = weights.clone().requires_grad_()
    first = grad(cube.apply(x), x, above, keep=True)
    return grad(first.sum() + above.sum(), above)


def multiply_hessian(cube, x, weights):
    """Hessian times vector of a chain in which the cube is neither first nor last."""
    first = grad(torch.sin(cube.apply(1.1 * x + 0.2)).sum(), x, keep=True)
    return grad((first * weights).sum(), x)


def differentiate_thrice(cube, x, weights):
    first = grad(cube.apply(x), x, keep=True)
    second = grad(first, x, keep=True)
    return grad(weights * (x + 1) * second, x)  # x alone would hide the third order at 0


def penalise(cube, x, weights):
    """The gradient of a loss with a gradient penalty: two cubes, one above the other."""
    loss = cube.apply(0.5 * cube.apply(x) + weights).sum()
    first = grad(loss, x, keep=True)
    return grad(loss + first.pow(2).sum(), x)


DERIVATIVES = {
    "first": differentiate_once,
    "calls": differentiate_two_calls,
    "product": differentiate_product,
    "second": differentiate_twice,
    "upstream": differentiate_by_upstream,
    "hessian": multiply_hessian,
    "third": differentiate_thrice,
    "penalty": penalise,
}


def survives_change(cube, x):
    """Whether a write in between is noticed, or does no harm."""
    right = 3 * x * x
    leaf = x.requires_grad_()
    inner = leaf * 1.0
    value = cube.apply(inner)
    with torch.no_grad():
        inner.add_(1.0)
    try:
        value.sum().backward()
    except RuntimeError as error:
        return "modified by an inplace operation" in str(error)
    return bool(torch.allclose(leaf.grad, right))


def is_one_step(cube, value, x):
    node = value.grad_fn
    if node is None or not isinstance(node, cube._backward_cls) or not type(node).__name__.startswith(cube.__name__):
        return False
    targets = [target for target, _ in node.next_functions if target is not None]
    return len(targets) == 1 and getattr(targets[0], "variable", None) is x
