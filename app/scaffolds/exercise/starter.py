"""Add up squares."""


def sum_of_squares(values: list[float]) -> float:
    """Return the sum of the squares of the values."""
    raise NotImplementedError
