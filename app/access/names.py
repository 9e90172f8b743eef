"""The names that people sign in with. Two names that a reader would take for one are the same name."""

import re
import unicodedata

MAX_NAME_CHARACTERS = 40
INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Letters and marks that show nothing, though `str.isprintable` accepts them."""


class BadName(Exception):
    """The name cannot be used. The message is a sentence for the person who typed it."""


def clean_name(text: str) -> str:
    """The name as it is shown: NFKC, with single spaces. Raises BadName."""
    name = " ".join(unicodedata.normalize("NFKC", text).split())
    if not any(character.isalnum() for character in name):
        raise BadName("The name is empty or has no letter; write one with at least one letter or digit.")
    if len(name) > MAX_NAME_CHARACTERS:
        raise BadName(f"The name has {len(name)} characters; write one of at most {MAX_NAME_CHARACTERS}.")
    if not name.isprintable() or INVISIBLE.search(name):
        raise BadName("The name contains a character that cannot be seen; type it again without it.")
    return name


def key_of_name(name: str) -> str:
    """What names are compared by: "Ada" and "ADA" are one name."""
    return unicodedata.normalize("NFKC", " ".join(unicodedata.normalize("NFKC", name).split()).casefold())
