"""The facts about each value of a learner's engine, and the log of what happened to them."""

from dataclasses import dataclass, field
from typing import Any

from ..positions import Site
from .protocol import is_array, read_attribute, read_numbers, read_operands, read_shape


@dataclass(eq=False, slots=True)
class Row:
    """One value. `number` is its place in order of creation; -1 if it existed before the recording began."""

    value: Any
    number: int
    site: Site | None
    data: Any
    shape: tuple[int, ...] = ()
    variable: str = ""
    reached_by: int = -1
    grad: Any = None
    """The numbers of its `.grad` when last read, because an array changed in place keeps no earlier value."""
    below: frozenset[int] | None = None
    """The identities of its operands when a backward first read them."""


@dataclass(slots=True)
class Entry:
    """`made`: a value; `begin`, `end`, `error`: of a backward; `change`: of a `.grad`, by the rule of `runner`,
    whose own `.grad` was `held` then."""

    kind: str
    row: Row
    before: Any = None
    after: Any = None
    runner: Row | None = None
    held: Any = None
    text: str = ""


@dataclass(slots=True)
class Rows:
    """Every value met, by identity. Rows keep their values alive, so that no identity is reused in a recording."""

    known: dict[int, Row] = field(default_factory=dict)
    _operands: dict[int, list[Row]] = field(default_factory=dict)

    def find(self, value: Any) -> Row | None:
        return self.known.get(id(value))

    def add(self, value: Any, number: int, site: Site | None) -> Row:
        data = read_attribute(value, "data")
        row = self.known[id(value)] = Row(value, number, site, read_numbers(data))
        row.shape = data.shape if is_array(data) else read_shape(row.data)
        row.grad = read_numbers(read_attribute(value, "grad"))
        return row

    def refresh_arrays(self) -> None:
        """Reads again the gradients that may have changed in place unobserved."""
        for row in self.known.values():
            if type(row.grad) is list:
                row.grad = read_numbers(read_attribute(row.value, "grad"))

    def adopt(self, value: Any) -> Row:
        """The row of a value; adds one if its creation was not observed."""
        return self.known.get(id(value)) or self.add(value, -1, None)

    def list_operands(self, row: Row) -> list[Row]:
        """The operands of a finished value, in their order; those of a set in order of creation."""
        known = self._operands.get(id(row))
        if known is None:
            known = [self.adopt(operand) for operand in read_operands(row.value)]
            if type(read_attribute(row.value, "_prev")) in (set, frozenset):
                known.sort(key=lambda operand: operand.number)
            self._operands[id(row)] = known
        return known
