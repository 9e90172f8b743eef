def double(x: float) -> float:
    """Return twice x."""
    raise NotImplementedError
