def ends_at(start, hours):
    """Minutes after midnight; `start` too."""

    length = hours
    return start + 60 * length
