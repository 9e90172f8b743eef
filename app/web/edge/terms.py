"""The operator's own text, which a person agrees to by making an account: plain paragraphs from a file."""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from app.storage.records import Account

DIGEST_LENGTH = 12


@dataclass(frozen=True)
class Terms:
    """`digest` is stored with each account, so that one knows which text its person agreed to."""

    paragraphs: tuple[str, ...]
    digest: str


def read_terms(path: Path | None) -> Terms | None:
    """The paragraphs of the file, which blank lines separate. None without a file, or if it is empty."""
    text = "" if path is None else path.read_text(encoding="utf-8").strip()
    if not text:
        return None
    paragraphs = tuple(" ".join(part.split()) for part in re.split(r"\n\s*\n", text))
    return Terms(paragraphs, hashlib.sha256(text.encode()).hexdigest()[:DIGEST_LENGTH])


def are_new_to(terms: Terms | None, account: Account | None) -> bool:
    """Whether this person has not agreed to the terms as they are now."""
    return terms is not None and account is not None and account.terms_digest != terms.digest
