from torch.func import grad, vjp


def meta_gradient(inner, outer, theta, rate, steps):
    pulls, weights = [], theta
    for _ in range(steps):
        weights, pull = vjp(lambda w: w - rate * grad(inner)(w), weights)
        pulls.append(pull)
    gradient = grad(outer)(weights)
    while pulls:
        (gradient,) = pulls.pop()(gradient)
    return gradient
