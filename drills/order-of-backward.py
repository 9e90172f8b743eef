"""Two losses over one graph: the order in which backward visits the operations."""

from random import Random

from program import Program, draw_names, draw_number, draw_until_fair

OPS = ["{} * {}", "{} + {}", "{} - {}"]

WRONG = ("forward", "reversed_all", "other_call")


def draw(rng: Random, level: int) -> dict:
    return draw_until_fair(build, rng, level, WRONG)


def build(rng: Random, level: int) -> dict:
    leaf, other, *names = draw_names(rng, 12)
    program = Program()
    for name in rng.sample([leaf, other], 2):
        program.leaf(name, draw_number(rng))
    branches = [[], []]
    lengths = rng.choice([[1, 2], [2, 1]]) if level == 1 else rng.choice([[2, 2], [1, 3], [3, 1]])
    lengths = lengths if level < 3 else rng.choice([[3, 2], [2, 3]])
    turns = [0] * lengths[0] + [1] * lengths[1]
    rng.shuffle(turns)
    steps = {}
    for turn in turns:
        name = names.pop()
        branch = branches[turn]
        last = branch[-1] if branch else leaf
        earlier = [leaf, other, *branch[:-1]]
        program.let(
            name, rng.choice(OPS), *rng.sample([last, rng.choice([one for one in earlier if one != last])], 2)
        )
        steps[name] = program.steps[-1]
        branch.append(name)
    calls = rng.sample(branches, 2)
    for branch in calls:
        program.backward(branch[-1])
    visited = [name for branch in calls for name in reversed(branch)]
    made = list(steps)

    def as_lines(order):
        return "\n".join(steps[name].text[0] for name in order)

    other_call = [name for branch in reversed(calls) for name in reversed(branch)]
    return {
        "code": program.source(),
        "observe": "backward-order",
        "answer": as_lines(visited),
        "shuffle": rng.randrange(1000),
        "forward": as_lines([name for branch in calls for name in branch]),
        "reversed_all": as_lines(reversed(made)),
        "other_call": as_lines(other_call),
        "first": calls[0][-1],
        "second": calls[1][-1],
    }
