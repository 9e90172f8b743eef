"""A common mistake: it adds first, then squares the sum."""


def sum_of_squares(values: list[float]) -> float:
    return float(sum(values) ** 2)
