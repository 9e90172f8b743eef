"""A program in which one line takes a tensor out of the graph, beside lines that only look as if they did."""

from random import Random

from program import Program, draw_names, draw_number

LOOKALIKES = {
    "{}.clone()": "`clone()` copies the values, and gradient flows back through the copy.",
    "{}.view(-1)": "A view shares the values of its base, and gradient flows back through it.",
    "{}.relu()": "Where its input is positive, `relu` passes the gradient on unchanged.",
}


def draw(rng: Random, level: int) -> dict:
    leaf, *names = draw_names(rng, 9)
    program = Program()
    program.leaf(leaf, [draw_number(rng) for _ in range(rng.randint(2, 3))])
    last = program.let(names[0], "{} * {}", leaf, draw_number(rng))
    lookalike = rng.choice(list(LOOKALIKES))
    parts = ["cut", "in place", lookalike]
    parts += rng.sample([op for op in LOOKALIKES if op != lookalike], level - 1)
    rng.shuffle(parts)
    lines, guilty = {}, []
    for part, name in zip(parts, names[1:], strict=False):
        if part == "in place":
            program.write_in_place(last, rng.choice(["{} + {}", "{} * {}"]), rng.randint(2, 5))
        elif part != "cut":
            last = program.let(name, part, last)
        elif level > 1 and rng.random() < 0.4:
            last = program.let_without_grad(name, "{} + {}", last, rng.randint(2, 5))
        else:
            last = program.let(name, rng.choice(["{}.detach()", "{}.data"]), last)
        lines[part] = program.line_of(program.steps[-1])
        if part == "cut":
            guilty = [lines[part] - 1, lines[part]][-len(program.steps[-1].text) :]
    product = program.let(names[-2], "{} * {}", last, leaf)
    program.backward(program.let(names[-1], "{}.sum()", product))
    return {
        "code": program.source(),
        "observe": "cutting-line",
        "answer": ", ".join(map(str, guilty)),
        "leaf": leaf,
        "in_place": lines["in place"],
        "lookalike": lines[lookalike],
        "lookalike_why": LOOKALIKES[lookalike],
        "product": program.line_of(program.steps[-3]),
    }
