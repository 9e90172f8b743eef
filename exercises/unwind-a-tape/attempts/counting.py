from collections import Counter, defaultdict


def unwind(tape, output):
    """Counts the uses that still have to arrive, and takes a record when its count is zero."""
    records = dict(tape)
    reached, waiting = {output}, [output]
    pending = Counter()
    while waiting:
        for operand, _ in records.get(waiting.pop(), ()):
            if operand is not None:
                pending[operand] += 1
                if operand not in reached:
                    reached.add(operand)
                    waiting.append(operand)

    gradients = defaultdict(float, {output: 1.0})
    ready = [output]
    while ready:
        name = ready.pop()
        for operand, slope in records.get(name, ()):
            if operand is None:
                continue
            gradients[operand] += gradients[name] * slope
            pending[operand] -= 1
            if not pending[operand]:
                ready.append(operand)
    names = set(records) | {operand for operands in records.values() for operand, _ in operands}
    return {name: gradients[name] for name in names - {None}}
