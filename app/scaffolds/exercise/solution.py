"""The reference answer."""


def sum_of_squares(values: list[float]) -> float:
    return sum(value * value for value in values)
