"""Codes by which learners join a section: short enough to read aloud, and shown to its instructors at any time."""

import secrets

LETTERS = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
"""No letter that a reader takes for a digit, or the other way round."""
CHARACTERS = 8


def make_join_code() -> str:
    """One of 600 thousand million."""
    return "".join(secrets.choice(LETTERS) for _ in range(CHARACTERS))


def show_join_code(code: str) -> str:
    return f"{code[: CHARACTERS // 2]}-{code[CHARACTERS // 2 :]}"


def read_join_code(typed: str) -> str:
    """The code however it was typed: in small letters, with spaces or hyphens."""
    return "".join(letter for letter in typed.upper() if letter.isalnum())
