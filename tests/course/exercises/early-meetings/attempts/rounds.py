def ends_at(start, hours):
    """Minutes after midnight; `start` too."""

    length = (hours // 10 + 1) * 10
    return start + length
