"""A usual mistake: adds first, and squares the sum."""


def sum_of_squares(values: list[float]) -> float:
    return float(sum(values) ** 2)
