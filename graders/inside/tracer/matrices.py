"""Small matrices: too many numbers for a line of text, and few enough for a table beside it."""

from typing import Any

from .numerals import write_values

MAX_SIDE = 8
MAX_MATRICES = 400
"""At most so many are kept of one program; from then on a matrix has its norm alone."""


class Matrix(list[Any]):
    """The rows of a tensor of two dimensions. As text it is its norm; a table of the trace has its numbers."""

    __slots__ = ()


def read_small(tensor: Any, max_items: int) -> Any:
    """The numbers of a tensor of few elements or of a small matrix, or None."""
    items = tensor.numel()
    if items <= max_items:
        return tensor.tolist()
    if items > MAX_SIDE**2 or not is_small_matrix(tensor):
        return None
    return Matrix(tensor.tolist())


def is_small_matrix(tensor: Any) -> bool:
    return (
        tensor.dim() == 2
        and max(tensor.shape) <= MAX_SIDE
        and bool(tensor.is_floating_point() or tensor.is_complex())
    )


class MatrixTable:
    """The trace's table of matrices, in the order in which they were kept."""

    def __init__(self) -> None:
        self.is_full = False
        self._rows: list[tuple[str, int, int, str]] = []

    def keep(self, of: str, at: int, slot: int, values: Any) -> None:
        """`at` is a node for "values", else an event; `slot` says which of several parts it is."""
        if type(values) is not Matrix:
            return
        if len(self._rows) < MAX_MATRICES:
            self._rows.append((of, at, slot, write_values(values)))
        else:
            self.is_full = True

    def keep_side(self, of: str, at: int, side: tuple[Any, ...]) -> None:
        """What a step received, sent or held: its parts, each a shape and what was seen of it."""
        for slot, (_, data) in enumerate(side):
            self.keep(of, at, slot, data)

    def write(self) -> dict[str, list[Any]]:
        return {name: [row[at] for row in self._rows] for at, name in enumerate(("of", "at", "slot", "numbers"))}
