"""The command that makes an operator: a new account, one that exists, and one that was closed."""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.access.tokens import hash_token
from app.operator import main
from app.settings import Settings
from app.storage.audit import Actor
from app.storage.store import Store
from graders.ledger import Database


def read_token(printed: str) -> str:
    found = re.search(r"http://127\.0\.0\.1:8000/link/([\w-]+)\n", printed)
    assert found
    return found.group(1)


@pytest.mark.slow
async def test_the_first_operator_gets_a_link(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = Settings(data=tmp_path)
    for _ in range(2):  # the second time, the account exists
        assert await _run(["Ada Lovelace"], settings) == 0

    token, now = read_token(capsys.readouterr().out.split("Lovelace is an operator")[2]), datetime.now(UTC)

    database = Database(settings.database)
    store = Store(database)
    account = await store.accounts.find_link(hash_token(token), now)
    assert account is not None
    assert (account.name, account.is_operator) == ("Ada Lovelace", True)
    assert {line.actor for line in await store.accounts.audit_lines()} == {"the command line"}

    await store.accounts.close(account.id, Actor(None, now))
    with pytest.raises(SystemExit, match="is closed"):
        await _run(["ada lovelace"], settings)
    await database.close()


async def test_a_learner_who_took_the_name_first_becomes_no_operator_unasked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = Settings(data=tmp_path)
    assert await _run(["Ada"], settings) == 0
    database = Database(settings.database)
    accounts = Store(database).accounts
    await accounts.create("Grace", None, Actor(None, datetime.now(UTC)))

    assert await _run(["grace"], settings) == 1
    assert "not an operator's" in capsys.readouterr().err
    grace = await accounts.find_by_name("Grace")
    assert grace is not None
    assert not grace.is_operator

    assert await _run(["--existing", "grace"], settings) == 0
    grace = await accounts.find_by_name("Grace")
    assert grace is not None
    assert grace.is_operator
    await database.close()


def test_a_name_that_cannot_be_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["  "], Settings(data=tmp_path)) == 1
    assert "at least one letter" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("hosts", "env", "address"),
    [
        ("", "development", "http://127.0.0.1:8000"),
        ("learn.example, www.learn.example", "production", "https://learn.example"),
        ("", "production", "https://YOUR-SITE"),
    ],
)
def test_the_link_begins_with_the_site_s_own_address(hosts: str, env: str, address: str) -> None:
    assert Settings(hosts=hosts, env=env, secret="s" * 40).address == address


async def _run(arguments: list[str], settings: Settings) -> int:
    import asyncio

    return await asyncio.to_thread(main, arguments, settings)
