"""Passwords: which are refused, and their hashes, which are computed in threads, two at a time."""

import asyncio
import unicodedata

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from app.access.guessable import count_free_characters

MIN_CHARACTERS = 12
MAX_CHARACTERS = 256
MIN_FREE_CHARACTERS = 4
"""So many characters must belong to no common word, keyboard run or repetition."""
AT_ONCE = 2

HASHER = PasswordHasher(time_cost=2, memory_cost=19456, parallelism=1)
"""19 MiB and two passes, the least that OWASP recommends: some 30 ms of one core."""


class BadPassword(Exception):
    """The password cannot be used. The message is a sentence for the person who typed it."""


def check_password(password: str, name: str) -> None:
    """Raises BadPassword for one that is too short, too long, or among the first that an attacker tries."""
    if len(password) < MIN_CHARACTERS:
        raise BadPassword(
            f"The password has {len(password)} characters; write at least {MIN_CHARACTERS}. "
            "Four unrelated words are easy to remember."
        )
    if len(password) > MAX_CHARACTERS:
        raise BadPassword(f"The password has {len(password)} characters; write at most {MAX_CHARACTERS}.")
    if count_free_characters(password, name) < MIN_FREE_CHARACTERS:
        raise BadPassword(
            "The password is made of common words, your name, keyboard rows, dates or repetitions, which attackers "
            "try first. Write another, such as four unrelated words."
        )


class Passwords:
    """Computes and compares hashes, few at a time, so that a flood of sign-ins does not take every core."""

    def __init__(self, hasher: PasswordHasher = HASHER) -> None:
        self.turns = asyncio.Semaphore(AT_ONCE)
        self._hasher = hasher
        self._unknown = hasher.hash("nobody's password")

    async def make_hash(self, password: str) -> str:
        async with self.turns:
            return await asyncio.to_thread(self._hasher.hash, _encode(password))

    async def matches(self, password: str, kept: str | None) -> bool:
        """Whether it is the password of `kept`. Without a hash the answer is False, and takes as long.

        The caller holds one of `turns`, because it counts failures under the same turn.
        """
        return await asyncio.to_thread(self._verify, password, kept or self._unknown) and kept is not None

    def _verify(self, password: str, kept: str) -> bool:
        try:
            return self._hasher.verify(kept, _encode(password))
        except (VerificationError, InvalidHashError):
            return False

    def is_outdated(self, kept: str) -> bool:
        """Whether a hash was made with weaker parameters than today's."""
        return self._hasher.check_needs_rehash(kept)


def _encode(password: str) -> bytes:
    """Keyboards differ in how they compose a letter, so both forms are one password."""
    return unicodedata.normalize("NFKC", password).encode()
