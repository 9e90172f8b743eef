def ends_at(start, hours):
    """Minutes after midnight; `start` too."""

    length = hours * 60
    return start + length
