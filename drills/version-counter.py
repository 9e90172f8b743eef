"""Lines that read, copy and write a tensor: which of them its version counter counts."""

from random import Random

from program import Program, draw_names, draw_number, draw_until_fair

WRONG = ("every_operation", "without_no_grad", "without_detached", "with_data")
PLAIN = ["{0}.add_({1})", "{0} *= {1}", "{0}[0] = {1}", "{0}.view(-1).mul_({1})", "{0}.fill_({1})"]
UNDER_NO_GRAD = ["{0}.mul_({1})", "{0} -= {1}", "{0}[1] = {1}"]
DETACHED = ["{0}.detach().add_({1})", "{0}.detach()[0] = {1}", "{0}.detach().mul_({1})"]
THROUGH_DATA = ["{0}.data.add_({1})", "{0}.data[0] = {1}"]
OUT_OF_PLACE = ["{2} = {0} + {1}", "{2} = {0}.exp()", "{2} = {0} * {0}", "{2} = {0}.clone()"]
KINDS = ("plain", "no_grad", "detached", "data", "out_of_place")
COUNTS = {1: [(0, 2), (1, 2), (1, 2), (1, 1), (1, 2)], 2: [(0, 3), (1, 3), (1, 3), (1, 2), (1, 2)]}
COUNTS[3] = [(1, 3), (1, 3), (1, 3), (1, 3), (1, 3)]
"""By level, for each kind the fewest and the most."""


def draw(rng: Random, level: int) -> dict:
    return draw_until_fair(build, rng, level, WRONG)


def build(rng: Random, level: int) -> dict:
    leaf, tensor, found, *others = draw_names(rng, 8)
    counts = {kind: rng.randint(*bounds) for kind, bounds in zip(KINDS, COUNTS[level], strict=True)}
    kinds = [kind for kind, count in counts.items() for _ in range(count)]
    rng.shuffle(kinds)
    program = Program()
    program.define(
        f"{leaf} = torch.tensor([1.0, 2.0], requires_grad=True)",
        f"{tensor} = {leaf} * {draw_number(rng)}",
    )
    for kind in kinds:
        program.define(*write(rng, kind, tensor, others))
    program.define(f"{found} = {tensor}._version", f"{tensor}.sum().backward()")
    answer = counts["plain"] + counts["no_grad"] + counts["detached"]
    return {
        "code": program.source(),
        "observe": f"value {found}",
        "answer": answer,
        "every_operation": len(kinds),
        "without_no_grad": answer - counts["no_grad"],
        "without_detached": answer - counts["detached"],
        "with_data": answer + counts["data"],
        "tensor": tensor,
    }


def write(rng: Random, kind: str, tensor: str, others: list) -> list:
    """The lines of one statement."""
    number = draw_number(rng)
    match kind:
        case "plain":
            return [rng.choice(PLAIN).format(tensor, number)]
        case "no_grad":
            return ["with torch.no_grad():", "    " + rng.choice(UNDER_NO_GRAD).format(tensor, number)]
        case "detached":
            return [rng.choice(DETACHED).format(tensor, number)]
        case "data":
            return [rng.choice(THROUGH_DATA).format(tensor, number)]
    return [rng.choice(OUT_OF_PLACE).format(tensor, number, others.pop())]
