def unwind(tape, output):
    grads = {}
    for name, ops in tape:
        grads.setdefault(name, 0.0)
        for o, _ in ops:
            if o is not None: grads.setdefault(o, 0.0)
    grads[output] = 1.0
    while tape:
        name, ops = tape.pop()
        for o, s in ops:
            if o is not None: grads[o] += grads[name] * s
    return grads
