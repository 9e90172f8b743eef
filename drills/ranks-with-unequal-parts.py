"""Two ranks with parts of different sizes under DistributedDataParallel: the mean is over ranks, not over samples."""

from random import Random

from program import Program, draw_names, draw_until_fair

WRONG = ("over_samples", "summed")
SIZES = (1, 2, 4)
"""Powers of two, so that each mean is exact."""
IMPORTS = (
    "import threading",
    "import torch.distributed as dist",
    "from torch.nn.parallel import DistributedDataParallel",
    "from torch.testing._internal.distributed import (",
    "    multi_threaded_pg,",
    ")",
    "",
    "multi_threaded_pg._install_threaded_pg()",
    "torch._C._distributed_c10d._set_thread_isolation_mode(",
    "    True",
    ")",
    "store, grads = dist.HashStore(), {}",
    "",
)
"""The real DistributedDataParallel, on a backend of PyTorch's own tests whose ranks are threads."""


def draw(rng: Random, level: int) -> dict:
    return draw_until_fair(build, rng, level, WRONG)


def build(rng: Random, level: int) -> dict:
    loss, gradient = draw_names(rng, 2)
    sizes = rng.sample(SIZES, 2)
    parts = [draw_part(rng, size) for size in sizes]
    squared, weight = level == 3, float(rng.randint(1, 3))
    factor = rng.choice([2, 3, 5]) if level == 2 else 1
    program = Program()
    program.define(
        *IMPORTS,
        "def train(rank, samples):",
        "    dist.init_process_group(",
        '        "threaded", store=store,',
        "        rank=rank, world_size=2,",
        "    )",
        "    layer = torch.nn.Linear(1, 1, bias=False)",
        f"    torch.nn.init.constant_(layer.weight, {weight})",
        "    ddp = DistributedDataParallel(layer)",
        f"    {loss} = {f'{factor} * ' if factor > 1 else ''}ddp(samples){'.square()' if squared else ''}.mean()",
        f"    {loss}.backward()",
        "    grads[rank] = layer.weight.grad.item()",
        "    dist.destroy_process_group()",
        "",
        f"part_0 = torch.tensor({parts[0]})",
        f"part_1 = torch.tensor({parts[1]})",
        "rank_1 = threading.Thread(",
        "    target=train, args=(1, part_1)",
        ")",
        "rank_1.start()",
        "train(0, part_0)",
        "rank_1.join()",
        f"{gradient} = grads[0]",
    )
    slopes = [[2 * weight * x * x if squared else factor * x for (x,) in one] for one in parts]
    first, second = (sum(one) / len(one) for one in slopes)
    return {
        "code": program.source(),
        "observe": f"value {gradient}",
        "answer": (first + second) / 2,
        "over_samples": sum(map(sum, slopes)) / sum(sizes),
        "summed": first + second,
        "gradient": gradient,
        "samples": sum(sizes),
        "few": count_samples(min(sizes)),
        "many": count_samples(max(sizes)),
        "on_rank_0": count_samples(sizes[0]),
        "on_rank_1": count_samples(sizes[1]),
        "first": first,
        "second": second,
    }


def count_samples(size: int) -> str:
    return f"{size} samples" if size > 1 else "1 sample"


def draw_part(rng: Random, size: int) -> list:
    """Samples whose mean is a whole number, with one feature each."""
    while True:
        samples = [float(rng.randint(1, 9)) for _ in range(size)]
        if sum(samples) % size == 0 and sum(one * one for one in samples) % size == 0:
            return [[one] for one in samples]
