"""How many bytes a graph keeps for backward: each saved tensor once, and only what a formula needs."""

from random import Random

from program import Program, draw_names, draw_until_fair

RESULT, INPUT, BOTH, NOTHING = "its result", "its input", "both inputs", "nothing"
KEPT = {
    "{}.exp()": RESULT, "{}.tanh()": RESULT, "{}.sigmoid()": RESULT, "{}.sin()": INPUT, "{}.cos()": INPUT,
    "{} ** 2": INPUT, "{} * {}": BOTH, "{} + {}": NOTHING,
}  # fmt: skip
ALONE = ["{}.exp()", "{}.tanh()", "{}.sigmoid()", "{}.sin()", "{}.cos()", "{} ** 2"]
FLOAT_BYTES = 4
CHECKPOINTED = (
    "That counts what is computed inside the checkpoint. It keeps its input alone, and runs again in backward."
)
SUMMED = "That counts the sum itself. `sum` keeps only a shape: its gradient is copied to every element."

WRONG = ("each_time", "every_result", "more", "floats")


def draw(rng: Random, level: int) -> dict:
    return draw_until_fair(build, rng, level, WRONG)


def build(rng: Random, level: int) -> dict:
    leaf, *names = draw_names(rng, 12)
    length = rng.choice([8, 10, 16, 20, 25, 32, 50, 64])
    checkpointed = level == 3
    program = Program()
    if checkpointed:
        program.define("from torch.utils.checkpoint import checkpoint", "")
        inner = rng.sample(ALONE[:5], 2)
        body = inner[1].format(inner[0].format("t"))
        program.define("", "def block(t):", f"    return {body}", "", "")
    program.define(f"{leaf} = torch.ones({length}, requires_grad=True)")
    saves, tensors, results = [], [leaf], 0
    for place in range(level + 2):
        name, last = names[place], tensors[-1]
        if checkpointed and place == 2:
            program.define(f"{name} = checkpoint(block, {last}, use_reentrant=False)")
            saves.append(last)
        else:
            op = rng.choice(list(KEPT) if len(tensors) > 1 else ALONE)
            if checkpointed and place == 1:
                # What enters the checkpoint is then saved anyway: nothing hangs on who is said to keep it.
                op = rng.choice([alone for alone in ALONE if KEPT[alone] is RESULT])
            inputs = [last, rng.choice(tensors[:-1])] if op.count("{}") == 2 else [last]
            program.define(f"{name} = {op.format(*inputs)}")
            saves += {RESULT: [name], INPUT: inputs, BOTH: inputs, NOTHING: []}[KEPT[op]]
        results += 1
        tensors.append(name)
    program.define(f"{names[-1]} = {tensors[-1]}.sum()", f"{names[-1]}.backward()")
    one = length * FLOAT_BYTES
    inside = 2 if checkpointed else 0
    return {
        "code": program.source(),
        "observe": "bytes-kept",
        "answer": len(set(saves)) * one,
        "length": length,
        "each_time": len(saves) * one,
        "every_result": (results + inside) * one,
        "more": (len(set(saves)) + inside) * one if checkpointed else len(set(saves)) * one + FLOAT_BYTES,
        "more_why": CHECKPOINTED if checkpointed else SUMMED,
        "floats": len(set(saves)) * length,
        "saved": ", ".join(dict.fromkeys(saves)),
    }
