"""Bytes alive before backward when every n-th of several residual blocks is in a checkpoint."""

from random import Random

from program import Program, draw_names, draw_until_fair

WRONG = ("keeps_nothing", "fraction", "no_plan")
BLOCKS = {
    "{0} + {0}.sin().exp()": 2,
    "{0} + {0}.cos().tanh()": 2,
    "{0} + {0}.sin().exp().tanh()": 3,
    "{0} + {0}.cos().sigmoid().tanh()": 3,
    "{0} + {0}.sin() * {0}.exp()": 3,
    "{0} + {0}.cos() * {0}.tanh()": 3,
}
"""How many tensors each block saves: its input, which the checkpoint keeps too, and results inside it."""
ENDS = {"{}.sin().sum()": 1, "{}.cos().sum()": 1, "{}.sin().exp().sum()": 2, "{}.cos().tanh().sum()": 2}
"""What is saved after the last block: its result, and perhaps one result more."""
LAYERS = {1: [4], 2: [4, 6], 3: [6]}
FLOAT_BYTES = 4


def draw(rng: Random, level: int) -> dict:
    return draw_until_fair(build, rng, level, WRONG)


def build(rng: Random, level: int) -> dict:
    tensor, hidden, layer, loss, total = draw_names(rng, 5)
    body, each = rng.choice(list(BLOCKS.items()))
    end, after = rng.choice(list(ENDS.items()))
    layers, every = rng.choice(LAYERS[level]), 3 if level == 3 and rng.random() < 0.5 else 2
    length, turn = rng.choice([2, 3, 4, 5, 6, 8, 10]), rng.randrange(every)
    program = Program()
    program.define(
        "from torch.utils.checkpoint import checkpoint",
        "",
        "kept = {}",
        "",
        "def note(t):",
        "    storage = t.untyped_storage()",
        "    kept[storage.data_ptr()] = storage",
        "    return t",
        "",
        f"def block({tensor}):",
        f"    return {body.format(tensor)}",
        "",
        f"{hidden} = torch.ones({length}, requires_grad=True)",
        "hooks = torch.autograd.graph.saved_tensors_hooks",
        "with hooks(note, lambda t: t):",
        f"    for {layer} in range({layers}):",
        f"        if {layer} % {every} == {turn}:",
        f"            {hidden} = checkpoint(",
        f"                block, {hidden}, use_reentrant=False",
        "            )",
        "        else:",
        f"            {hidden} = block({hidden})",
        f"    {loss} = {end.format(hidden)}",
        f"{total} = sum(s.nbytes() for s in kept.values())",
        f"{loss}.backward()",
    )
    size, checkpoints = length * FLOAT_BYTES, layers // every
    plain = layers - checkpoints
    return {
        "code": program.source(),
        "observe": f"value {total}",
        "answer": (plain * each + checkpoints + after) * size,
        "keeps_nothing": (plain * each + after) * size,
        "fraction": (layers * each + after) * size * plain / layers,
        "no_plan": (layers * each + after) * size,
        "length": length,
        "total": total,
        "layers": layers,
        "checkpoints": checkpoints,
        "plain": plain,
        "each": each,
        "after": after,
        "tensors": plain * each + checkpoints + after,
        "size": size,
    }
