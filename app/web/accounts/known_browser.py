"""A browser in which an account was signed in counts its wrong passwords apart from everybody else's.

So nobody who tries passwords from elsewhere, or from the same school, can keep a person out of their account where
they have used it before. The browser has a random number in a cookie, signed together with the account and the hash
of its password: a new password makes every such cookie useless. (OWASP calls this a device cookie.)
"""

import hmac

from app.access.tokens import make_token
from app.storage.accounts import KnownPassword
from app.web.edge.identity import COOKIE_SECONDS, RequestContext, set_cookie
from app.web.edge.signing_in import hash_key


def remember_browser(context: RequestContext, known: KnownPassword) -> None:
    """Send the browser its cookie, after its person has shown that the account is theirs."""
    number = make_token()
    value = f"{number}.{_sign(context, known, number)}"
    settings = context.site.settings
    context.request.state.cookies.append(set_cookie(_cookie_name(context), value, settings, seconds=COOKIE_SECONDS))


def find_known_browser(context: RequestContext, known: KnownPassword | None) -> str | None:
    """The browser's number if this account was signed in there with the password that it has now, else None."""
    number, _, signature = context.request.cookies.get(_cookie_name(context), "").partition(".")
    if known is None or not hmac.compare_digest(signature.encode(), _sign(context, known, number).encode()):
        return None
    return number


def _sign(context: RequestContext, known: KnownPassword, number: str) -> str:
    return hash_key(context, "browser", f"{known.account.id}:{known.secret}:{number}")


def _cookie_name(context: RequestContext) -> str:
    return "__Host-unwind-known" if context.site.settings.secure_cookies else "unwind-known"
