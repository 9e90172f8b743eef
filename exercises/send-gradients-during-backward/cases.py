"""Small networks whose parameters are listed in another order than they are used, and the buckets that they fill."""

import numpy as np

SHAPES = {"scale": (4,), "square": (4, 4), "up": (4, 16), "down": (16, 4)}
WORDS = ["amber", "birch", "cedar", "delta", "flint", "grove", "heron", "ivory", "jade", "kelp", "lotus", "maple"]
SQUARE = 128  # bytes of a square matrix in float64
KINDS = ("square", "scale", "square", "square", "up", "down", "scale", "square")
RANDOM_CASES = 3


def draw_cases(rng):
    draw = np.random.default_rng(rng.getrandbits(64))
    squares = ["square"] * 7
    public = [
        Net(draw, squares).case("a chain", "Buckets of two, filled from the end of the network", "differs", 200),
        Net(draw, KINDS).case("different sizes", "A bucket is sent when it has reached the limit", "sizes", 300),
        Net(draw, squares[:5]).again(1, 4).case("used twice", "A parameter is used twice", "used-twice", 200),
        Net(draw, squares[:6]).leave(3).case("unused", "A parameter has no part in the loss", "unused", 200),
        Net(draw, squares[:6]).freeze(2).case("frozen", "A parameter is frozen", "frozen", 200),
        Net(draw, squares[:5]).more().case("two passes", "Another pass follows", "carried-over", 200),
        Net(draw, squares[:6]).case("no rest", "The last bucket reaches the limit exactly", "no-rest", 2 * SQUARE),
    ]
    corners = [
        Net(draw, KINDS[:6]).case("a limit of 0", "Each gradient is a bucket", "limit-zero", 0),
        Net(draw, squares[:5]).case("a large limit", "One bucket, at the end", "large-limit", 10_000),
        Net(draw, squares[:6]).fork(2).case("branches", "Two branches are added", "larger", 200),
        Net(draw, KINDS).single().case("single precision", "Numbers of four bytes", "bytes", 150),
        Net(draw, squares).leave(2, 5).others().case("other layers", "Each pass uses others", "other-layers", 200),
        Net(draw, squares[:6]).leave(3).freeze(1).zeros().case("zeros", "Zeros in each .grad", "zeros-before", 200),
        Net(draw, squares[:5]).idle().case("no pass", "finish is called without a backward pass", "no-pass", 200),
        Net(draw, squares[:5]).second(squares[:4]).case("two models", "Two models in turn", "shared-state", 200),
        Net(draw, squares[:1]).case("one parameter", "A model of one matrix", "larger", 200),
    ]
    for number in range(1, RANDOM_CASES + 1):
        kinds = [str(kind) for kind in draw.choice(["square", "scale"], 4)] + ["up", "down", "square", "square"]
        net = Net(draw, kinds).again(0, 7).leave(int(draw.integers(1, 4))).more()
        limit = int(draw.choice([100, 160, 260, 520]))
        corners.append(net.case(f"random network {number}", f"Random network {number} of 3", "larger", limit))
    return [*public, *(found | {"public": False, "shown": ""} for found in corners)]


class Net:
    """A network: kinds of parameters by the order of use, and the plans of its passes."""

    def __init__(self, draw, kinds):
        self.draw = draw
        self.names = [str(word) for word in draw.permutation(WORDS)[: len(kinds)]]
        self.kinds = dict(zip(self.names, kinds, strict=True))
        self.plans, self.frozen, self.is_single, self.twin = [list(self.names)], [], False, None
        self.has_zeros = False

    def again(self, place, at):
        self.plans[0].insert(at, self.names[place])
        return self

    def leave(self, *places):
        self.plans[0] = [name for name in self.plans[0] if name not in [self.names[place] for place in places]]
        return self

    def freeze(self, place):
        self.frozen = [self.names[place]]
        return self

    def fork(self, place):
        self.plans[0][place : place + 2] = [self.names[place : place + 2]]
        return self

    def more(self):
        self.plans.append(list(self.plans[0]))
        return self

    def others(self):
        used = [name for name in self.names if name != self.names[1]]
        self.plans += [[used[place] for place in self.draw.permutation(len(used))], list(self.names)]
        return self

    def idle(self):
        self.plans = [[], self.plans[0]]
        return self

    def single(self):
        self.is_single = True
        return self

    def zeros(self):
        self.has_zeros = True
        return self

    def second(self, kinds):
        self.twin = Net(self.draw, kinds)
        return self

    def list_order(self):
        """An order for the parameters' list that tells nothing of the order of use, if there are enough of them."""
        while True:
            order = [str(name) for name in self.draw.permutation(self.names)]
            if len(order) < 3 or (order != self.names and order[::-1] != self.names):
                return order

    def list_inputs(self, prefix=""):
        inputs = {f"{prefix}parameters": [[name, self.kinds[name]] for name in self.list_order()]}
        inputs[f"{prefix}plans"] = self.plans
        inputs[f"{prefix}x"] = signed(self.draw, (3, 4))
        for name, kind in self.kinds.items():
            inputs[f"{prefix}start {name}"] = signed(self.draw, SHAPES[kind]) / 2
            inputs[f"{prefix}other {name}"] = signed(self.draw, SHAPES[kind])
        return inputs

    def case(self, name, idea, finding, limit):
        inputs = {"limit": limit, "frozen": self.frozen, "single": self.is_single, "zeros": self.has_zeros}
        inputs |= self.list_inputs()
        if self.twin:
            inputs |= self.twin.list_inputs("second ")
        return {
            "name": name,
            "idea": idea,
            "finding": finding,
            "public": True,
            "inputs": inputs,
            "shown": write(inputs),
            "instead": {"not_finite": finding},
        }


def write(inputs):
    width = 4 if inputs["single"] else 8
    lines = ["parameters, in the order of the list:"]
    for name, kind in inputs["parameters"]:
        shape = SHAPES[kind]
        frozen = ", frozen" if name in inputs["frozen"] else ""
        lines.append(f"  {name}: shape {shape}, {width * int(np.prod(shape))} bytes{frozen}")
    lines.append(f"limit = {inputs['limit']}")
    for number, plan in enumerate(inputs["plans"], 1):
        steps = [" + ".join(step) if isinstance(step, list) else step for step in plan]
        lines.append(f"forward pass {number} uses: {', then '.join(steps)}")
    return "\n".join(lines)


def signed(draw, shape):
    return np.asarray(np.round(draw.choice([-1.0, 1.0], shape) * draw.uniform(0.4, 1.6, shape), 3))


def diagnose(inputs, got, expected):
    """What the first pass that differs shows."""
    if inputs["zeros"]:
        return None
    for name in expected:
        if not name.startswith(("pass", "second pass")) or got[name] == expected[name]:
            continue
        told, right = (str(answer[name]).rstrip().split("; ") for answer in (got, expected))
        if "second parameters" in inputs or (inputs["plans"][0] == [] and name == "pass 1"):
            return None
        if name != "pass 1":
            return "carried-over" if inputs["plans"][0] == inputs["plans"][1] else None
        return name_fault(told, right, inputs)
    if any(name.startswith("gradients") and not np.allclose(got[name], expected[name]) for name in expected):
        return "gradients-differ"
    return None


def name_fault(events, right, inputs):
    ready = [event[6:] for event in events if event.startswith("ready ")]
    sends = [(place, event[6:-1].split(", ")) for place, event in enumerate(events) if event.startswith("send ")]
    flat = [name for _, names in sends for name in names]
    if not sends:
        return "never-sent"
    if "" in flat:
        return "empty-bucket"
    if "?" in flat:
        return "not-parameters"
    if set(flat) - set(ready):
        return "frozen" if set(flat) & set(inputs["frozen"]) else "unused"
    if len(set(flat)) < len(flat):
        return "sent-twice"
    return name_moment(events, right, sends) or name_buckets(
        flat, ready, [names for _, names in sends], right, inputs
    )


def name_moment(events, right, sends):
    """What is wrong about when something is sent, if that can be said whatever the buckets are."""
    if any(f"ready {name}" not in events[:place] for place, names in sends for name in names):
        return "too-early"
    if sum(len(names) for _, names in sends) < sum(event.startswith("ready ") for event in events):
        return "rest-lost"
    is_idle = all(place > events.index("finish") for place, _ in sends)
    return "no-overlap" if is_idle and right.index("finish") > events.index("finish") else None


def name_buckets(flat, ready, buckets, right, inputs):
    order = [name for name, _ in inputs["parameters"] if name in ready]
    if flat != ready and flat in (order, order[::-1]):
        return "order-guessed"
    wanted = [event[6:-1].split(", ") for event in right if event.startswith("send ")]
    if buckets == wanted:
        return "another-moment"
    if [sorted(bucket) for bucket in buckets] == [sorted(bucket) for bucket in wanted]:
        return "order-inside"
    if len(buckets) == len(flat) and inputs["limit"]:
        return "one-each"
    return name_count(ready, buckets, inputs)


def name_count(ready, buckets, inputs):
    """The wrong way to count that gives exactly these buckets."""
    limit, width = inputs["limit"], 4 if inputs["single"] else 8
    entries = {name: int(np.prod(SHAPES[kind])) for name, kind in inputs["parameters"]}
    sizes = {name: width * count for name, count in entries.items()}
    others = {name: (12 - width) * count for name, count in entries.items()}  # the bytes of the other format
    ways = {
        "counts-entries": fill(ready, entries, limit),
        "stays-below": fill(ready, sizes, limit, below=True),
        "limit-exceeded": fill(ready, sizes, limit + 1),
        "bytes": fill(ready, others, limit),
    }
    return next((code for code, filled in ways.items() if filled == buckets), None)


def fill(ready, sizes, limit, below=False):
    """Buckets that are closed when they have reached the limit, or before they would exceed it."""
    buckets, held = [[]], 0
    for name in ready:
        if below and held and held + sizes[name] > limit:
            buckets.append([])
            held = 0
        buckets[-1].append(name)
        held += sizes[name]
        if not below and held >= limit:
            buckets.append([])
            held = 0
    return [bucket for bucket in buckets if bucket]
