"""A custom function whose backward is not the derivative of its forward: autograd uses what is written."""

from random import Random

from program import FIRST_USE, TRUE_DERIVATIVE, Program, answer_by, draw_names, draw_number, draw_until_fair, extend

FUNCTIONS = {
    "Tripled": (("return t + 1",), ("return 3 * g",)),
    "Squared": (
        ("ctx.save_for_backward(t)", "return t * t"),
        ("(t,) = ctx.saved_tensors", "return g * t"),
    ),
    "Signed": (("return t.sign()",), ("return g",)),
}

WRONG = ("derivative", "first_use")


def draw(rng: Random, level: int) -> dict:
    return draw_until_fair(build, rng, level, WRONG)


def build(rng: Random, level: int) -> dict:
    shared, other, *names = draw_names(rng, 6 + level)
    function = rng.choice(list(FUNCTIONS))
    forward, backward = FUNCTIONS[function]
    program = Program()
    program.define(
        f"class {function}(torch.autograd.Function):",
        "    @staticmethod",
        "    def forward(ctx, t):",
        *(f"        {line}" for line in forward),
        "",
        "    @staticmethod",
        "    def backward(ctx, g):",
        *(f"        {line}" for line in backward),
        "",
        "",
    )
    for leaf in rng.sample([shared, other], 2):
        program.leaf(leaf, draw_number(rng))
    first = program.let(names[0], rng.choice(["{} * {}", "{} + {}"]), *rng.sample([shared, other], 2))
    custom = program.let(names[1], function + ".apply({})", first)
    loss = extend(program, rng, custom, [shared, other], names[2 : 3 + level])
    program.backward(loss)
    answers = answer_by(program, shared, derivative=TRUE_DERIVATIVE, first_use=FIRST_USE)
    return {
        "code": program.source(),
        "observe": f"gradient {shared}",
        "leaf": shared,
        "function": function,
        **answers,
    }
