"""Which version of Unwind this is. Graders tell it to the website, which may be of another version."""

from typing import Final

VERSION: Final = "0.1.0"
"""The version in pyproject.toml, which is in no container."""
