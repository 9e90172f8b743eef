"""Since when somebody without a cookie has been here: each page carries a signed note of when it was opened.

Reading sets no cookie. So a reader's first request would look like one from a program that drops its cookies, and
would wait behind any number of those. The page's script sends the note back, and the session begins at its time.
"""

import hmac
import re
from datetime import UTC, datetime, timedelta

from pydantic import SecretStr

HEADER = "x-unwind-opened"
FORM = re.compile(r"([1-9][0-9]{0,11})\.([A-Za-z0-9_-]{1,64})\.([0-9a-f]{32})")
"""A time has one form only: with leading zeros, one note would count as several (see Rates.take_note)."""
LASTS = timedelta(hours=12)


def write_opened(now: datetime, nonce: str, address_key: str, secret: SecretStr) -> str:
    """A note for one page: its time, what makes it unique, and a signature that binds both to the address."""
    seconds = int(now.timestamp())
    return f"{seconds}.{nonce}.{_sign(seconds, nonce, address_key, secret)}"


def read_opened(note: str, now: datetime, address_key: str, secret: SecretStr) -> datetime | None:
    """None: this site did not write it, or wrote it for another address, or too long ago."""
    found = FORM.fullmatch(note)
    if found is None:
        return None
    seconds, nonce, signature = int(found[1]), found[2], found[3]
    if not hmac.compare_digest(signature, _sign(seconds, nonce, address_key, secret)):
        return None
    opened_at = datetime.fromtimestamp(seconds, UTC)
    return opened_at if now - LASTS <= opened_at <= now else None


def _sign(seconds: int, nonce: str, address_key: str, secret: SecretStr) -> str:
    text = f"opened:{seconds}:{nonce}:{address_key}"
    return hmac.new(secret.get_secret_value().encode(), text.encode(), "sha256").hexdigest()[:32]
