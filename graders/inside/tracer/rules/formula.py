"""One node's formula: an expression for each input, and what its letters stand for."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

GRADIENT = "ȳ"
GRADIENTS = "ȳs"
"""The gradient that the node receives; of a node with several outputs, all of them."""


@dataclass(frozen=True, slots=True)
class Formula:
    """`inputs` are the letters of the node's inputs, slot by slot; `parts` the expression of each one's gradient.

    An expression is Python over `names`, torch's functions and `ȳ`. Its result is summed to the input's shape, as a
    broadcast asks. `shown` is what a reader sees instead, where the expression would be hard to read.
    """

    inputs: str
    parts: tuple[str, ...]
    names: Mapping[str, Any]
    shown: str = ""
    where: str = ""
    work_out: Callable[[], Mapping[str, Any]] = dict
    """More names, which take work: of a large tensor only the text is wanted."""

    def find_part(self, slot: int) -> str:
        """The expression of a slot; that of any input where all have the same, as in `stack`."""
        if "slot" in self.parts[0]:
            return self.parts[0]
        return self.parts[slot] if slot < len(self.parts) else ""

    @property
    def text(self) -> str:
        """As a reader sees it: `ā = ȳ * b,   b̄ = ȳ * a`."""
        if self.shown:
            return self.shown
        pairs = zip(self.inputs, self.parts, strict=False)
        text = ",   ".join(f"{write_bar(letter)} = {part}" for letter, part in pairs if part)
        return f"{text}   ({self.where})" if self.where else text


def write_bar(letter: str) -> str:
    """The sign for an input's gradient."""
    return {"a": "ā", "y": "ȳ"}.get(letter, f"{letter}\u0304")


Slots = Mapping[str, Any]
"""What a node saved, by torch's names for it: tensors, numbers, tuples; None for a tensor that it did not need."""

Builder = Callable[[Slots], Formula | None]


def plain(inputs: str, *parts: str, shown: str = "", where: str = "", **names: str) -> Builder:
    """A formula whose letters are what the node saved under these names."""

    def build(slots: Slots) -> Formula:
        return Formula(inputs, parts, {letter: slots[name] for letter, name in names.items()}, shown, where)

    return build
