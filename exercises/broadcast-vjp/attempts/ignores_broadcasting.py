def add_vjp(g, a, b):
    return g, g


def mul_vjp(g, a, b):
    return g * b, g * a
