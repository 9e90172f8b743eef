"""How much of a password an attacker's word list would not cover.

The usual list of the 10,000 commonest passwords has hardly any of 12 characters. The long ones are short ones joined,
repeated and decorated, so this module takes a password apart into such pieces instead of looking it up.
"""

import re

WORDS = (
    "admin", "alex", "amour", "andrea", "angel", "april", "august", "autograd", "autumn", "azerty", "baby",
    "backward", "banana", "baseball", "basketball", "batman", "butterfly", "changeme", "charlie", "cheese",
    "chocolate", "computer", "cookie", "correct", "horse", "battery", "staple", "daniel", "december", "default",
    "diamond", "dragon", "february", "flower", "football", "forever", "freedom", "friend", "gradient", "guest",
    "hallo", "hannah", "happy", "heaven", "hello", "hunter", "iloveyou", "inlove", "internet", "january",
    "jennifer", "jessica", "jesus", "jordan", "july", "june", "killer", "learner", "letmein", "liverpool",
    "login", "love", "lovely", "maggie", "march", "master", "matrix", "michael", "michelle", "minecraft",
    "monday", "money", "monkey", "mother", "mustang", "nicole", "november", "october", "orange", "passw",
    "passwd", "passwort", "password", "pepper", "please", "pokemon", "princess", "purple", "python", "pytorch",
    "qazwsx", "qwerty", "qwertz", "root", "samsung", "school", "secret", "september", "shadow", "silver",
    "soccer", "spring", "starwars", "student", "summer", "sunday", "sunshine", "superman", "teacher", "tensor",
    "test", "thomas", "tigger", "torch", "trustno", "university", "unwind", "user", "welcome", "whatever",
    "william", "winter", "zaq", "zxcvbn",
)  # fmt: skip
"""Whole words that stand alone in such lists, and this site's own; written for this list, copied from none."""

ROWS = ("1234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm", "abcdefghijklmnopqrstuvwxyz", "qazwsxedcrfvtgbyhnujm")
SHORTEST_RUN = 3
MAX_DIGITS = 8
"""Digits in a row up to a whole date are one piece."""

LOOKALIKES = str.maketrans({"0": "o", "1": "i", "3": "e", "4": "a", "5": "s", "7": "t", "@": "a", "$": "s", "!": "i"})
REPEATED = re.compile(r"(.{1,6}?)\1{2,}")
DIGITS = re.compile(rf"\d{{1,{MAX_DIGITS}}}")


def count_free_characters(password: str, name: str = "") -> int:
    """How many characters remain when pieces that are easy to guess cover as much as they can."""
    text = password.casefold()
    plain = text.translate(LOOKALIKES)
    plain = plain if len(plain) == len(text) else text
    words = {*WORDS, *(part for part in re.split(r"\W+", name.casefold()) if len(part) >= SHORTEST_RUN)}
    ends = _find_pieces(text, plain, words)
    fewest = [0] * (len(text) + 1)
    for at in range(len(text) - 1, -1, -1):
        costs = text[at].isalnum()  # a mark between pieces is guessed with them
        fewest[at] = min([costs + fewest[at + 1], *(fewest[end] for end in ends[at])])
    return fewest[0]


def _find_pieces(text: str, plain: str, words: set[str]) -> list[set[int]]:
    """For each position, where the pieces that begin there end."""
    ends: list[set[int]] = [set() for _ in text]
    for at in range(len(text)):
        ends[at] |= {at + len(word) for word in words if text.startswith(word, at) or plain.startswith(word, at)}
        ends[at] |= {end for row in ROWS for end in (_end_of_run(text, at, row), _end_of_run(text, at, row[::-1]))}
        if repeated := REPEATED.match(text, at):
            ends[at].add(repeated.end())
        if digits := DIGITS.match(text, at):
            ends[at].add(digits.end())
        ends[at].discard(at)
    return ends


def _end_of_run(text: str, at: int, row: str) -> int:
    """Where a run along a row of keys that begins here ends; `at` itself if it is too short."""
    start = row.find(text[at])
    length = 0
    while start >= 0 and at + length < len(text) and row[start + length : start + length + 1] == text[at + length]:
        length += 1
    return at + length if length >= SHORTEST_RUN else at
