"""The seed of a run's hidden cases: fresh for every run, from the operating system, and never sent into a box."""

import secrets

SEED_BITS = 256


def draw_seed() -> int:
    return secrets.randbits(SEED_BITS)
