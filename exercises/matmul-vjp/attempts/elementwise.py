def matmul_vjp(g, a, b):
    return g * b, g * a
