"""Small programs for drills: their statements, their text, and a model of what autograd does with them.

The model never asks torch. It differentiates element by element, and each misconception is the same model with one
rule changed. A draw is asked only if the model's answer is the one that the recorded run shows.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

THROUGH_CUTS = "a cut lets gradient through"
CUT_SPREADS = "whatever a cut tensor touches is cut as well"
FROZEN_CUTS = "an operation with a frozen tensor passes no gradient on"
FIRST_USE = "a leaf takes the gradient of its first use alone"
LAST_USE = "a leaf takes the gradient of its last use alone"
FIRST_CALL = "only the first backward counts"
LAST_CALL = "each backward replaces the gradient"
ONE_COPY = "a broadcast copy passes no gradient back except the first"
TRUE_DERIVATIVE = "a custom function's backward is the derivative of its forward"

CUTS = frozenset({"{}.detach()", "{}.data"})


@dataclass(frozen=True)
class Step:
    """One statement. `op` is its template, such as "{} * {}"; `inputs` are names and numbers."""

    kind: str
    name: str = ""
    op: str = ""
    inputs: tuple = ()
    text: tuple = ()


@dataclass
class Program:
    """Statements in their order. Each method adds one."""

    steps: list = field(default_factory=list)

    def add(self, *steps: Step) -> None:
        self.steps += steps

    def leaf(self, name: str, value: object, tracked: bool = True) -> str:
        flag = ", requires_grad=True" if tracked else ""
        text = (f"{name} = torch.tensor({value}{flag})",)
        self.add(Step("leaf", name, "tracked" if tracked else "frozen", (value,), text))
        return name

    def let(self, name: str, op: str, *inputs: object) -> str:
        self.add(Step("let", name, op, inputs, (f"{name} = {op.format(*inputs)}",)))
        return name

    def let_without_grad(self, name: str, op: str, *inputs: object) -> str:
        self.add(Step("no_grad", name, op, inputs, ("with torch.no_grad():", f"    {name} = {op.format(*inputs)}")))
        return name

    def write_in_place(self, name: str, op: str, number: float) -> None:
        sign = {"{} + {}": "+=", "{} * {}": "*="}[op]
        self.add(Step("in_place", name, op, (name, number), (f"{name} {sign} {number}",)))

    def define(self, *lines: str) -> None:
        self.add(Step("define", text=lines))

    def backward(self, name: str, retain: bool = False) -> None:
        self.add(Step("backward", name, text=(f"{name}.backward({'retain_graph=True' if retain else ''})",)))

    def clear(self, name: str) -> None:
        self.add(Step("clear", name, text=(f"{name}.grad = None",)))

    def source(self) -> str:
        return "\n".join(["import torch", "", *(line for step in self.steps for line in step.text)])

    def line_of(self, wanted: Step) -> int:
        """The last line of a statement in the program's text, from 1."""
        line = 2
        for step in self.steps:
            line += len(step.text)
            if step is wanted:
                return line
        raise LookupError(wanted)


class Number:
    """One element of a tensor, with the elements that it was computed from and its derivative by each."""

    def __init__(self, value: float, parents: tuple = (), tracked: bool = False) -> None:
        self.value, self.tracked = value, tracked or any(parent.tracked for parent, _ in parents)
        self.parents = tuple((parent, slope) for parent, slope in parents if parent.tracked)
        self.made = next(Number.counter)

    counter = itertools.count()


@dataclass
class Tensor:
    shape: tuple
    items: list
    cut: bool = False
    frozen: bool = False


@dataclass
class Model:
    """Runs a program by the rules of autograd, except for those that `believing` replaces."""

    believing: frozenset = frozenset()
    tensors: dict = field(default_factory=dict)
    grads: dict = field(default_factory=dict)
    calls: int = 0

    def run(self, program: Program) -> "Model":
        for step in program.steps:
            getattr(self, f"do_{step.kind}")(step)
        return self

    def do_define(self, step: Step) -> None:
        pass

    def do_leaf(self, step: Step) -> None:
        shape, values = flatten(step.inputs[0])
        tracked = step.op == "tracked"
        items = [Number(value, tracked=tracked) for value in values]
        self.tensors[step.name] = Tensor(shape, items, frozen=not tracked)

    def do_let(self, step: Step) -> None:
        self.tensors[step.name] = self.apply(step)

    do_in_place = do_let

    def do_no_grad(self, step: Step) -> None:
        self.tensors[step.name] = self.cut(self.apply(step))

    def do_clear(self, step: Step) -> None:
        self.grads.pop(step.name, None)

    def cut(self, tensor: Tensor) -> Tensor:
        if THROUGH_CUTS in self.believing:
            return tensor
        return Tensor(tensor.shape, [Number(item.value) for item in tensor.items], cut=True)

    def apply(self, step: Step) -> Tensor:
        inputs = [self.find(given) for given in step.inputs]
        if step.op in CUTS:
            return self.cut(inputs[0])
        result = OPERATIONS[step.op](self, *inputs)
        spreads = CUT_SPREADS in self.believing and any(tensor.cut for tensor in inputs)
        stops = FROZEN_CUTS in self.believing and any(tensor.frozen for tensor in inputs)
        if spreads or stops:
            return Tensor(result.shape, [Number(item.value) for item in result.items], cut=spreads)
        return result

    def find(self, given: object) -> Tensor:
        return self.tensors[given] if isinstance(given, str) else Tensor((), [Number(float(given))])

    def pair(self, one: Tensor, other: Tensor) -> list:
        """The elements side by side, broadcast, with the shape of the result."""
        shape = max(one.shape, other.shape, key=len)
        return shape, list(zip(self.spread(one, shape), self.spread(other, shape), strict=True))

    def spread(self, tensor: Tensor, shape: tuple) -> list:
        copies = size(shape) // len(tensor.items)
        later = tensor.items if ONE_COPY not in self.believing else [Number(item.value) for item in tensor.items]
        return [*tensor.items, *(later * (copies - 1))]

    def do_backward(self, step: Step) -> None:
        self.calls += 1
        if FIRST_CALL in self.believing and self.calls > 1:
            return
        (root,) = self.tensors[step.name].items
        sent = differentiate(root)
        for name, tensor in self.tensors.items():
            if all(item.tracked and not item.parents for item in tensor.items) and any(
                item in sent for item in tensor.items
            ):
                self.deposit(name, [self.sum_of(sent.get(item, [])) for item in tensor.items])

    def sum_of(self, shares: list) -> float:
        """`shares` come from the last use to the first, because backward runs that way."""
        if not shares:
            return 0.0
        if FIRST_USE in self.believing:
            return shares[-1]
        return shares[0] if LAST_USE in self.believing else sum(shares)

    def deposit(self, name: str, new: list) -> None:
        before = self.grads.get(name) if LAST_CALL not in self.believing else None
        self.grads[name] = [a + b for a, b in zip(before, new, strict=True)] if before else new

    def grad(self, name: str, place: int = 0) -> float:
        return self.grads.get(name, [0.0] * (place + 1))[place]


def differentiate(root: Number) -> dict:
    """For each element that the root depends on, what each use of it contributes, later uses first."""
    reached, waiting = {root}, [root]
    while waiting:
        parents = {parent for parent, _ in waiting.pop().parents} - reached
        reached |= parents
        waiting += parents
    sent: dict = {root: [1.0]}
    for number in sorted(reached, key=lambda one: one.made, reverse=True):
        total = sum(sent.get(number, []))
        for parent, slope in number.parents:
            sent.setdefault(parent, []).append(total * slope)
    return sent


def flatten(value: object) -> tuple:
    """Shape and elements of a number or of nested lists."""
    if not isinstance(value, list):
        return (), [float(value)]
    parts = [flatten(part) for part in value]
    return (len(parts), *parts[0][0]), [item for _, items in parts for item in items]


def size(shape: tuple) -> int:
    return len(list(itertools.product(*map(range, shape))))


def _two(value, by_one, by_other):
    def work(model, one, other):
        shape, pairs = model.pair(one, other)
        return Tensor(
            shape,
            [
                Number(value(a.value, b.value), ((a, by_one(a.value, b.value)), (b, by_other(a.value, b.value))))
                for a, b in pairs
            ],
        )

    return work


def _one(value, slope):
    return lambda _, one: Tensor(one.shape, [Number(value(a.value), ((a, slope(a.value)),)) for a in one.items])


def _total(_, one):
    return Tensor((), [Number(sum(a.value for a in one.items), tuple((a, 1.0) for a in one.items))])


def _same(_, one):
    return Tensor(one.shape, [Number(a.value, ((a, 1.0),)) for a in one.items])


def _custom(value, said, true):
    """A custom function: `said` is what its backward does, `true` the derivative of its forward."""

    def work(model, one):
        slope = true if TRUE_DERIVATIVE in model.believing else said
        return Tensor(one.shape, [Number(value(a.value), ((a, slope(a.value)),)) for a in one.items])

    return work


OPERATIONS = {
    "{} * {}": _two(lambda a, b: a * b, lambda a, b: b, lambda a, b: a),
    "{} + {}": _two(lambda a, b: a + b, lambda a, b: 1.0, lambda a, b: 1.0),
    "{} - {}": _two(lambda a, b: a - b, lambda a, b: 1.0, lambda a, b: -1.0),
    "{} ** 2": _one(lambda a: a * a, lambda a: 2 * a),
    "{}.relu()": _one(lambda a: max(a, 0.0), lambda a: float(a > 0)),
    "{}.clone()": _same,
    "{}.view(-1)": _same,
    "{}.sum()": _total,
    "Tripled.apply({})": _custom(lambda a: a + 1, lambda a: 3.0, lambda a: 1.0),
    "Squared.apply({})": _custom(lambda a: a * a, lambda a: a, lambda a: 2 * a),
    "Signed.apply({})": _custom(lambda a: 1.0 if a > 0 else -1.0, lambda a: 1.0, lambda a: 0.0),
}
"""The template of each operation, with its rule."""


Build = Callable[[Random, int], dict]

MOST = 1000
"""Answers above this would ask for a calculator."""


def draw_until_fair(build: Build, rng: Random, level: int, wrong: tuple, tries: int = 200) -> dict:
    """The first draw with small numbers whose answer is not zero, and whose misconceptions all answer differently.

    `wrong` names the values that misconceptions answer. After `tries` the last draw is given as it is: the check
    refuses it, and says why.
    """
    for _ in range(tries):
        values = build(rng, level)
        numbers = [values[name] for name in ("answer", *wrong)]
        small = all(isinstance(one, str) or abs(one) <= MOST for one in numbers)
        if numbers[0] not in (0, "") and len(set(numbers)) == len(numbers) and small:
            break
    return values


def draw_number(rng: Random, low: int = 2, high: int = 5) -> float:
    return float(rng.randint(low, high))


def draw_names(rng: Random, count: int, letters: str = "abcdefghkmpqruvwxyz") -> list:
    """Different names, so that no learner remembers an answer by its letters."""
    return rng.sample(list(letters), count)


def extend(program: Program, rng: Random, start: str, others: list, names: list) -> str:
    """Adds one operation for each of `names`, each on the result before it and one of the earlier tensors."""
    last = start
    for name in names:
        pair = [last, rng.choice([other for other in others if other != last])]
        rng.shuffle(pair)
        op = rng.choice(["{} * {}", "{} * {}", "{} + {}", "{} - {}"])
        others = [*others, last]
        last = program.let(name, op, *pair)
    return last


def answer_by(program: Program, name: str, place: int = 0, **beliefs: str) -> dict:
    """The gradient of a leaf as `answer`, and for each named belief what somebody who holds it would answer."""
    answers = {"answer": Model().run(program).grad(name, place)}
    for called, belief in beliefs.items():
        answers[called] = Model(frozenset([belief])).run(program).grad(name, place)
    return answers
