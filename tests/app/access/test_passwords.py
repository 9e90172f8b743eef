"""Passwords: what is refused, and hashes that only the right password matches."""

import pytest
from argon2 import PasswordHasher
from hypothesis import given
from hypothesis import strategies as st

from app.access.guessable import count_free_characters
from app.access.passwords import BadPassword, Passwords, check_password


@pytest.mark.parametrize(
    "password",
    [
        "short",
        "elevenchars",
        "password1234",
        "P@ssw0rd2026!",
        "passwordpassword",
        "qwertyuiop12",
        "123456789012",
        "0987654321098",
        "aaaaaaaaaaaa",
        "abcabcabcabcabc",
        "welcome-2026-welcome",
        "iloveyouiloveyou",
        "Ada Lovelace 1815",
        "correct horse battery staple",
        "x" * 257,
    ],
)
def test_what_attackers_try_first_is_refused(password: str) -> None:
    with pytest.raises(BadPassword):
        check_password(password, "Ada Lovelace")


@pytest.mark.parametrize(
    "password", ["ferns dodge my kettle", "tK9#vvq2LmPz", "Überraschungsei mit Senf", "四つの無関係な言葉を書く"]
)
def test_a_password_with_something_of_its_own_is_accepted(password: str) -> None:
    check_password(password, "Ada Lovelace")


@given(st.text(max_size=60), st.text(max_size=20))
def test_pieces_never_cover_more_than_there_is(password: str, name: str) -> None:
    assert 0 <= count_free_characters(password, name) <= len(password.casefold())


async def test_only_the_right_password_matches() -> None:
    passwords = Passwords()
    kept = await passwords.make_hash("ferns dodge my kettle")

    assert await passwords.matches("ferns dodge my kettle", kept)
    assert not await passwords.matches("ferns dodge my kettle ", kept)
    assert not await passwords.matches("ferns dodge my kettle", None)
    assert not await passwords.matches("nobody's password", None)
    assert not await passwords.matches("ferns dodge my kettle", "not a hash")


async def test_both_ways_to_type_a_letter_are_one_password() -> None:
    passwords = Passwords()
    kept = await passwords.make_hash("u\u0308ber den dächern")

    assert await passwords.matches("\u00fcber den dächern", kept)


def test_a_hash_of_weaker_parameters_is_made_again() -> None:
    weak = PasswordHasher(time_cost=1, memory_cost=1024, parallelism=1).hash("x")

    assert Passwords().is_outdated(weak)
