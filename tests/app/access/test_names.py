"""Names of accounts: cleaned for showing, and compared as a reader would."""

import pytest

from app.access.names import BadName, clean_name, key_of_name


@pytest.mark.parametrize("other", ["ADA", " ada ", "Ａｄａ", "aDa\u00a0"])
def test_names_that_read_alike_are_one_name(other: str) -> None:
    assert key_of_name(other) == key_of_name("Ada")


def test_a_name_is_shown_as_it_was_typed_without_stray_spaces() -> None:
    assert clean_name("  Ada   Lovelace ") == "Ada Lovelace"


@pytest.mark.parametrize(
    "name", ["", "   ", "---", "a" * 41, "Ada\u200bLovelace", "Ada\u202eecalevoL", "a\x00b", "Ada\u3164", "Ada\ufe0f"]
)
def test_a_name_that_cannot_be_read_is_refused(name: str) -> None:
    with pytest.raises(BadName):
        clean_name(name)
