from torch.func import grad, jvp


def meta_gradient(inner, outer, theta, rate, steps):
    if steps == 0:
        return grad(outer)(theta)
    later = theta - rate * grad(inner)(theta)
    v = meta_gradient(inner, outer, later, rate, steps - 1)
    return v - rate * jvp(grad(inner), (theta,), (v,))[1]
