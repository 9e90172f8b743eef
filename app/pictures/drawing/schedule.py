"""What a program asked of a metered machine, drawn: steps across, layers upwards, and below them the units held."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from app.pictures.drawing.svg import element, write
from graders.contract.results import Schedule

_LEFT, _TOP, _RIGHT = 62.0, 8.0, 12.0
_BELOW, _GAP, _FOOT = 72.0, 16.0, 36.0
_WIDTH, _HEIGHT = 520.0, 280.0
_CELL = (4.0, 5.0, 20.0)
"""The narrowest column, the lowest row, and the largest of either."""
_MAX_NAMES = 6
"""How many layers are named at the side."""

Kind = Literal["forward", "again", "vjp", "loss"]


@dataclass(frozen=True)
class Step:
    """A call that computed something. "again" is a forward run of a layer that has run before."""

    kind: Kind
    layer: int
    held: int


@dataclass(frozen=True)
class Held:
    """The state before `layer` (for the last state, the number of layers) was alive from one step to another.

    Steps count from 1; the state that the machine begins with is alive from step 0.
    """

    layer: int
    first: int
    last: int


@dataclass(frozen=True)
class Walk:
    """A schedule by its steps. Freeing is no step: it ends a `Held`."""

    layers: int
    steps: tuple[Step, ...]
    states: tuple[Held, ...]


def read_walk(schedule: Schedule) -> Walk:
    steps: list[Step] = []
    states: list[Held] = []
    ran: set[int] = set()
    alive = {0: (0, 0)}
    columns = zip(schedule.kind, schedule.layer, schedule.takes, schedule.makes, schedule.held, strict=True)
    for kind, layer, takes, makes, held in columns:
        if kind == "free":
            if takes[0] in alive:
                states.append(Held(*alive.pop(takes[0]), len(steps)))
            continue
        steps.append(Step("again" if kind == "forward" and layer in ran else kind, layer, held))
        if kind == "forward":
            ran.add(layer)
            alive[makes] = (layer + 1, len(steps))
    left = (Held(*begun, len(steps)) for begun in alive.values())
    ordered = sorted((*states, *left), key=lambda state: (state.layer, state.first))
    return Walk(schedule.layers, tuple(steps), tuple(ordered))


@dataclass(frozen=True)
class _Frame:
    """Where a step and a layer are on the picture."""

    walk: Walk
    wide: float
    high: float

    @property
    def right(self) -> float:
        return _LEFT + self.wide * len(self.walk.steps)

    @property
    def bottom(self) -> float:
        return self.line(0)

    def line(self, layer: int) -> float:
        """The line below a layer, on which the state before it is drawn. The loss is one row above the last layer."""
        return _TOP + self.high * (self.walk.layers + 1 - layer)

    def corner(self, place: int, step: Step) -> tuple[float, float]:
        """The upper left corner of a step's cell."""
        layer = self.walk.layers if step.kind == "loss" else step.layer
        return _LEFT + self.wide * place, self.line(layer + 1)


def draw_schedule(walk: Walk, most_held: float | None, words: str) -> str:
    """The SVG, with `words` as its description. `most_held` is the budget, drawn as a line."""
    wide = _fit(_WIDTH / max(1, len(walk.steps)), _CELL[0])
    frame = _Frame(walk, wide, _fit(_HEIGHT / (walk.layers + 1), _CELL[1]))
    width, height = frame.right + _RIGHT, frame.bottom + _GAP + _BELOW + _FOOT
    content = "".join((*_draw_states(frame), *_draw_steps(frame), *_draw_sides(frame), *_draw_held(frame, most_held)))
    return element(
        "svg",
        content,
        klass="schedule-picture",
        width=width,
        height=height,
        viewBox=f"0 0 {write(width)} {write(height)}",
        role="img",
        aria_label=words,
    )


def _fit(size: float, least: float) -> float:
    return min(_CELL[2], max(least, size))


def _draw_states(frame: _Frame) -> Iterator[str]:
    lines = (
        f"M{write(_LEFT + frame.wide * max(0, state.first - 0.5))} {write(frame.line(state.layer))}"
        f"H{write(_LEFT + frame.wide * state.last)}"
        for state in frame.walk.states
        if state.first <= state.last
    )
    yield element("path", d="".join(lines), klass="state")


def _draw_steps(frame: _Frame) -> Iterator[str]:
    for kind in ("forward", "again", "vjp", "loss"):
        marks = "".join(
            _mark(kind, *frame.corner(place, step), frame.wide, frame.high)
            for place, step in enumerate(frame.walk.steps)
            if step.kind == kind
        )
        if marks:
            yield element("path", d=marks, klass=f"step-{kind}")


def _mark(kind: str, x: float, y: float, wide: float, high: float) -> str:
    """A filled or hollow square, a triangle that points down for a VJP, a rhombus for the loss: told by shape."""
    inset = 1.0 if kind == "again" else 0.5
    left, top, wide, high = x + inset, y + inset, wide - 2 * inset, high - 2 * inset
    across, down = write(wide / 2), write(high / 2)
    if kind == "vjp":
        return f"M{write(left)} {write(top)}h{write(wide)}l-{across} {write(high)}z"
    if kind == "loss":
        return f"M{write(left)} {write(top + high / 2)}l{across} -{down}l{across} {down}l-{across} {down}z"
    return f"M{write(left)} {write(top)}h{write(wide)}v{write(high)}h-{write(wide)}z"


def _draw_sides(frame: _Frame) -> Iterator[str]:
    every = max(1, -(-frame.walk.layers // _MAX_NAMES))
    for layer in range(0, frame.walk.layers, every):
        yield _write(f"layer {layer}", _LEFT - 6, frame.line(layer) - frame.high / 2 + 4, "end")
    foot = frame.bottom + _GAP + _BELOW + 14
    yield _write("step 1", _LEFT, foot, "start")
    if len(frame.walk.steps) > _MAX_NAMES:
        yield _write(str(len(frame.walk.steps)), frame.right, foot, "end")


def _draw_held(frame: _Frame, most: float | None) -> Iterator[str]:
    held = [step.held for step in frame.walk.steps]
    base, top = frame.bottom + _GAP + _BELOW, max([*held, most or 0, 1])

    def level(units: float) -> float:
        return base - _BELOW * units / top

    yield element("path", d=_outline(held, frame, level(0), [level(units) for units in held]), klass="held")
    yield element("path", d=f"M{write(_LEFT)} {write(base)}H{write(frame.right)}", klass="axis")
    yield _write("held", _LEFT - 6, base, "end")
    highest = max(held, default=0)
    if most is not None:
        yield element("path", d=f"M{write(_LEFT)} {write(level(most))}H{write(frame.right)}", klass="budget")
        yield _write(f"most {most:g}", _LEFT - 6, level(most) + 4, "end")
    if highest and (most is None or abs(level(highest) - level(most)) > _FOOT / 3):
        yield _write(f"{highest:,}", _LEFT - 6, level(highest) + 4, "end")


def _outline(held: Sequence[int], frame: _Frame, base: float, levels: Iterable[float]) -> str:
    rises = "".join(
        f"V{write(level)}H{write(_LEFT + frame.wide * (place + 1))}" for place, level in enumerate(levels)
    )
    return f"M{write(_LEFT)} {write(base)}{rises}V{write(base)}z" if held else ""


def _write(text: str, x: float, y: float, anchor: str) -> str:
    return element("text", write(text), x=x, y=y, text_anchor=anchor)
