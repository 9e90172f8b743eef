"""By what limits and the queue know where a request comes from: an address or an IPv6 /64, and a keyed hash of it."""

import httpx2
import pytest
from pydantic import SecretStr
from sqlalchemy import Connection, select

from app.web.edge.addresses import group_address, hash_address
from app.web.edge.site import Site
from graders.ledger.tables import submissions


@pytest.mark.parametrize(
    ("text", "grouped"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("testclient", "testclient"),
    ],
)
def test_an_ipv6_address_counts_as_its_64(text: str, grouped: str) -> None:
    assert group_address(text) == grouped


def test_the_hash_of_an_address_depends_on_the_secret_and_is_short() -> None:
    one, other = (hash_address("192.0.2.7", SecretStr(secret)) for secret in ("one", "other"))
    assert one != other
    assert len(one) == 16


async def test_a_run_is_kept_with_the_hash_of_its_address_and_not_with_the_address(
    browser: httpx2.AsyncClient, site: Site
) -> None:
    def read_keys(connection: Connection) -> list[str | None]:
        return list(connection.execute(select(submissions.c.address_key)).scalars())

    await browser.post("/runs", data={"source": "1"})

    address = "127.0.0.1"
    assert await site.ledger.database.read(read_keys) == [hash_address(address, site.settings.secret)]
