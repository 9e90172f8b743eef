"""The FLOPs of a training step in which some of several equal blocks are recomputed."""

from random import Random

from program import Program, draw_names, draw_until_fair

WRONG = ("of_forward", "a_third")
LAYERS = {1: [3, 4], 2: [4, 5], 3: [5]}


def draw(rng: Random, level: int) -> dict:
    return draw_until_fair(build, rng, level, WRONG)


def build(rng: Random, level: int) -> dict:
    tensor, weight, hidden, layer, percent = draw_names(rng, 5)
    layers, width = rng.choice(LAYERS[level]), rng.randint(2, 9)
    count = rng.randrange(1, layers)
    checkpointed = sorted(rng.sample(range(layers), count))
    program = Program()
    program.define(
        "from torch.utils.checkpoint import checkpoint",
        "from torch.utils.flop_counter import FlopCounterMode",
        "",
        f"{weight} = torch.ones({width}, {width}, requires_grad=True)",
        "",
        f"def block({tensor}):",
        f"    return ({tensor} @ {weight}).{rng.choice(['tanh', 'sigmoid'])}()",
        "",
        "def count_flops(checkpointed):",
        f"    {hidden} = torch.ones({rng.randint(1, 4)}, {width}, requires_grad=True)",
        "    with FlopCounterMode(display=False) as counter:",
        f"        for {layer} in range({layers}):",
        f"            if {layer} in checkpointed:",
        f"                {hidden} = checkpoint(",
        f"                    block, {hidden}, use_reentrant=False",
        "                )",
        "            else:",
        f"                {hidden} = block({hidden})",
        f"        {hidden}.sum().backward()",
        "    return counter.get_total_flops()",
        "",
        "without = count_flops([])",
        f"with_some = count_flops({checkpointed})",
        f"{percent} = 100 * (with_some - without) / without",
    )
    return {
        "code": program.source(),
        "observe": f"value {percent}",
        "answer": 100 * count / (3 * layers),
        "of_forward": 100 * count / layers,
        "a_third": 100 / 3,
        "percent": percent,
        "layers": layers,
        "count": count,
        "products": 3 * layers,
        "shown": f"{100 * count / (3 * layers):.3g}",
    }
