import numpy


def unwind(tape, output):
    """The slopes as one matrix: its powers add up all paths, longest last."""
    names = list(dict.fromkeys(
        name for record, operands in tape for name in [*(of for of, _ in operands), record] if name is not None
    ))
    place = {name: number for number, name in enumerate(names)}
    slopes = numpy.zeros((len(names), len(names)))
    for name, operands in tape:
        for operand, slope in operands:
            if operand is not None:
                slopes[place[operand], place[name]] += slope
    arriving = numpy.zeros(len(names))
    arriving[place[output]] = 1.0
    total = numpy.zeros(len(names))
    while arriving.any():
        total += arriving
        arriving = slopes @ arriving
    return dict(zip(names, map(float, total)))
