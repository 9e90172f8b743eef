"""Where a request comes from: the address that the limits count by, and its hash, by which the queue counts."""

import hashlib
import hmac
from ipaddress import IPv6Address, ip_address, ip_network

from fastapi import Request
from pydantic import SecretStr

from app.settings import Settings

IPV6_PREFIX = 64
"""One household or one machine has a whole /64, so it could use a new single address for each request."""


def find_address(request: Request, settings: Settings) -> str:
    """The client's address, IPv6 as its /64. Behind a trusted proxy, the one that the proxy itself added."""
    if settings.trust_proxy and (forwarded := request.headers.get("x-forwarded-for")):
        return group_address(forwarded.rpartition(",")[2].strip())
    return group_address(request.client.host) if request.client else "unknown"


def group_address(text: str) -> str:
    """An IPv6 address as its /64, an IPv4 address in full; other text, such as a socket's name, unchanged."""
    try:
        address = ip_address(text)
    except ValueError:
        return text
    if not isinstance(address, IPv6Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ip_network((int(address), IPV6_PREFIX), strict=False))


def hash_address(address: str, secret: SecretStr) -> str:
    """A keyed hash, because there are few enough addresses to try them all against a plain one."""
    key = secret.get_secret_value().encode()
    return hmac.new(key, f"address:{address}".encode(), hashlib.sha256).hexdigest()[:16]
