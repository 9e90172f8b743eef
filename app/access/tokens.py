"""Random tokens for cookies and links. Whoever has one may act, so the database keeps only hashes."""

import hashlib
import secrets


def make_token() -> str:
    """256 random bits, as letters that may stand in a URL."""
    return secrets.token_urlsafe(32)


def hash_token(token: str) -> str:
    """Without salt or key: 256 random bits are too many to try."""
    return hashlib.sha256(token.encode()).hexdigest()
