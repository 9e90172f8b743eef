from torch.func import grad


def meta_gradient(inner, outer, theta, rate, steps):
    def after(x):
        for _ in range(steps):
            x = x - rate * grad(inner)(x)
        return outer(x)

    return grad(after)(theta)
