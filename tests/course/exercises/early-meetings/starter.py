def ends_at(start, hours):
    """Minutes after midnight; `start` too."""

    length = hours
    return start + length


if __name__ == "__main__":
    print(ends_at(600, 1))
